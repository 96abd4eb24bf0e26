#include "client/cli/spec_flags.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/flag_reader.h"
#include "client/cli/model_flags.h"
#include "client/cli/rotary_flags.h"

namespace phasor::cli {
namespace {

constexpr ElementType kElementTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                         ElementType::kFloat16, ElementType::kBfloat16,
                                         ElementType::kInt32};
constexpr AlibiForm kAlibiForms[] = {AlibiForm::kDistance, AlibiForm::kKeyPosition};
constexpr OddColumn kOddColumns[] = {OddColumn::kZero, OddColumn::kSine};

Ladder LadderFromFlags(FlagReader& flags, const Arguments& arguments) {
  const absl::string_view word = arguments.Text("ladder").value_or("paper");
  if (flags.Has("downscale_shift") && word != "downscaled") {
    flags.Fail("downscale_shift", "means something with --ladder=downscaled alone");
  }
  if (flags.Has("frequencies") && word != "explicit") {
    flags.Fail("frequencies", "means something with --ladder=explicit alone");
  }
  for (const absl::string_view flag : {"min_timescale", "max_timescale"}) {
    if (flags.Has(flag) && word != "timescales") {
      flags.Fail(flag, "means something with --ladder=timescales alone");
    }
  }
  if (word == "paper") return PaperLadder{};
  if (word == "inclusive") return InclusiveLadder{};
  if (word == "downscaled") return DownscaledLadder{flags.Real("downscale_shift")};
  if (word == "explicit") {
    if (!flags.Has("frequencies")) flags.Fail("frequencies", "required by --ladder=explicit");
    return ExplicitLadder{flags.RequiredReals("frequencies")};
  }
  if (word == "timescales") {
    TimescaleLadder ladder;
    ladder.min_timescale = flags.Real("min_timescale").value_or(ladder.min_timescale);
    ladder.max_timescale = flags.Real("max_timescale").value_or(ladder.max_timescale);
    return ladder;
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
  if (flags.Has("odd_column")) {
    scheme.odd_column = flags.Word("odd_column", kOddColumns, OddColumnName);
  }
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

TableSpec TimestepFromFlags(FlagReader& flags) {
  Timestep scheme;
  scheme.width = flags.RequiredInteger("width");
  scheme.max_period = flags.Real("max_period").value_or(scheme.max_period);
  scheme.downscale_freq_shift = flags.RequiredReal("downscale_freq_shift");
  scheme.scale = flags.Real("scale").value_or(scheme.scale);
  scheme.flip_sin_to_cos = flags.Bool("flip_sin_to_cos").value_or(scheme.flip_sin_to_cos);
  return scheme;
}

TableSpec NoPositionFromFlags(FlagReader& flags) {
  NoPosition scheme;
  scheme.width = flags.RequiredInteger("width");
  scheme.layout = flags.LayoutOr(scheme.layout);
  scheme.additive = flags.Bool("additive").value_or(scheme.additive);
  return scheme;
}

TableSpec AlibiFromFlags(FlagReader& flags) {
  Alibi scheme;
  scheme.head_count = flags.RequiredInteger("head_count");
  scheme.bias_max = flags.Real("bias_max").value_or(scheme.bias_max);
  scheme.form = flags.Word("form", kAlibiForms, AlibiFormName);
  return scheme;
}

TableSpec RelativeBucketsFromFlags(FlagReader& flags) {
  RelativeBuckets scheme;
  scheme.num_buckets = flags.Integer("num_buckets").value_or(scheme.num_buckets);
  scheme.max_distance = flags.Integer("max_distance").value_or(scheme.max_distance);
  scheme.bidirectional = flags.Bool("bidirectional").value_or(scheme.bidirectional);
  return scheme;
}

TableSpec SchemeFromFlags(FlagReader& flags, const Arguments& arguments) {
  switch (*arguments.scheme()) {
    case Scheme::kSinusoidal: return SinusoidalFromFlags(flags, arguments);
    case Scheme::kLearnedInit: return LearnedInitFromFlags(flags);
    case Scheme::kRotary: return RotaryFromFlags(flags, arguments);
    case Scheme::kLearnedTable: return LearnedTableFromFlags(arguments, flags);
    case Scheme::kTimestep: return TimestepFromFlags(flags);
    case Scheme::kNone: return NoPositionFromFlags(flags);
    case Scheme::kAlibi: return AlibiFromFlags(flags);
    case Scheme::kRelativeBuckets: return RelativeBucketsFromFlags(flags);
    case Scheme::kConfig: break;  // of its own below
  }
  return LearnedInit();
}

}  // namespace

absl::StatusOr<TableSpec> SpecFromFlags(const Arguments& arguments) {
  if (arguments.scheme() == Scheme::kConfig) return SpecFromConfig(arguments);
  FlagReader flags(arguments);
  TableSpec spec = SchemeFromFlags(flags, arguments);
  if (flags.Has("type")) spec.element_type = flags.Word("type", kElementTypes, ElementTypeName);
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
