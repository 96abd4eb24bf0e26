#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/c/wanted.h"

namespace phasor::c {
namespace {

absl::StatusOr<RotaryScaling> TakeScaling(const phasor_linear_scaling& s) {
  return LinearScaling{.factor = s.factor};
}

absl::StatusOr<RotaryScaling> TakeScaling(const phasor_ntk_scaling& s) {
  return NtkScaling{.factor = s.factor};
}

absl::StatusOr<RotaryScaling> TakeScaling(const phasor_dynamic_ntk_scaling& s) {
  return DynamicNtkScaling{.factor = s.factor,
                           .max_position_embeddings = s.max_position_embeddings,
                           .sequence_length = s.sequence_length};
}

absl::StatusOr<RotaryScaling> TakeScaling(const phasor_yarn_scaling& s) {
  const absl::StatusOr<bool> truncate =
      TakeBool("spec.rotary.yarn.truncate", Optional(s.truncate).value_or(1));
  if (!truncate.ok()) return truncate.status();
  return YarnScaling{.factor = s.factor,
                     .original_max_position_embeddings = s.original_max_position_embeddings,
                     .beta_fast = Optional(s.beta_fast).value_or(kDefaultBetaFast),
                     .beta_slow = Optional(s.beta_slow).value_or(kDefaultBetaSlow),
                     .mscale = Optional(s.mscale),
                     .mscale_all_dim = Optional(s.mscale_all_dim),
                     .truncate = *truncate};
}

absl::StatusOr<RotaryScaling> TakeScaling(const phasor_longrope_scaling& s) {
  absl::StatusOr<std::vector<double>> short_factor =
      TakeList("spec.rotary.longrope.short_factor", s.short_factor, s.short_factor_count);
  if (!short_factor.ok()) return short_factor.status();
  absl::StatusOr<std::vector<double>> long_factor =
      TakeList("spec.rotary.longrope.long_factor", s.long_factor, s.long_factor_count);
  if (!long_factor.ok()) return long_factor.status();
  return LongRopeScaling{.short_factor = *std::move(short_factor),
                         .long_factor = *std::move(long_factor),
                         .original_max_position_embeddings = s.original_max_position_embeddings,
                         .sequence_length = s.sequence_length,
                         .factor = Optional(s.factor)};
}

absl::StatusOr<RotaryScaling> TakeScaling(const phasor_llama3_scaling& s) {
  return Llama3Scaling{.factor = s.factor,
                       .low_freq_factor = s.low_freq_factor,
                       .high_freq_factor = s.high_freq_factor,
                       .original_max_position_embeddings = s.original_max_position_embeddings};
}

absl::StatusOr<RotaryScaling> TakeScaling(const phasor_proportional_scaling& s) {
  return ProportionalScaling{.partial_rotary_factor = Optional(s.partial_rotary_factor).value_or(1),
                             .factor = Optional(s.factor).value_or(1)};
}

// Of the pointers to scalings, the one that is set.
template <typename... Structs>
absl::StatusOr<RotaryScaling> TakeOne(const Structs*... scalings) {
  absl::StatusOr<RotaryScaling> result = NoScaling{};
  const auto take = [&](const auto* given) {
    if (given == nullptr) return;
    const auto wanted = Take(given);
    result = wanted.ok() ? TakeScaling(*wanted) : wanted.status();
  };
  (take(scalings), ...);
  return result;
}

absl::StatusOr<RotaryScaling> TakeScaling(const phasor_rotary& wanted) {
  const bool explicit_given = wanted.frequencies != nullptr || wanted.frequency_count != 0;
  const std::array given = {wanted.linear != nullptr,       wanted.ntk != nullptr,
                            wanted.dynamic_ntk != nullptr,  wanted.yarn != nullptr,
                            wanted.longrope != nullptr,     wanted.llama3 != nullptr,
                            wanted.proportional != nullptr, explicit_given};
  if (std::count(given.begin(), given.end(), true) > 1) {
    return Invalid("spec.rotary.scaling", "is given more than once; leave all but one NULL");
  }
  if (!explicit_given) {
    return TakeOne(wanted.linear, wanted.ntk, wanted.dynamic_ntk, wanted.yarn, wanted.longrope,
                   wanted.llama3, wanted.proportional);
  }
  absl::StatusOr<std::vector<double>> frequencies =
      TakeList("spec.rotary.explicit.frequencies", wanted.frequencies, wanted.frequency_count);
  if (!frequencies.ok()) return frequencies.status();
  return ExplicitLadder{*std::move(frequencies)};
}

absl::StatusOr<Scheme> TakeRotary(const phasor_rotary& wanted) {
  absl::StatusOr<RotaryScaling> scaling = TakeScaling(wanted);
  if (!scaling.ok()) return scaling.status();
  const absl::StatusOr<Layout> layout =
      TakeLayout("spec.rotary.layout", wanted.layout, Layout::kCosSinHalves);
  if (!layout.ok()) return layout.status();
  absl::StatusOr<std::vector<std::int64_t>> sections =
      TakeList("spec.rotary.mrope_section", wanted.mrope_section, wanted.mrope_section_count);
  if (!sections.ok()) return sections.status();
  const absl::StatusOr<bool> interleaved =
      TakeBool("spec.rotary.mrope_interleaved", wanted.mrope_interleaved);
  if (!interleaved.ok()) return interleaved.status();
  return Rotary{.width = wanted.width,
                .base = Optional(wanted.base),
                .scaling = *std::move(scaling),
                .attention_factor = Optional(wanted.attention_factor),
                .layout = *layout,
                .mrope_section = *std::move(sections),
                .mrope_interleaved = *interleaved};
}

}  // namespace
}  // namespace phasor::c

extern "C" {

phasor_code phasor_spec_rotary(const phasor_rotary* wanted, phasor_spec** spec,
                               phasor_error* error) {
  return phasor::c::Guard(error,
                          [&] { return phasor::c::Check(wanted, spec, phasor::c::TakeRotary); });
}

}  // extern "C"
