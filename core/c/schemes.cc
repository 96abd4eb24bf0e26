#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/c/wanted.h"

namespace phasor::c {
namespace {

absl::StatusOr<Ladder> TakeLadder(const phasor_sinusoidal& wanted) {
  // On the wire these are fields of their ladders, and cannot be set beside another.
  if (wanted.downscale_shift != nullptr && wanted.ladder != PHASOR_LADDER_DOWNSCALED) {
    return Invalid("spec.sinusoidal.downscaled.downscale_shift",
                   "is set beside another ladder; set ladder to PHASOR_LADDER_DOWNSCALED");
  }
  if ((wanted.frequencies != nullptr || wanted.frequency_count != 0) &&
      wanted.ladder != PHASOR_LADDER_EXPLICIT) {
    return Invalid("spec.sinusoidal.explicit.frequencies",
                   "are set beside another ladder; set ladder to PHASOR_LADDER_EXPLICIT");
  }
  const bool timescale = wanted.min_timescale != nullptr || wanted.max_timescale != nullptr;
  if (timescale && wanted.ladder != PHASOR_LADDER_TIMESCALES) {
    return Invalid(wanted.min_timescale != nullptr ? "spec.sinusoidal.timescales.min_timescale"
                                                   : "spec.sinusoidal.timescales.max_timescale",
                   "is set beside another ladder; set ladder to PHASOR_LADDER_TIMESCALES");
  }
  switch (wanted.ladder) {
    case PHASOR_LADDER_PAPER: return PaperLadder{};
    case PHASOR_LADDER_INCLUSIVE: return InclusiveLadder{};
    case PHASOR_LADDER_DOWNSCALED: return DownscaledLadder{Optional(wanted.downscale_shift)};
    case PHASOR_LADDER_EXPLICIT: {
      absl::StatusOr<std::vector<double>> frequencies = TakeList(
          "spec.sinusoidal.explicit.frequencies", wanted.frequencies, wanted.frequency_count);
      if (!frequencies.ok()) return frequencies.status();
      return ExplicitLadder{*std::move(frequencies)};
    }
    case PHASOR_LADDER_TIMESCALES:
      return TimescaleLadder{Optional(wanted.min_timescale).value_or(kDefaultMinTimescale),
                             Optional(wanted.max_timescale).value_or(kDefaultMaxTimescale)};
    default: break;
  }
  return Invalid("spec.sinusoidal.ladder", absl::StrCat(wanted.ladder, " is no known ladder"));
}

absl::StatusOr<OddColumn> TakeOddColumn(std::int32_t odd_column) {
  switch (odd_column) {
    case PHASOR_ODD_COLUMN_NONE: return OddColumn::kNone;
    case PHASOR_ODD_COLUMN_ZERO: return OddColumn::kZero;
    case PHASOR_ODD_COLUMN_SINE: return OddColumn::kSine;
    default: break;
  }
  return Invalid("spec.sinusoidal.odd_column", absl::StrCat(odd_column, " is no known odd column"));
}

absl::StatusOr<Scheme> TakeSinusoidal(const phasor_sinusoidal& wanted) {
  absl::StatusOr<Ladder> ladder = TakeLadder(wanted);
  if (!ladder.ok()) return ladder.status();
  const absl::StatusOr<Layout> layout =
      TakeLayout("spec.sinusoidal.layout", wanted.layout, Layout::kSinCosInterleaved);
  if (!layout.ok()) return layout.status();
  const absl::StatusOr<OddColumn> odd_column = TakeOddColumn(wanted.odd_column);
  if (!odd_column.ok()) return odd_column.status();
  return Sinusoidal{.width = wanted.width,
                    .base = Optional(wanted.base),
                    .ladder = *std::move(ladder),
                    .layout = *layout,
                    .position_offset = wanted.position_offset,
                    .zero_row = Optional(wanted.zero_row),
                    .odd_column = *odd_column};
}

absl::StatusOr<Scheme> TakeLearnedInit(const phasor_learned_init& wanted) {
  return LearnedInit{.max_positions = wanted.max_positions,
                     .width = wanted.width,
                     .stddev = Optional(wanted.stddev).value_or(kDefaultStddev),
                     .seed = wanted.seed,
                     .stream = wanted.stream};
}

absl::StatusOr<Scheme> TakeLearnedTable(const phasor_learned_table& wanted) {
  absl::Status given = CheckPointer("spec.learned_table.name", wanted.name);
  if (given.ok()) given = CheckPointer("spec.learned_table.content_sha256", wanted.content_sha256);
  if (!given.ok()) return given;
  return LearnedTable{.name = wanted.name,
                      .content_sha256 = wanted.content_sha256,
                      .max_positions = wanted.max_positions,
                      .width = wanted.width};
}

absl::StatusOr<Scheme> TakeTimestep(const phasor_timestep& wanted) {
  const absl::StatusOr<bool> flip =
      TakeBool("spec.timestep.flip_sin_to_cos", wanted.flip_sin_to_cos);
  if (!flip.ok()) return flip.status();
  return Timestep{.width = wanted.width,
                  .max_period = Optional(wanted.max_period).value_or(kDefaultMaxPeriod),
                  .downscale_freq_shift = Optional(wanted.downscale_freq_shift),
                  .scale = Optional(wanted.scale).value_or(1),
                  .flip_sin_to_cos = *flip};
}

absl::StatusOr<Scheme> TakeNone(const phasor_none& wanted) {
  const absl::StatusOr<Layout> layout =
      TakeLayout("spec.none.layout", wanted.layout, NoPosition().layout);
  if (!layout.ok()) return layout.status();
  const absl::StatusOr<bool> additive = TakeBool("spec.none.additive", wanted.additive);
  if (!additive.ok()) return additive.status();
  return NoPosition{.width = wanted.width, .layout = *layout, .additive = *additive};
}

absl::StatusOr<AlibiForm> TakeForm(std::int32_t form) {
  switch (form) {
    case PHASOR_ALIBI_DISTANCE: return AlibiForm::kDistance;
    case PHASOR_ALIBI_KEY_POSITION: return AlibiForm::kKeyPosition;
    default: break;
  }
  return Invalid("spec.alibi.form", absl::StrCat(form, " is no known form"));
}

absl::StatusOr<Scheme> TakeAlibi(const phasor_alibi& wanted) {
  const absl::StatusOr<AlibiForm> form = TakeForm(wanted.form);
  if (!form.ok()) return form.status();
  return Alibi{.head_count = wanted.head_count,
               .bias_max = Optional(wanted.bias_max).value_or(kDefaultBiasMax),
               .form = *form};
}

absl::StatusOr<Scheme> TakeRelativeBuckets(const phasor_relative_buckets& wanted) {
  const RelativeBuckets standard;
  const absl::StatusOr<bool> bidirectional =
      wanted.bidirectional == nullptr
          ? standard.bidirectional
          : TakeBool("spec.relative_buckets.bidirectional", *wanted.bidirectional);
  if (!bidirectional.ok()) return bidirectional.status();
  return RelativeBuckets{
      .num_buckets = Optional(wanted.num_buckets).value_or(standard.num_buckets),
      .max_distance = Optional(wanted.max_distance).value_or(standard.max_distance),
      .bidirectional = *bidirectional};
}

}  // namespace
}  // namespace phasor::c

