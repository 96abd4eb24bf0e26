#include "core/settle_amplified.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/double_double.h"
#include "core/real.h"
#include "core/rounding.h"

namespace phasor {
namespace {

// Of a product in double-double, relative, with that of the factor itself.
constexpr double kProductError = 0x1p-100;

template <ElementType kType>
std::optional<std::uint64_t> Decide(DoubleDouble value, double error,
                                    const AttentionFactor& factor) {
  const DoubleDouble product = value * factor.approximate();
  return DecideBits<kType>(
      product, std::abs(product.hi) * kProductError + error * factor.approximate().hi * 1.5);
}

// a cos x, 0 < |x| < 2^-28, is below a, by less than 2^-57 of it.
template <ElementType kType>
std::uint64_t JustBelow(double a) {
  return RoundSumToBits<kType>(a, -0x1p-60 * a);
}

template <ElementType kType>
std::uint64_t SettleAs(const FrequencyLadder& ladder, const PhaseLadder& phases,
                       const AttentionFactor& factor, Trig trig, std::int64_t i, Position position,
                       SettleCounts& counts) {
  const std::optional<PhasePoint> point = phases.At(i, position);
  if (point.has_value()) {
    if (point->value.sin.hi == 0 && point->angle_error == 0) {
      return trig == Trig::kSine ? 0 : factor.Rounded(kType);
    }
    const auto bits = trig == Trig::kSine
                          ? Decide<kType>(point->value.sin, point->sin_error(), factor)
                          : Decide<kType>(point->value.cos, point->cos_error(), factor);
    if (bits.has_value()) return *bits;
  }
  const bool is_small =
      !point.has_value() || (std::abs(point->value.sin.hi) < 0x1p-28 && point->value.cos.hi > 0);
  if (trig == Trig::kCosine && is_small && factor.exact().has_value()) {
    return JustBelow<kType>(*factor.exact());
  }
  ++counts.costly;
  const MpfrScope scope;
  return SettleBits(kType, [&](mpfr_ptr out) {
    const mpfr_prec_t bits = mpfr_get_prec(out);
    const mpfr_exp_t error = TrigOf(ladder, trig, i, position, out);
    Real a(bits);
    factor.Value(a);
    mpfr_mul(out, out, a, MPFR_RNDN);
    // The factor's own error and the product's rounding.
    return std::max(error + mpfr_get_exp(a), mpfr_get_exp(out) + 2 - bits) + 1;
  });
}

}  // namespace

std::uint64_t SettleAmplified(const FrequencyLadder& ladder, const PhaseLadder& phases,
                              const AttentionFactor& factor, ElementType type, Trig trig,
                              std::int64_t i, Position position, SettleCounts& counts) {
  switch (type) {
    case ElementType::kFloat32:
      return SettleAs<ElementType::kFloat32>(ladder, phases, factor, trig, i, position, counts);
    case ElementType::kFloat64:
      return SettleAs<ElementType::kFloat64>(ladder, phases, factor, trig, i, position, counts);
    case ElementType::kFloat16:
      return SettleAs<ElementType::kFloat16>(ladder, phases, factor, trig, i, position, counts);
    case ElementType::kBfloat16:
      return SettleAs<ElementType::kBfloat16>(ladder, phases, factor, trig, i, position, counts);
    case ElementType::kInt32: break;
  }
  return 0;
}

}  // namespace phasor
