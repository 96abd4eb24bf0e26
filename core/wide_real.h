#ifndef PHASOR_CORE_WIDE_REAL_H_
#define PHASOR_CORE_WIDE_REAL_H_

/// \file
/// Real numbers of 128 and of 256 bits, by integer arithmetic: for elements
/// that binary64 leaves open, at a fraction of MPFR's cost.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "phasor/core/element_type.h"

namespace phasor {

/// Bits, least significant limb first.
template <std::size_t kLimbs>
using WideLimbs = std::array<std::uint64_t, kLimbs>;

/// limbs * 2^exponent, or its negative; 2 limbs or 4. The top bit is set, but
/// for zero.
template <std::size_t kLimbs>
struct WideReal {
  static constexpr std::int64_t kBits = 64 * static_cast<std::int64_t>(kLimbs);

  WideLimbs<kLimbs> limbs{};
  std::int64_t exponent = 0;
  bool negative = false;

  bool is_zero() const { return limbs[kLimbs - 1] == 0; }
  /// e with 2^(e-1) <= |value| < 2^e; zero's is far below all others.
  std::int64_t magnitude_exponent() const {
    constexpr std::int64_t kOfZero = -(std::int64_t{1} << 40);
    return is_zero() ? kOfZero : exponent + kBits;
  }
  WideReal operator-() const { return {limbs, exponent, !negative}; }
};

namespace internal {
__extension__ using Uint128 = unsigned __int128;
}  // namespace internal

template <std::size_t kLimbs>
constexpr bool IsZero(const WideLimbs<kLimbs>& limbs) {
  return limbs == WideLimbs<kLimbs>{};
}

/// a += b; returns the carry.
template <std::size_t kLimbs>
inline bool AddTo(WideLimbs<kLimbs>& a, const WideLimbs<kLimbs>& b) {
  std::uint64_t carry = 0;
  for (std::size_t k = 0; k < kLimbs; ++k) {
    const internal::Uint128 sum = internal::Uint128{a[k]} + b[k] + carry;
    a[k] = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
  return carry != 0;
}

/// a -= b; returns the borrow.
template <std::size_t kLimbs>
inline bool SubtractFrom(WideLimbs<kLimbs>& a, const WideLimbs<kLimbs>& b) {
  std::uint64_t borrow = 0;
  for (std::size_t k = 0; k < kLimbs; ++k) {
    const internal::Uint128 difference = internal::Uint128{a[k]} - b[k] - borrow;
    a[k] = static_cast<std::uint64_t>(difference);
    borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
  }
  return borrow != 0;
}

/// limbs / 2^bits, cut off. Any bits >= 0.
template <std::size_t kLimbs>
inline WideLimbs<kLimbs> ShiftRight(const WideLimbs<kLimbs>& limbs, std::int64_t bits) {
  if (bits >= WideReal<kLimbs>::kBits) return {};
  const auto whole = static_cast<std::size_t>(bits / 64);
  const int rest = static_cast<int>(bits % 64);
  WideLimbs<kLimbs> shifted{};
  for (std::size_t k = 0; k + whole < kLimbs; ++k) {
    const std::uint64_t low = limbs[k + whole];
    const std::uint64_t high = k + whole + 1 < kLimbs ? limbs[k + whole + 1] : 0;
    shifted[k] = rest == 0 ? low : (low >> rest) | (high << (64 - rest));
  }
  return shifted;
}

/// a * b * 2^-bits of the kUsed leading limbs, the others zero; below the last
/// of them by 3 at most.
template <std::size_t kUsed, std::size_t kLimbs>
inline WideLimbs<kLimbs> MultiplyHigh(const WideLimbs<kLimbs>& a, const WideLimbs<kLimbs>& b) {
  if constexpr (kUsed == 2) {
    using internal::Uint128;
    const Uint128 a1 = a[kLimbs - 1];
    const Uint128 b1 = b[kLimbs - 1];
    const Uint128 left = a1 * b[kLimbs - 2];
    const Uint128 right = b1 * a[kLimbs - 2];
    // What is left out, a product of low limbs and one low half, is below 2.
    const Uint128 low =
        Uint128{static_cast<std::uint64_t>(left)} + static_cast<std::uint64_t>(right);
    const Uint128 high = a1 * b1 + (left >> 64) + (right >> 64) + (low >> 64);
    WideLimbs<kLimbs> result{};
    result[kLimbs - 2] = static_cast<std::uint64_t>(high);
    result[kLimbs - 1] = static_cast<std::uint64_t>(high >> 64);
    return result;
  }
  // Products of limbs that end more than a limb below the result are left out:
  // they are below 2^-62 of its last bit, together.
  constexpr std::size_t kFirst = kLimbs - kUsed;
  std::array<std::uint64_t, 2 * kUsed> product{};
  for (std::size_t j = 0; j < kUsed; ++j) {
    std::uint64_t carry = 0;
    for (std::size_t k = j + 2 < kUsed ? kUsed - 2 - j : 0; k < kUsed; ++k) {
      const internal::Uint128 sum =
          internal::Uint128{a[kFirst + j]} * b[kFirst + k] + product[j + k] + carry;
      product[j + k] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    product[j + kUsed] = carry;
  }
  WideLimbs<kLimbs> high{};
  for (std::size_t k = 0; k < kUsed; ++k) high[kFirst + k] = product[kUsed + k];
  return high;
}

/// The non-negative integer `limbs` (least significant first) times
/// 2^exponent, cut off: within 2^(1 - kBits), relative.
template <std::size_t kLimbs, std::size_t kFrom>
inline WideReal<kLimbs> MakeWide(const std::array<std::uint64_t, kFrom>& limbs,
                                 std::int64_t exponent) {
  int top = static_cast<int>(kFrom) - 1;
  while (top >= 0 && limbs[top] == 0) --top;
  if (top < 0) return {};
  const auto limb = [&limbs](int k) { return k < 0 ? std::uint64_t{0} : limbs[k]; };
  constexpr int kLast = static_cast<int>(kLimbs) - 1;
  const int shift = std::countl_zero(limbs[top]);
  WideReal<kLimbs> value{.exponent = exponent + std::int64_t{64} * (top - kLast) - shift};
  for (int k = 0; k <= kLast; ++k) {
    const int from = top - kLast + k;
    value.limbs[k] =
        shift == 0 ? limb(from) : (limb(from) << shift) | (limb(from - 1) >> (64 - shift));
  }
  return value;
}

/// Exactly `value`, which is finite.
template <std::size_t kLimbs>
inline WideReal<kLimbs> MakeWide(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t below = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t hidden = biased == 0 ? 0 : std::uint64_t{1} << 52;
  WideReal<kLimbs> wide = MakeWide<kLimbs>(std::array{below | hidden}, std::max(biased, 1) - 1075);
  wide.negative = (bits >> 63) != 0;
  return wide;
}

/// Within 2^(2 - kBits) of the product, relative; exact if that has no more bits.
template <std::size_t kLimbs>
inline WideReal<kLimbs> operator*(const WideReal<kLimbs>& a, const WideReal<kLimbs>& b) {
  WideReal<kLimbs> product = MakeWide<kLimbs>(MultiplyHigh<kLimbs>(a.limbs, b.limbs),
                                              a.exponent + b.exponent + WideReal<kLimbs>::kBits);
  product.negative = a.negative != b.negative;
  return product;
}

/// Within 2^(2 - kBits) of the larger one; exact if the sum has no more bits.
template <std::size_t kLimbs>
WideReal<kLimbs> operator+(const WideReal<kLimbs>& a, const WideReal<kLimbs>& b);

/// The bits that every real number within 2^error_exponent of `value` rounds
/// to; nothing if they do not agree.
template <std::size_t kLimbs>
std::optional<std::uint64_t> DecideBits(ElementType type, const WideReal<kLimbs>& value,
                                        std::int64_t error_exponent);

}  // namespace phasor

#endif  // PHASOR_CORE_WIDE_REAL_H_