using phasor::c::Check;
using phasor::c::Guard;

extern "C" {

phasor_code phasor_spec_sinusoidal(const phasor_sinusoidal* wanted, phasor_spec** spec,
                                   phasor_error* error) {
  return Guard(error, [&] { return Check(wanted, spec, phasor::c::TakeSinusoidal); });
}

phasor_code phasor_spec_learned_init(const phasor_learned_init* wanted, phasor_spec** spec,
                                     phasor_error* error) {
  return Guard(error, [&] { return Check(wanted, spec, phasor::c::TakeLearnedInit); });
}

phasor_code phasor_spec_learned_table(const phasor_learned_table* wanted, phasor_spec** spec,
                                      phasor_error* error) {
  return Guard(error, [&] { return Check(wanted, spec, phasor::c::TakeLearnedTable); });
}

phasor_code phasor_spec_timestep(const phasor_timestep* wanted, phasor_spec** spec,
                                 phasor_error* error) {
  return Guard(error, [&] { return Check(wanted, spec, phasor::c::TakeTimestep); });
}

phasor_code phasor_spec_none(const phasor_none* wanted, phasor_spec** spec, phasor_error* error) {
  return Guard(error, [&] { return Check(wanted, spec, phasor::c::TakeNone); });
}

phasor_code phasor_spec_alibi(const phasor_alibi* wanted, phasor_spec** spec, phasor_error* error) {
  return Guard(error, [&] { return Check(wanted, spec, phasor::c::TakeAlibi); });
}

phasor_code phasor_spec_relative_buckets(const phasor_relative_buckets* wanted, phasor_spec** spec,
                                         phasor_error* error) {
  return Guard(error, [&] { return Check(wanted, spec, phasor::c::TakeRelativeBuckets); });
}

}  // extern "C"
