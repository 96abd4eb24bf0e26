#ifndef PHASOR_CLIENT_CLI_ARGUMENTS_H_
#define PHASOR_CLIENT_CLI_ARGUMENTS_H_

/// \file
/// The command line, taken apart.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/flags.h"

namespace phasor::cli {

/// A command line: which verb, which scheme, which flags with which texts. It
/// holds only flags that mean something for its verb and scheme, each once.
class Arguments {
 public:
  /// Reads `words`, the command line without the tool's name. A line with
  /// --help or --version may lack the verb or the scheme.
  ///
  /// **Errors**: INVALID_ARGUMENT, naming the word: an unknown or repeated
  /// flag, one without meaning for the verb or scheme, a value that is missing
  /// or too many, an unknown verb or scheme.
  static absl::StatusOr<Arguments> Parse(const std::vector<std::string>& words);

  std::optional<Verb> verb() const { return verb_; }
  std::optional<Scheme> scheme() const { return scheme_; }

  /// The text of a flag; nothing where it was not given.
  std::optional<absl::string_view> Text(absl::string_view flag) const;
  /// Whether a switch is on.
  bool Switch(absl::string_view flag) const { return Text(flag) == "true"; }

  /// The text of a flag that has to be given.
  ///
  /// **Errors**: INVALID_ARGUMENT.
  absl::StatusOr<absl::string_view> Required(absl::string_view flag) const;

  /// An error about a flag's text: names the flag, its text, and the wire field
  /// that it sets if there is one.
  absl::Status Wrong(absl::string_view flag, absl::string_view what) const;
  /// The same from an error about the text, whose code is kept.
  absl::Status Wrong(absl::string_view flag, const absl::Status& status) const;

  /// The message of an error for people: one line that names the flag behind
  /// the field that `status` is about.
  std::string Explain(const absl::Status& status) const;

 private:
  absl::Status TakeFlag(absl::string_view word);
  absl::Status TakeWord(absl::string_view word);
  absl::Status CheckMeaning() const;
  std::string Shown(absl::string_view flag) const;

  std::optional<Verb> verb_;
  std::optional<Scheme> scheme_;
  std::map<std::string, std::string, std::less<>> flags_;
};

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_ARGUMENTS_H_
