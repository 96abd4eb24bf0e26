#include "client/cli/spec_flags.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/flag_reader.h"
#include "client/cli/rotary_flags.h"

namespace phasor::cli {
namespace {

constexpr ElementType kElementTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                         ElementType::kFloat16, ElementType::kBfloat16};
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
    return ExplicitLadder{flags.RequiredReals("frequencies")};
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
  scheme.layout = flags.LayoutOr(scheme.layout);
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

TableSpec LearnedTableFromFlags(const Arguments& arguments, FlagReader& flags) {
  LearnedTable scheme;
  if (const auto name = arguments.Text("name"); name.has_value()) {
    scheme.name = std::string(*name);
  } else {
    flags.Fail("name", "required");
  }
  return scheme;
}

TableSpec SchemeFromFlags(FlagReader& flags, const Arguments& arguments) {
  switch (*arguments.scheme()) {
    case Scheme::kSinusoidal: return SinusoidalFromFlags(flags, arguments);
    case Scheme::kLearnedInit: return LearnedInitFromFlags(flags);
    case Scheme::kRotary: return RotaryFromFlags(flags, arguments);
    case Scheme::kLearnedTable: return LearnedTableFromFlags(arguments, flags);
  }
  return LearnedInit();
}

}  // namespace

absl::StatusOr<TableSpec> SpecFromFlags(const Arguments& arguments) {
  FlagReader flags(arguments);
  TableSpec spec = SchemeFromFlags(flags, arguments);
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
