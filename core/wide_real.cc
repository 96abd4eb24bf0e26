#include "core/wide_real.h"

#include "core/rounding.h"

namespace phasor {
namespace {

// Half of carry and limbs; what is cut off stays as the last bit.
template <std::size_t kLimbs>
WideLimbs<kLimbs> HalfToOdd(const WideLimbs<kLimbs>& limbs) {
  WideLimbs<kLimbs> half = ShiftRight<kLimbs>(limbs, 1);
  half[kLimbs - 1] |= std::uint64_t{1} << 63;
  half[0] |= limbs[0] & 1;
  return half;
}

template <std::size_t kLimbs>
bool IsBelow(const WideReal<kLimbs>& a, const WideReal<kLimbs>& b) {
  if (a.exponent != b.exponent) return a.exponent < b.exponent;
  for (std::size_t k = kLimbs; k-- > 0;) {
    if (a.limbs[k] != b.limbs[k]) return a.limbs[k] < b.limbs[k];
  }
  return false;
}

// By the 64 leading bits and whether there are more: rounded to odd, so that
// rounding to 53 bits or fewer after that is rounding once.
template <std::size_t kLimbs>
std::uint64_t Round(ElementType type, const WideReal<kLimbs>& value) {
  const BinaryFormat format = FormatOf(type);
  const std::uint64_t sign = value.negative ? format.sign_bit() : 0;
  std::uint64_t rest = 0;
  for (std::size_t k = 0; k + 1 < kLimbs; ++k) rest |= value.limbs[k];
  const std::uint64_t leading = value.limbs[kLimbs - 1] | std::uint64_t{rest != 0};
  const std::int64_t last = value.exponent + WideReal<kLimbs>::kBits - 64;  // of leading
  const std::int64_t quantum =
      std::max<std::int64_t>(last + 64 - format.precision, format.quantum_exponent);
  const std::int64_t steps = quantum - format.quantum_exponent;
  if (steps > std::int64_t{1} << (format.bits - format.precision)) return sign | format.infinity();
  const std::int64_t drop = quantum - last;
  if (drop > 64) return sign;
  const std::uint64_t kept = drop == 64 ? 0 : leading >> drop;
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const bool up = (leading & half) != 0 && ((leading & (half - 1)) != 0 || (kept & 1) != 0);
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(steps) << (format.precision - 1)) + kept + (up ? 1 : 0);
  return sign | std::min(magnitude, format.infinity());
}

}  // namespace

template <std::size_t kLimbs>
WideReal<kLimbs> operator+(const WideReal<kLimbs>& a, const WideReal<kLimbs>& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const bool a_first = !IsBelow(a, b);
  const WideReal<kLimbs>& large = a_first ? a : b;
  const WideReal<kLimbs>& small = a_first ? b : a;
  WideReal<kLimbs> sum = large;
  const auto shifted = ShiftRight<kLimbs>(small.limbs, large.exponent - small.exponent);
  if (large.negative != small.negative) {
    SubtractFrom<kLimbs>(sum.limbs, shifted);
    WideReal<kLimbs> difference = MakeWide<kLimbs>(sum.limbs, sum.exponent);
    difference.negative = large.negative;
    return difference;
  }
  if (AddTo<kLimbs>(sum.limbs, shifted)) {
    sum.limbs = HalfToOdd<kLimbs>(sum.limbs);
    ++sum.exponent;
  }
  return sum;
}

template <std::size_t kLimbs>
std::optional<std::uint64_t> DecideBits(ElementType type, const WideReal<kLimbs>& value,
                                        std::int64_t error_exponent) {
  // At least 1, for a value may itself be midway; below half of the limbs, so
  // that neither end is zero.
  const std::int64_t error_bits = std::max<std::int64_t>(error_exponent - value.exponent, 0);
  if (value.is_zero() || error_bits > WideReal<kLimbs>::kBits - 2) return std::nullopt;
  WideLimbs<kLimbs> error{};
  error[error_bits / 64] = std::uint64_t{1} << (error_bits % 64);
  WideReal<kLimbs> below = value;
  SubtractFrom<kLimbs>(below.limbs, error);
  WideReal<kLimbs> above = value;
  if (AddTo<kLimbs>(above.limbs, error)) {
    above.limbs = HalfToOdd<kLimbs>(above.limbs);
    ++above.exponent;
  }
  if (below.limbs[kLimbs - 1] >> 63 == 0) {
    below = MakeWide<kLimbs>(below.limbs, below.exponent);
    below.negative = value.negative;
  }
  const std::uint64_t bits = Round(type, below);
  if (bits != Round(type, above)) return std::nullopt;
  return bits;
}

template WideReal<2> operator+(const WideReal<2>&, const WideReal<2>&);
template WideReal<4> operator+(const WideReal<4>&, const WideReal<4>&);
template std::optional<std::uint64_t> DecideBits(ElementType, const WideReal<2>&, std::int64_t);
template std::optional<std::uint64_t> DecideBits(ElementType, const WideReal<4>&, std::int64_t);

}  // namespace phasor
