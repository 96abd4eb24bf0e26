#include "client/cli/spec_flags.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/number_list.h"
#include "core/number_text.h"

namespace phasor::cli {
namespace {

constexpr ElementType kElementTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                         ElementType::kFloat16, ElementType::kBfloat16};
constexpr Layout kLayouts[] = {
    Layout::kSinCosInterleaved,
    Layout::kSinCosHalves,
    Layout::kCosSinHalves,
    Layout::kCosSinInterleaved,
    Layout::kCosSinDuplicatedHalves,
    Layout::kCosSinDuplicatedPairs,
    Layout::kCosOnly,
    Layout::kSinOnly,
};

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

absl::StatusOr<std::vector<double>> ParseFrequencies(absl::string_view value) {
  absl::StatusOr<std::string> text = ReadListText(value);
  if (!text.ok()) return text.status();
  return ParseReals(*text);
}

Ladder LadderFromFlags(FlagReader& flags, const Arguments& arguments) {
  const absl::string_view word = arguments.Text("ladder").value_or("paper");
  if (flags.Has("downscale_shift") && word != "downscaled") {
    flags.Fail("downscale_shift", "means something with --ladder=downscaled alone");
  }
  if (flags.Has("frequencies") && word != "explicit") {
    flags.Fail("frequencies", "means something with --ladder=explicit alone");
  }
  if (word == "paper") return PaperLadder{};
  if (word == "inclusive") return InclusiveLadder{};
  if (word == "downscaled") return DownscaledLadder{flags.Real("downscale_shift")};
  if (word == "explicit") {
    if (!flags.Has("frequencies")) flags.Fail("frequencies", "required by --ladder=explicit");
    return ExplicitLadder{
        flags.Take("frequencies", ParseFrequencies).value_or(std::vector<double>())};
  }
  flags.Fail("ladder",
             absl::StrCat("unknown word \"", word, "\"; known: ", FindFlag("ladder")->help));
  return PaperLadder{};
}

TableSpec SinusoidalFromFlags(FlagReader& flags, const Arguments& arguments) {
  Sinusoidal scheme;
  scheme.width = flags.RequiredInteger("width");
  scheme.base = flags.Real("base");
  scheme.ladder = LadderFromFlags(flags, arguments);
  scheme.layout = flags.Word("layout", kLayouts, LayoutName);
  scheme.position_offset = flags.Integer("position_offset").value_or(scheme.position_offset);
  scheme.zero_row = flags.Integer("zero_row");
  return scheme;
}

TableSpec LearnedInitFromFlags(FlagReader& flags) {
  LearnedInit scheme;
  scheme.max_positions = flags.RequiredInteger("max_positions");
  scheme.width = flags.RequiredInteger("width");
  scheme.stddev = flags.Real("stddev").value_or(scheme.stddev);
  scheme.seed = flags.Integer("seed").value_or(scheme.seed);
  scheme.stream = flags.Integer("stream").value_or(scheme.stream);
  return scheme;
}

}  // namespace

absl::StatusOr<TableSpec> SpecFromFlags(const Arguments& arguments) {
  FlagReader flags(arguments);
  TableSpec spec = arguments.scheme() == Scheme::kSinusoidal ? SinusoidalFromFlags(flags, arguments)
                                                             : LearnedInitFromFlags(flags);
  spec.element_type = flags.Word("type", kElementTypes, ElementTypeName);
  if (const auto numerics = arguments.Text("numerics"); numerics.has_value()) {
    if (*numerics == "torch_float32") {
      flags.Fail("numerics", "torch_float32 is not offered for this scheme; known: exact");
    } else if (*numerics != "exact") {
      flags.Fail("numerics", absl::StrCat("unknown word \"", *numerics, "\"; known: exact"));
    }
  }
  if (!flags.status().ok()) return flags.status();
  return spec;
}

absl::StatusOr<std::int64_t> IntegerFlag(const Arguments& arguments, absl::string_view flag,
                                         std::int64_t absent) {
  FlagReader flags(arguments);
  const std::int64_t value = flags.Integer(flag).value_or(absent);
  if (!flags.status().ok()) return flags.status();
  return value;
}

absl::StatusOr<ElementType> TypeFlag(const Arguments& arguments) {
  FlagReader flags(arguments);
  const ElementType type = flags.Word("type", kElementTypes, ElementTypeName);
  if (!flags.status().ok()) return flags.status();
  return type;
}

}  // namespace phasor::cli
