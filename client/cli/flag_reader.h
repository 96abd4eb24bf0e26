#ifndef PHASOR_CLIENT_CLI_FLAG_READER_H_
#define PHASOR_CLIENT_CLI_FLAG_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/number_list.h"
#include "core/number_text.h"
#include "phasor/core/spec.h"

namespace phasor::cli {

inline constexpr Layout kLayouts[] = {
    Layout::kSinCosInterleaved,
    Layout::kSinCosHalves,
    Layout::kCosSinHalves,
    Layout::kCosSinInterleaved,
    Layout::kCosSinDuplicatedHalves,
    Layout::kCosSinDuplicatedPairs,
    Layout::kCosOnly,
    Layout::kSinOnly,
};

/// A list of real numbers, or @FILE of them.
inline absl::StatusOr<std::vector<double>> ReadReals(absl::string_view value) {
  absl::StatusOr<std::string> text = ReadListText(value);
  if (!text.ok()) return text.status();
  return ParseReals(*text);
}

/// Reads flags one after the other and keeps the first error, so that the
/// code that fills a spec is a list of fields.
class FlagReader {
 public:
  explicit FlagReader(const Arguments& arguments) : arguments_(arguments) {}

  const absl::Status& status() const { return status_; }
  bool Has(absl::string_view flag) const { return arguments_.Text(flag).has_value(); }
  void Fail(const absl::Status& status) { status_.Update(status); }
  void Fail(absl::string_view flag, absl::string_view what) { Fail(arguments_.Wrong(flag, what)); }

  /// The number that `parse` reads from the flag; nothing where it is absent
  /// or wrong.
  template <typename Parse>
  auto Take(absl::string_view flag, Parse parse)
      -> std::optional<typename decltype(parse(flag))::value_type> {
    const std::optional<absl::string_view> text = arguments_.Text(flag);
    if (!text.has_value()) return std::nullopt;
    auto value = parse(*text);
    if (value.ok()) return *std::move(value);
    Fail(arguments_.Wrong(flag, value.status()));
    return std::nullopt;
  }
  std::optional<std::int64_t> Integer(absl::string_view flag) { return Take(flag, ParseInt64); }
  std::optional<double> Real(absl::string_view flag) { return Take(flag, ParseFloat64); }
  std::int64_t RequiredInteger(absl::string_view flag) {
    if (!Has(flag)) Fail(flag, "required");
    return Integer(flag).value_or(0);
  }
  std::vector<double> RequiredReals(absl::string_view flag) {
    if (!Has(flag)) Fail(flag, "required");
    return Take(flag, ReadReals).value_or(std::vector<double>());
  }
  double RequiredReal(absl::string_view flag) {
    if (!Has(flag)) Fail(flag, "required");
    return Real(flag).value_or(0);
  }
  std::optional<bool> Bool(absl::string_view flag) {
    const std::optional<absl::string_view> text = arguments_.Text(flag);
    if (text.has_value() && text != "true" && text != "false") {
      Fail(flag, absl::StrCat("unknown word \"", *text, "\"; known: true, false"));
    }
    if (!text.has_value()) return std::nullopt;
    return text == "true";
  }
  Layout LayoutOr(Layout absent) {
    return Has("layout") ? Word("layout", kLayouts, LayoutName) : absent;
  }
  /// The value among `values` whose name, in lower case, is the flag's word.
  template <typename T, std::size_t n>
  T Word(absl::string_view flag, const T (&values)[n], absl::string_view (*name)(T)) {
    const std::optional<absl::string_view> text = arguments_.Text(flag);
    if (!text.has_value()) return values[0];
    for (T value : values) {
      if (absl::AsciiStrToLower(name(value)) == *text) return value;
    }
    Fail(flag, absl::StrCat("unknown word \"", *text, "\"; known: ", FindFlag(flag)->help));
    return values[0];
  }

 private:
  const Arguments& arguments_;
  absl::Status status_;
};

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_FLAG_READER_H_
