#include "core/pair_rotation.h"

#include <algorithm>
#include <cmath>

#include "core/real.h"
#include "core/rounding.h"
#include "core/settle.h"

namespace phasor {
namespace {

// Error of a double-double rotation over |s cos a| + |c sin a|, without the
// angle's own: 2^-98 of the inputs, and what products and the sum add.
constexpr double kPairRotationError = 0x1p-97;

// Below this a sine (or cosine) is left to MPFR. Above it, and with the larger
// of s and c in 2^-149 ... 2^128, all intermediates are far from underflow, or
// far below the error.
constexpr double kLeastFactor = 0x1p-600;

bool WithinReach(const PhasePoint& point) {
  return std::abs(point.value.sin.hi) >= kLeastFactor &&
         std::abs(point.value.cos.hi) >= kLeastFactor;
}

// a x + b y, where x and y are double-double and their angle is in error.
std::optional<std::uint64_t> Combine(ElementType type, double a, DoubleDouble x, double b,
                                     DoubleDouble y, double angle_error) {
  // A power of two aside, the larger of a and b is about 1.
  constexpr double kComfortable = 0x1p149;
  int scale = 0;
  const double larger = std::max(std::abs(a), std::abs(b));
  if (larger > kComfortable || larger < 1 / kComfortable) {
    scale = std::ilogb(larger);
    a = std::ldexp(a, -scale);
    b = std::ldexp(b, -scale);
  }
  const DoubleDouble value = x * a + y * b;
  const double error = kPairRotationError * (std::abs(a * x.hi) + std::abs(b * y.hi)) +
                       angle_error * (std::abs(a) + std::abs(b));
  switch (type) {
    case ElementType::kFloat32: return DecideBits<ElementType::kFloat32>(value, error);
    case ElementType::kFloat16: return DecideBits<ElementType::kFloat16>(value, error);
    case ElementType::kBfloat16: return DecideBits<ElementType::kBfloat16>(value, error);
    case ElementType::kFloat64:
      return scale == 0 ? DecideBits<ElementType::kFloat64>(value, error)
                        : DecideScaledBits(value, error, scale);
  }
  return std::nullopt;
}

mpfr_exp_t ExponentOf(mpfr_srcptr x) {
  return mpfr_zero_p(x) != 0 ? mpfr_get_emin_min() : mpfr_get_exp(x);
}

// s cos a + c sin a, for the angle itself or its negative.
std::uint64_t SettleSum(ElementType type, const std::function<void(mpfr_ptr)>& angle, bool negative,
                        double s, double c) {
  const MpfrScope scope;
  return SettleBits(type, [&](mpfr_ptr out) {
    const mpfr_prec_t bits = mpfr_get_prec(out);
    Real a(bits);
    angle(a);
    if (negative) mpfr_neg(a, a, MPFR_RNDN);
    Real sine(bits);
    Real cosine(bits);
    mpfr_sin_cos(sine, cosine, a, MPFR_RNDN);
    // The angle's error turns into that of sine and cosine, times c and s.
    const mpfr_exp_t angle_error = ExponentOf(a) + 3;
    const mpfr_exp_t larger = std::ilogb(std::max(std::abs(s), std::abs(c))) + 2;
    mpfr_mul_d(cosine, cosine, s, MPFR_RNDN);
    mpfr_mul_d(sine, sine, c, MPFR_RNDN);
    mpfr_add(out, cosine, sine, MPFR_RNDN);
    return std::max({angle_error + larger, ExponentOf(cosine), ExponentOf(sine)}) + 3 - bits;
  });
}

}  // namespace

RotatedPair Rotate(ElementType type, const PairRotation& rotation, double s, double c) {
  if (s == 0 && c == 0) return {0, 0};
  std::optional<std::uint64_t> sine;
  std::optional<std::uint64_t> cosine;
  if (rotation.point.has_value() && WithinReach(*rotation.point)) {
    const auto& [value, angle_error] = *rotation.point;
    sine = Combine(type, s, value.cos, c, value.sin, angle_error);
    cosine = Combine(type, c, value.cos, -s, value.sin, angle_error);
  }
  return {sine.has_value() ? *sine : SettleSum(type, rotation.angle, false, s, c),
          cosine.has_value() ? *cosine : SettleSum(type, rotation.angle, true, c, s)};
}

std::optional<PhasePoint> PointOf(mpfr_srcptr angle, double angle_error) {
  constexpr mpfr_prec_t kBits = 160;
  Real sine(kBits);
  Real cosine(kBits);
  mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
  // Double-double's own range is a little wider than this.
  constexpr mpfr_exp_t kLeastExponent = -700;
  if (std::min(ExponentOf(sine), ExponentOf(cosine)) < kLeastExponent) return std::nullopt;
  return PhasePoint{{ToDoubleDouble(sine), ToDoubleDouble(cosine)}, angle_error};
}

}  // namespace phasor
