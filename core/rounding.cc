#include "core/rounding.h"

#include <algorithm>

#include "core/real.h"

namespace phasor {

double WidenBits(ElementType type, std::uint64_t bits) {
  if (type == ElementType::kFloat64) return std::bit_cast<double>(bits);
  if (type == ElementType::kFloat32) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
  if (type == ElementType::kBfloat16) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  const BinaryFormat format = FormatOf(type);
  const std::uint64_t magnitude = bits & (format.sign_bit() - 1);
  const std::uint64_t fraction_bits = format.precision - 1;
  const std::uint64_t biased = magnitude >> fraction_bits;
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << fraction_bits) - 1);
  double value = 0;
  if (magnitude >= format.infinity()) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (biased == 0) {
    value = std::ldexp(static_cast<double>(fraction), format.quantum_exponent);
  } else {
    value = std::ldexp(static_cast<double>(fraction + (std::uint64_t{1} << fraction_bits)),
                       format.quantum_exponent + static_cast<int>(biased) - 1);
  }
  return (bits & format.sign_bit()) != 0 ? -value : value;
}

std::optional<std::uint64_t> DecideScaledBits(DoubleDouble value, double error, int scale) {
  // Only the last rounding of a subnormal result differs from that of the value
  // itself. This is the least value whose result is normal; its last bit is the
  // last of every subnormal result.
  const double normal = std::ldexp(1.0, -1022 - scale);
  double rounded;
  if (std::abs(value.hi) >= normal) {
    const std::optional<std::uint64_t> bits = DecideBits<ElementType::kFloat64>(value, error);
    if (!bits.has_value()) return std::nullopt;
    rounded = std::bit_cast<double>(*bits);
  } else {
    if (std::abs(value.hi) < 2 * error) return std::nullopt;  // the sign itself
    const double anchor = std::copysign(normal, value.hi);
    const DoubleDouble sum = TwoSum(anchor, value.hi);
    const double rest = sum.lo + value.lo;
    const double margin = error + std::abs(rest) * 0x1p-52;
    const double below = sum.hi + (rest - margin);
    if (below != sum.hi + (rest + margin)) return std::nullopt;
    rounded = below - anchor;
  }
  // Exact, short of an infinity; a zero keeps its sign.
  return std::bit_cast<std::uint64_t>(std::copysign(std::ldexp(rounded, scale), value.hi));
}

std::uint64_t RoundToBits(ElementType type, double value) {
  switch (type) {
    case ElementType::kFloat32: return RoundToBits<ElementType::kFloat32>(value);
    case ElementType::kFloat64: return RoundToBits<ElementType::kFloat64>(value);
    case ElementType::kFloat16: return RoundToBits<ElementType::kFloat16>(value);
    case ElementType::kBfloat16: return RoundToBits<ElementType::kBfloat16>(value);
    case ElementType::kInt32: break;
  }
  return 0;
}

std::uint64_t RoundToBits(ElementType type, mpfr_srcptr value) {
  const BinaryFormat format = FormatOf(type);
  const std::uint64_t sign = mpfr_signbit(value) != 0 ? format.sign_bit() : 0;
  if (mpfr_zero_p(value) != 0) return sign;
  // value = m * 2^exponent with 1/2 <= m < 1.
  const mpfr_exp_t exponent = mpfr_get_exp(value);
  const mpfr_exp_t quantum =
      std::max<mpfr_exp_t>(exponent - format.precision, format.quantum_exponent);
  if (exponent < quantum) return sign;
  const mpfr_exp_t steps = quantum - format.quantum_exponent;
  if (steps > (mpfr_exp_t{1} << (format.bits - format.precision))) {
    return sign | format.infinity();
  }
  Real n(mpfr_get_prec(value));
  mpfr_abs(n, value, MPFR_RNDN);
  mpfr_mul_2si(n, n, -quantum, MPFR_RNDN);
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(steps) << (format.precision - 1)) + mpfr_get_ui(n, MPFR_RNDN);
  return sign | std::min(magnitude, format.infinity());
}

std::optional<std::uint64_t> DecideBits(ElementType type, mpfr_srcptr value,
                                        mpfr_exp_t error_exponent) {
  const mpfr_prec_t bits = mpfr_get_prec(value) + 64;
  Real error(2);
  mpfr_set_ui_2exp(error, 1, error_exponent, MPFR_RNDN);
  Real bound(bits);
  mpfr_sub(bound, value, error, MPFR_RNDD);
  const std::uint64_t below = RoundToBits(type, bound);
  mpfr_add(bound, value, error, MPFR_RNDU);
  if (RoundToBits(type, bound) != below) return std::nullopt;
  return below;
}

}  // namespace phasor
