#include "core/settle.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/double_double.h"

namespace phasor {
namespace {

// Any int64 plus any binary64 below 1 is exact in this.
constexpr mpfr_prec_t kPositionBits = 64 + 1074;

// |x| range of the shortcut below.
constexpr double kLeastSmallAngle = 0x1p-300;
constexpr double kLargestSmallAngle = 0x1p-20;

// The sine of a small angle x = hi + lo that is exact. x may well be midway
// between two elements, and then x^3/6 alone breaks the tie, far below what
// any fixed precision shows: so it is carried through the sum as a number of
// its own. sin x = x - x^3/6 (1 - t), 0 < t < x^2/20 < 2^-44.
template <ElementType kType>
std::optional<std::uint64_t> SmallSine(DoubleDouble x) {
  const double correction = x.hi * x.hi * x.hi / 6;
  const auto rounded = [&x](double c) {
    return RoundSumToBits<kType>(x.hi, internal::RoundToOdd(TwoSum(x.lo, -c)));
  };
  const auto one_side = rounded(correction * (1 - 0x1p-40));
  if (one_side != rounded(correction * (1 + 0x1p-40))) return std::nullopt;
  return one_side;
}

std::optional<std::uint64_t> SmallSine(ElementType type, double w, Position position) {
  if (position.integer != 0 && position.fraction != 0) return std::nullopt;
  const double p = static_cast<double>(position.integer) + position.fraction;
  const double magnitude = std::abs(p * w);
  if (magnitude < kLeastSmallAngle || magnitude > kLargestSmallAngle) return std::nullopt;
  const DoubleDouble x = TwoProd(p, w);
  switch (type) {
    case ElementType::kFloat32: return SmallSine<ElementType::kFloat32>(x);
    case ElementType::kFloat64: return SmallSine<ElementType::kFloat64>(x);
    case ElementType::kFloat16: return SmallSine<ElementType::kFloat16>(x);
    case ElementType::kBfloat16: return SmallSine<ElementType::kBfloat16>(x);
  }
  return std::nullopt;
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

std::uint64_t Settle(const FrequencyLadder& ladder, ElementType type, Trig trig, std::int64_t i,
                     Position position) {
  const std::optional<double> exact_frequency = ladder.ExactFrequency(i);
  if (position.is_zero() || exact_frequency == 0.0) {
    return RoundToBits(type, trig == Trig::kSine ? 0.0 : 1.0);
  }
  if (trig == Trig::kSine && exact_frequency.has_value()) {
    if (const auto bits = SmallSine(type, *exact_frequency, position)) return *bits;
  }
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
    return std::max(mpfr_get_exp(angle) + 3, mpfr_get_exp(out)) + 1 - bits;
  });
}

}  // namespace phasor
