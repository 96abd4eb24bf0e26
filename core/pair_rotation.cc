#include "core/pair_rotation.h"

#include <algorithm>
#include <cmath>

#include "core/rounding.h"

namespace phasor {
namespace {

// Error of a double-double rotation over |s cos a| + |c sin a|, without the
// angle's own: 2^-98 of the inputs, and what products and the sum add.
constexpr double kPairRotationError = 0x1p-97;

// Below this a sine (or cosine) is left to wider numbers. Above it, and with the larger
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
    case ElementType::kInt32: break;
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
std::uint64_t SettleSum(ElementType type, absl::FunctionRef<void(mpfr_ptr)> angle, bool negative,
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

// a x + b y, where x and y belong to an angle in error.
std::optional<std::uint64_t> CombineWide(ElementType type, double a, const WideReal<4>& x, double b,
                                         const WideReal<4>& y, std::int64_t angle_error_exponent) {
  const WideReal<4> wide_a = MakeWide<4>(a);
  const WideReal<4> wide_b = MakeWide<4>(b);
  const std::int64_t of_a = wide_a.magnitude_exponent();
  const std::int64_t of_b = wide_b.magnitude_exponent();
  // Of sine and cosine themselves, with the products' and the sum's; and of the
  // angle, which enters x by y and y by x.
  const std::int64_t of_values =
      std::max(of_a + x.magnitude_exponent(), of_b + y.magnitude_exponent()) +
      kWideSinCosErrorExponent<4> + 2;
  const std::int64_t of_angle =
      std::max(of_a + y.magnitude_exponent(), of_b + x.magnitude_exponent()) +
      angle_error_exponent + 1;
  return DecideBits(type, wide_a * x + wide_b * y, std::max(of_values, of_angle) + 1);
}

const WideSinCos<4>& WideOf(PairRotation& rotation) {
  if (rotation.wide == nullptr) {
    rotation.wide = std::make_unique<const WideSinCos<4>>(TurnWideSinCos(rotation.turn));
  }
  return *rotation.wide;
}

}  // namespace

RotatedPair Rotate(ElementType type, PairRotation& rotation, double s, double c,
                   absl::FunctionRef<void(mpfr_ptr)> angle, SettleCounts& counts) {
  if (s == 0 && c == 0) return {0, 0};
  std::optional<std::uint64_t> sine;
  std::optional<std::uint64_t> cosine;
  if (rotation.point.has_value()) {
    const auto& [value, angle_error] = *rotation.point;
    sine = Combine(type, s, value.cos, c, value.sin, angle_error);
    cosine = Combine(type, c, value.cos, -s, value.sin, angle_error);
  }
  if (!sine.has_value()) {
    ++counts.settled;
    const WideSinCos<4>& wide = WideOf(rotation);
    sine = CombineWide(type, s, wide.cos, c, wide.sin, rotation.angle_error_exponent);
  }
  if (!cosine.has_value()) {
    ++counts.settled;
    const WideSinCos<4>& wide = WideOf(rotation);
    cosine = CombineWide(type, c, wide.cos, -s, wide.sin, rotation.angle_error_exponent);
  }
  if (!sine.has_value()) {
    ++counts.costly;
    sine = SettleSum(type, angle, false, s, c);
  }
  if (!cosine.has_value()) {
    ++counts.costly;
    cosine = SettleSum(type, angle, true, c, s);
  }
  return {*sine, *cosine};
}

AngleSplitter::AngleSplitter(mpfr_prec_t bits) : inverse_turn_(bits), turns_(bits), nodes_(bits) {
  mpfr_const_pi(inverse_turn_, MPFR_RNDN);
  mpfr_mul_2ui(inverse_turn_, inverse_turn_, 1, MPFR_RNDN);
  mpfr_ui_div(inverse_turn_, 1, inverse_turn_, MPFR_RNDN);
}

PairRotation AngleSplitter::Split(mpfr_srcptr angle, mpfr_exp_t error_exponent) {
  constexpr double kLeastError = 0x1p-1000;
  constexpr mpfr_exp_t kLeastExponent = -700;
  PairRotation rotation;
  mpfr_mul(turns_, angle, inverse_turn_, MPFR_RNDN);
  // The reciprocal and the product are within 2^(3 - bits).
  const mpfr_exp_t relative = std::max(error_exponent, mpfr_exp_t{3} - mpfr_get_prec(turns_)) + 1;
  rotation.angle_error_exponent = mpfr_get_exp(angle) + relative;
  if (mpfr_get_exp(turns_) > -9) {
    mpfr_mul_ui(nodes_, turns_, kTurnNodes, MPFR_RNDN);
    mpfr_rint(nodes_, nodes_, MPFR_RNDN);
    mpfr_get_z(integer_, nodes_, MPFR_RNDN);
    rotation.turn.node = static_cast<int>(mpz_fdiv_ui(integer_, kTurnNodes));
    mpfr_div_ui(nodes_, nodes_, kTurnNodes, MPFR_RNDN);
    mpfr_sub(turns_, turns_, nodes_, MPFR_RNDN);  // exact: of the same last bit
  }
  mpfr_exp_t exponent = mpfr_get_z_2exp(integer_, turns_);
  const auto size = static_cast<std::int64_t>(mpz_sizeinbase(integer_, 2));
  if (size > 256) {
    mpz_tdiv_q_2exp(integer_, integer_, static_cast<mp_bitcnt_t>(size - 256));
    exponent += size - 256;
  }
  const auto limb = [&](mp_size_t k) { return std::uint64_t{mpz_getlimbn(integer_, k)}; };
  WideReal<4>& residue = rotation.turn.residue;
  residue = MakeWide<4>(std::array{limb(0), limb(1), limb(2), limb(3)}, exponent);
  residue.negative = mpz_sgn(static_cast<mpz_srcptr>(integer_)) < 0;
  if (residue.magnitude_exponent() < kLeastExponent) return rotation;
  const DoubleDouble leading = LeadingBits(residue.limbs, static_cast<int>(residue.exponent));
  const PhasePoint point = {
      TurnSinCos(SplitTurn{rotation.turn.node, residue.negative ? -leading : leading}),
      std::max(kLeastError, std::ldexp(1.0, static_cast<int>(std::max<std::int64_t>(
                                                rotation.angle_error_exponent, -1074))))};
  if (WithinReach(point)) rotation.point = point;
  return rotation;
}

}  // namespace phasor
