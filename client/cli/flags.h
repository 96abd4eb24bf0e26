#ifndef PHASOR_CLIENT_CLI_FLAGS_H_
#define PHASOR_CLIENT_CLI_FLAGS_H_

/// \file
/// The tool's verbs, schemes and flags: one list that parsing, help and error
/// messages are made from.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace phasor::cli {

enum class Verb : std::uint8_t {
  kRows,
  kGather,
  kExport,
  kShift,
  kFreqs,
  kTable,
  kPlot,
  kDescribe,
  kLock,
  kVerify,
  kDiagnose,
  kTables,
  kHealth,
  kInfo,
};
/// kConfig is none of TableSpec's: the table that --config means.
enum class Scheme : std::uint8_t {
  kSinusoidal,
  kLearnedInit,
  kRotary,
  kLearnedTable,
  kTimestep,
  kNone,
  kAlibi,
  kRelativeBuckets,
  kConfig
};

/// Sets of verbs and of schemes, a bit each.
constexpr unsigned Bit(Verb verb) { return 1U << static_cast<unsigned>(verb); }
constexpr unsigned Bit(Scheme scheme) { return 1U << static_cast<unsigned>(scheme); }

struct VerbInfo {
  Verb verb;
  absl::string_view name;
  bool has_scheme;
  /// The flag that a word after the verb stands for; empty if there is none.
  absl::string_view operand;
  absl::string_view help;
};
struct SchemeInfo {
  Scheme scheme;
  absl::string_view name;  ///< as the field of TableSpec
};

struct FlagInfo {
  absl::string_view name;
  absl::string_view hint;  ///< what stands after '='; empty for a switch
  unsigned verbs;
  unsigned schemes;  ///< that it describes; 0 for flags that do not describe a table
  /// Paths of the wire fields that it sets, separated by spaces; '*' stands
  /// for the scheme's name.
  absl::string_view fields;
  absl::string_view help;
};

absl::Span<const VerbInfo> Verbs();
absl::Span<const SchemeInfo> Schemes();
absl::Span<const FlagInfo> Flags();
/// The schemes' names, with commas between.
std::string SchemeNames();

const VerbInfo* FindVerb(absl::string_view name);
const VerbInfo& InfoOf(Verb verb);
const SchemeInfo* FindScheme(absl::string_view name);
const SchemeInfo& InfoOf(Scheme scheme);
const FlagInfo* FindFlag(absl::string_view name);

/// Whether `flag` means anything for the verb and its scheme.
bool Applies(const FlagInfo& flag, Verb verb, std::optional<Scheme> scheme);

/// The flag that sets the wire field `path` ("spec.sinusoidal.width",
/// "positions[7]"), or nullptr.
const FlagInfo* FlagOfField(absl::string_view path, Verb verb, std::optional<Scheme> scheme);

/// What --help prints: of one verb, or of the tool.
std::string HelpText(std::optional<Verb> verb);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_FLAGS_H_
