#ifndef PHASOR_CORE_ROUNDING_H_
#define PHASOR_CORE_ROUNDING_H_

/// \file
/// Rounding to the element types: once, to nearest, ties to even, with gradual
/// underflow. Elements are handled as their bits.
///
/// A zero keeps the sign of what was rounded; what is too large becomes the
/// bits of an infinity (IsFiniteBits tells). **Range**: finite arguments;
/// the floating-point environment of fp_environment.h; every type but kInt32.

#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/double_double.h"
#include "phasor/core/element_type.h"

namespace phasor {

/// An IEEE 754 binary format.
struct BinaryFormat {
  int precision;         ///< bits of the significand, the hidden one included
  int quantum_exponent;  ///< the smallest subnormal is 2^quantum_exponent
  int bits;              ///< of one element

  constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits - 1); }
  /// The significand's uppermost, which is not stored: below it is the fraction.
  constexpr std::uint64_t hidden_bit() const { return std::uint64_t{1} << (precision - 1); }
  constexpr std::uint64_t infinity() const { return sign_bit() - hidden_bit(); }
};

constexpr BinaryFormat FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return {24, -149, 32};
    case ElementType::kFloat64: return {53, -1074, 64};
    case ElementType::kFloat16: return {11, -24, 16};
    case ElementType::kBfloat16: return {8, -133, 16};
    case ElementType::kInt32: break;
  }
  return {1, 0, 32};  // nothing is rounded to integers
}

/// The unsigned integer that holds one element.
template <ElementType kType>
struct ElementBits;
template <>
struct ElementBits<ElementType::kFloat32> {
  using Type = std::uint32_t;
};
template <>
struct ElementBits<ElementType::kFloat64> {
  using Type = std::uint64_t;
};
template <>
struct ElementBits<ElementType::kFloat16> {
  using Type = std::uint16_t;
};
template <>
struct ElementBits<ElementType::kBfloat16> {
  using Type = std::uint16_t;
};
template <ElementType kType>
using BitsOf = typename ElementBits<kType>::Type;

/// Whether `bits` are neither an infinity nor a NaN.
constexpr bool IsFiniteBits(ElementType type, std::uint64_t bits) {
  const BinaryFormat format = FormatOf(type);
  return (bits & (format.sign_bit() - 1)) < format.infinity();
}

/// Whether `value` is a number; by its bits, so in any environment.
inline bool IsFinite(double value) {
  return IsFiniteBits(ElementType::kFloat64, std::bit_cast<std::uint64_t>(value));
}

/// The value of an element; exact.
double WidenBits(ElementType type, std::uint64_t bits);

namespace internal {

// For the 16-bit types, by integers: n * 2^q of the value's own exponent, q
// raised to what the format holds there, is the element's bits but for the
// offset of the exponent.
template <ElementType kType>
inline std::uint64_t RoundNarrow(double value) {
  constexpr BinaryFormat kFormat = FormatOf(kType);
  constexpr std::uint64_t kHidden = std::uint64_t{1} << 52;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = (bits >> 63) << (kFormat.bits - 1);
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  // A binary64 subnormal is far below every quantum here; its exponent alone matters.
  const std::uint64_t significand = (bits & (kHidden - 1)) | (biased == 0 ? 0 : kHidden);
  const int exponent = biased - 1075;  // of the significand's last bit
  // Bits that fall away: down to the format's precision, or to its last subnormal.
  constexpr int kNormalDrop = 53 - kFormat.precision;
  const int to_last = kFormat.quantum_exponent - exponent;
  const auto drop = static_cast<unsigned>(to_last > kNormalDrop ? to_last : kNormalDrop);
  if (drop > 54) return sign;
  const std::uint64_t half = (std::uint64_t{1} << drop) >> 1;
  const std::uint64_t even = (significand >> drop) & 1;
  const std::uint64_t n = (significand + (half - 1) + even) >> drop;
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(exponent + static_cast<int>(drop) - kFormat.quantum_exponent)
       << (kFormat.precision - 1)) +
      n;
  return sign | (magnitude < kFormat.infinity() ? magnitude : kFormat.infinity());
}

// hi + lo rounded to odd in binary64; hi is their sum rounded to nearest.
// What is rounded to nearest from that, to at most 51 bits, is rounded as if
// from the sum itself (Boldo and Melquiond 2008).
inline double RoundToOdd(DoubleDouble v) {
  const auto bits = std::bit_cast<std::uint64_t>(v.hi);
  if (v.lo == 0 || (bits & 1) != 0) return v.hi;
  return std::bit_cast<double>((v.lo > 0) == (v.hi > 0) ? bits + 1 : bits - 1);
}

}  // namespace internal

/// `value` rounded.
template <ElementType kType>
inline BitsOf<kType> RoundToBits(double value) {
  if constexpr (kType == ElementType::kFloat64) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (kType == ElementType::kFloat32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  } else {
    return static_cast<BitsOf<kType>>(internal::RoundNarrow<kType>(value));
  }
}

/// a + b rounded, as one real number.
template <ElementType kType>
inline BitsOf<kType> RoundSumToBits(double a, double b) {
  if constexpr (kType == ElementType::kFloat64) {
    return std::bit_cast<std::uint64_t>(a + b);
  } else {
    return RoundToBits<kType>(internal::RoundToOdd(TwoSum(a, b)));
  }
}

/// The bits that every real number within `error` of `value` rounds to;
/// nothing if they do not agree.
///
/// **Range**: error >= 0; |value.hi| and error below 2^900.
template <ElementType kType>
inline std::optional<BitsOf<kType>> DecideBits(DoubleDouble value, double error) {
  // Covers the rounding of value.lo -+ error itself.
  const double margin = error * (1 + 0x1p-50) + std::abs(value.lo) * 0x1p-52;
  const BitsOf<kType> below = RoundSumToBits<kType>(value.hi, value.lo - margin);
  const BitsOf<kType> above = RoundSumToBits<kType>(value.hi, value.lo + margin);
  if (below != above) return std::nullopt;
  return below;
}

/// As DecideBits of binary64, for value * 2^scale: reaches results beyond the
/// range of double-double, subnormal and infinite ones included.
///
/// **Range**: value of 2^-900 ... 2^900, or zero; |scale| <= 1100.
std::optional<std::uint64_t> DecideScaledBits(DoubleDouble value, double error, int scale);

/// `value` rounded, in one step.
std::uint64_t RoundToBits(ElementType type, double value);
std::uint64_t RoundToBits(ElementType type, mpfr_srcptr value);

/// The bits that every real number within 2^error_exponent of `value` rounds
/// to; nothing if they do not agree, and more precision has to decide.
std::optional<std::uint64_t> DecideBits(ElementType type, mpfr_srcptr value,
                                        mpfr_exp_t error_exponent);

}  // namespace phasor

#endif  // PHASOR_CORE_ROUNDING_H_
