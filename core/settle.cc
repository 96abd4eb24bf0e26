#include "core/settle.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/wide_real.h"

namespace phasor {
namespace {

// Any int64 plus any binary64 below 1 is exact in this.
constexpr mpfr_prec_t kPositionBits = 64 + 1074;

// Angles are small below 2 to this.
constexpr std::int64_t kSmallSineExponent = -20;
// And sines tiny below this: double-double may not see the cube of the angle.
constexpr std::int64_t kTinySineExponent = -46;
constexpr std::int64_t kSmallCosineExponent = -28;

// Numbers are exact in 2 limbs where positions are integers and a is 1: 107 bits;
// in 4 else: 128 bits of the position, 53 of w and 53 of a.
template <std::size_t kLimbs>
WideReal<kLimbs> WideInteger(std::int64_t integer) {
  const auto bits = static_cast<std::uint64_t>(integer);
  WideReal<kLimbs> value = MakeWide<kLimbs>(std::array{integer < 0 ? -bits : bits}, 0);
  value.negative = integer < 0;
  return value;
}

// The position exactly, if it has no more than 64 places after the point or is
// a fraction alone.
std::optional<WideReal<4>> Exactly(Position position) {
  if (position.integer == 0) return MakeWide<4>(position.fraction);
  const double places = position.fraction * 0x1p64;
  if (places != std::trunc(places)) return std::nullopt;
  // The sum has 128 bits: exact.
  return WideInteger<4>(position.integer) + MakeWide<4>(position.fraction);
}

// a sin x = a x - a x^3/6 (1 - t), 0 < t < x^2/20 < 2^-44; `product` is a x. That may
// well be midway between two elements, and then a x^3/6 alone breaks the tie.
template <std::size_t kLimbs>
std::optional<std::uint64_t> SmallSine(ElementType type, const WideReal<kLimbs>& x,
                                       const WideReal<kLimbs>& product) {
  // As the product has 20 bits less than there are, midpoints are not within 2^20 of
  // it, in units of the last one, unless it is one itself. A correction that is
  // much smaller than that counts by its sign.
  constexpr std::int64_t kUnseen = 16;
  const auto leading = [](const WideReal<kLimbs>& v) {
    return std::ldexp(static_cast<double>(v.limbs[kLimbs - 1]), -64);
  };
  WideReal<kLimbs> correction = MakeWide<kLimbs>(leading(product) * leading(x) * leading(x) / 6);
  correction.exponent += product.magnitude_exponent() + 2 * x.magnitude_exponent();
  // The sum itself is within 2^2 of those units.
  std::int64_t error_exponent =
      std::max(correction.magnitude_exponent() - 40, product.exponent + 3);
  if (correction.magnitude_exponent() < product.exponent + kUnseen) {
    correction = MakeWide<kLimbs>(1.0);
    correction.exponent += product.exponent + kUnseen;
    error_exponent = product.exponent + kUnseen - 1;
  }
  correction.negative = !product.negative;
  return DecideBits(type, product + correction, error_exponent);
}

// a cos x, 0 < |x| < 2^-28, is below a by less than 2^-57 of it, and no element nor
// midpoint is between.
std::uint64_t JustBelow(ElementType type, double a) {
  const double less = -0x1p-60 * a;
  switch (type) {
    case ElementType::kFloat32: return RoundSumToBits<ElementType::kFloat32>(a, less);
    case ElementType::kFloat64: return RoundSumToBits<ElementType::kFloat64>(a, less);
    case ElementType::kFloat16: return RoundSumToBits<ElementType::kFloat16>(a, less);
    case ElementType::kBfloat16: return RoundSumToBits<ElementType::kBfloat16>(a, less);
    case ElementType::kInt32: break;
  }
  return 0;
}

// a sin x, |x| < 2^exponent, where that is less than half of the last element.
std::optional<std::uint64_t> Vanishing(ElementType type, const AttentionFactor& factor,
                                       std::int64_t exponent, bool negative) {
  if (exponent + factor.wide().magnitude_exponent() >= FormatOf(type).quantum_exponent)
    return std::nullopt;
  return RoundToBits(type, negative ? -0.0 : 0.0);
}

template <std::size_t kLimbs>
WideReal<kLimbs> Cut(const WideReal<4>& v) {
  if constexpr (kLimbs == 4) {
    return v;
  } else {
    return {{v.limbs[2], v.limbs[3]}, v.exponent + 128, v.negative};
  }
}

}  // namespace

void AngleOf(const FrequencyLadder& ladder, std::int64_t i, Position position, mpfr_ptr out) {
  Real exact(position.is_integer() ? 64 : kPositionBits);
  mpfr_set_si(exact, position.integer, MPFR_RNDN);
  if (!position.is_integer()) mpfr_add_d(exact, exact, position.fraction, MPFR_RNDN);
  Real frequency(std::max<mpfr_prec_t>(mpfr_get_prec(out), 53));
  ladder.Frequency(i, frequency);
  mpfr_mul(out, frequency, exact, MPFR_RNDN);
}

std::optional<std::uint64_t> SettleTiny(const PhaseLadder& phases, const AttentionFactor& factor,
                                        ElementType type, Trig trig, std::int64_t i,
                                        Position position) {
  if (position.is_zero() || phases.is_zero(i)) {
    return trig == Trig::kSine ? 0 : factor.Rounded(type);
  }
  if (trig == Trig::kSine && phases.exponent(i) + position.exponent() > kTinySineExponent) {
    return std::nullopt;
  }
  return SettleSmall(phases, factor, type, trig, i, position);
}

std::optional<std::uint64_t> SettleSmall(const PhaseLadder& phases, const AttentionFactor& factor,
                                         ElementType type, Trig trig, std::int64_t i,
                                         Position position) {
  const std::int64_t exponent = phases.exponent(i) + position.exponent();
  if (exponent > kSmallSineExponent) return std::nullopt;
  const std::optional<double> a = factor.exact();
  if (trig == Trig::kCosine) {
    if (exponent > kSmallCosineExponent || !a.has_value()) return std::nullopt;
    return JustBelow(type, *a);
  }
  const bool negative = phases.is_negative(i) != position.is_negative();
  if (const auto bits = Vanishing(type, factor, exponent, negative)) return bits;
  const std::optional<double> w = phases.exact(i);
  if (!w.has_value() || !a.has_value()) return std::nullopt;
  constexpr std::int64_t kMostOfTwoLimbs = std::int64_t{1} << 54;
  if (position.is_integer() && a == 1 && std::abs(position.integer) < kMostOfTwoLimbs) {
    const WideReal<2> x = WideInteger<2>(position.integer) * MakeWide<2>(*w);
    return SmallSine(type, x, x);
  }
  const std::optional<WideReal<4>> exact_position = Exactly(position);
  if (!exact_position.has_value()) return std::nullopt;
  const WideReal<4> x = *exact_position * MakeWide<4>(*w);
  return SmallSine(type, x, x * factor.wide());
}

template <std::size_t kLimbs>
std::optional<std::uint64_t> SettleWide(const PhaseLadder& phases, const AttentionFactor& factor,
                                        ElementType type, Trig trig, std::int64_t i,
                                        Position position) {
  const WidePhasePoint<kLimbs> point = phases.WideAt<kLimbs>(i, position);
  const bool sine = trig == Trig::kSine;
  const WideReal<kLimbs>& value = sine ? point.value.sin : point.value.cos;
  const std::int64_t error = sine ? point.sin_error_exponent : point.cos_error_exponent;
  if (factor.is_one()) return DecideBits(type, value, error);
  const WideReal<kLimbs> a = Cut<kLimbs>(factor.wide());
  const WideReal<kLimbs> product = value * a;
  // The error's product, and what cutting a and the product adds.
  const std::int64_t of_product = product.magnitude_exponent() + 4 - WideReal<kLimbs>::kBits;
  return DecideBits(type, product, std::max(error + a.magnitude_exponent(), of_product) + 1);
}

template std::optional<std::uint64_t> SettleWide<2>(const PhaseLadder&, const AttentionFactor&,
                                                    ElementType, Trig, std::int64_t, Position);
template std::optional<std::uint64_t> SettleWide<4>(const PhaseLadder&, const AttentionFactor&,
                                                    ElementType, Trig, std::int64_t, Position);

std::uint64_t SettleByMpfr(const FrequencyLadder& ladder, const AttentionFactor& factor,
                           ElementType type, Trig trig, std::int64_t i, Position position) {
  const MpfrScope scope;
  return SettleBits(type, [&](mpfr_ptr out) {
    const mpfr_prec_t bits = mpfr_get_prec(out);
    Real angle(bits);
    AngleOf(ladder, i, position, angle);
    if (trig == Trig::kSine) {
      mpfr_sin(out, angle, MPFR_RNDN);
    } else {
      mpfr_cos(out, angle, MPFR_RNDN);
    }
    const mpfr_exp_t error = std::max(mpfr_get_exp(angle) + 3, mpfr_get_exp(out)) + 1 - bits;
    if (factor.is_one()) return error;
    Real a(bits);
    factor.Value(a);
    mpfr_mul(out, out, a, MPFR_RNDN);
    // The factor's own error and the product's rounding.
    return std::max(error + mpfr_get_exp(a), mpfr_get_exp(out) + 2 - bits) + 1;
  });
}

std::uint64_t Settle(const FrequencyLadder& ladder, const PhaseLadder& phases,
                     const AttentionFactor& factor, ElementType type, Trig trig, std::int64_t i,
                     Position position, SettleCounts& counts) {
  if (position.is_zero() || phases.is_zero(i)) {
    return trig == Trig::kSine ? 0 : factor.Rounded(type);
  }
  ++counts.beyond_double_double;
  if (const auto bits = SettleSmall(phases, factor, type, trig, i, position)) return *bits;
  if (const auto bits = SettleWide<2>(phases, factor, type, trig, i, position)) return *bits;
  if (const auto bits = SettleWide<4>(phases, factor, type, trig, i, position)) return *bits;
  ++counts.costly;
  return SettleByMpfr(ladder, factor, type, trig, i, position);
}

}  // namespace phasor
