#include "core/settle.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/wide_real.h"

namespace phasor {
namespace {

// Any int64 plus any binary64 below 1 is exact in this.
constexpr mpfr_prec_t kPositionBits = 64 + 1074;

constexpr std::int64_t kSmallAngleExponent = -20;

// The position exactly, if it has no more than 64 places after the point or is
// a fraction alone.
std::optional<WideReal<4>> Exactly(Position position) {
  if (position.integer == 0) return MakeWide<4>(position.fraction);
  const double places = position.fraction * 0x1p64;
  if (places != std::trunc(places)) return std::nullopt;
  const bool negative = position.integer < 0;
  const auto whole = static_cast<std::uint64_t>(position.integer);
  WideReal<4> value = MakeWide<4>(std::array{negative ? -whole : whole}, 0);
  value.negative = negative;
  // The sum has 128 bits: exact.
  return value + MakeWide<4>(position.fraction);
}

// sin x = x - x^3/6 (1 - t), 0 < t < x^2/20 < 2^-44. x may well be midway
// between two elements, and then x^3/6 alone breaks the tie.
std::optional<std::uint64_t> SmallSine(ElementType type, const WideReal<4>& x) {
  const std::int64_t magnitude = x.magnitude_exponent();
  if (x.is_zero() || magnitude > kSmallAngleExponent) return std::nullopt;
  // x has 181 bits at most: midpoints are not within 2^70 of it, in units of
  // its last bit, unless it is one. What is smaller than that counts by its sign.
  constexpr std::int64_t kUnseen = 60;
  const double m = std::ldexp(static_cast<double>(x.limbs[3]), -64);
  WideReal<4> correction = MakeWide<4>(m * m * m / 6);
  correction.exponent += 3 * magnitude;
  std::int64_t error_exponent = correction.magnitude_exponent() - 40;
  if (correction.magnitude_exponent() < x.exponent + kUnseen) {
    correction = {{0, 0, 0, std::uint64_t{1} << 63}, x.exponent + kUnseen - 255, false};
    error_exponent = x.exponent + kUnseen - 1;
  }
  correction.negative = !x.negative;
  return DecideBits(type, x + correction, error_exponent);
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

mpfr_exp_t TrigOf(const FrequencyLadder& ladder, Trig trig, std::int64_t i, Position position,
                  mpfr_ptr out) {
  const mpfr_prec_t bits = mpfr_get_prec(out);
  Real angle(bits);
  AngleOf(ladder, i, position, angle);
  if (trig == Trig::kSine) {
    mpfr_sin(out, angle, MPFR_RNDN);
  } else {
    mpfr_cos(out, angle, MPFR_RNDN);
  }
  return std::max(mpfr_get_exp(angle) + 3, mpfr_get_exp(out)) + 1 - bits;
}

std::optional<std::uint64_t> SettleSmallSine(const FrequencyLadder& ladder, ElementType type,
                                             std::int64_t i, Position position) {
  const std::optional<double> w = ladder.ExactFrequency(i);
  if (!w.has_value()) return std::nullopt;
  const std::optional<WideReal<4>> exact_position = Exactly(position);
  if (!exact_position.has_value()) return std::nullopt;
  return SmallSine(type, *exact_position * MakeWide<4>(*w));
}

template <std::size_t kLimbs>
std::optional<std::uint64_t> SettleWide(const PhaseLadder& phases, ElementType type, Trig trig,
                                        std::int64_t i, Position position) {
  const WidePhasePoint<kLimbs> point = phases.WideAt<kLimbs>(i, position);
  return trig == Trig::kSine ? DecideBits(type, point.value.sin, point.sin_error_exponent)
                             : DecideBits(type, point.value.cos, point.cos_error_exponent);
}

template std::optional<std::uint64_t> SettleWide<2>(const PhaseLadder&, ElementType, Trig,
                                                    std::int64_t, Position);
template std::optional<std::uint64_t> SettleWide<4>(const PhaseLadder&, ElementType, Trig,
                                                    std::int64_t, Position);

std::uint64_t SettleByMpfr(const FrequencyLadder& ladder, ElementType type, Trig trig,
                           std::int64_t i, Position position) {
  const MpfrScope scope;
  return SettleBits(type, [&](mpfr_ptr out) { return TrigOf(ladder, trig, i, position, out); });
}

std::uint64_t Settle(const FrequencyLadder& ladder, const PhaseLadder& phases, ElementType type,
                     Trig trig, std::int64_t i, Position position, SettleCounts& counts) {
  if (position.is_zero() || ladder.IsZero(i)) {
    return RoundToBits(type, trig == Trig::kSine ? 0.0 : 1.0);
  }
  if (const auto bits = SettleWide<2>(phases, type, trig, i, position)) return *bits;
  if (trig == Trig::kSine) {
    if (const auto bits = SettleSmallSine(ladder, type, i, position)) return *bits;
  }
  if (const auto bits = SettleWide<4>(phases, type, trig, i, position)) return *bits;
  ++counts.costly;
  return SettleByMpfr(ladder, type, trig, i, position);
}

}  // namespace phasor
