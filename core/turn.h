#ifndef PHASOR_CORE_TURN_H_
#define PHASOR_CORE_TURN_H_

/// \file
/// Angles as fixed-point fractions of a turn. Whole turns fall off the top by
/// themselves, so the reduction of p * w is an integer multiplication that wraps.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/double_double.h"

namespace phasor {

/// A fraction of a turn in [0, 1): sum of limbs[k] * 2^(64 (k - kLimbs)).
template <std::size_t kLimbs>
struct TurnFraction {
  std::array<std::uint64_t, kLimbs> limbs{};
};

/// What ladders are held in: 256 bits.
using Turn = TurnFraction<4>;
/// What products with fractional positions are held in: 384 bits.
using WideTurn = TurnFraction<6>;

/// Nodes of a turn that angles are split at.
inline constexpr int kTurnNodes = 256;

/// node/256 + residue turns, node in 0 ... 255 and |residue| <= 1/512.
struct SplitTurn {
  int node = 0;
  DoubleDouble residue;
};

/// -angle.
inline SplitTurn operator-(const SplitTurn& angle) {
  return {(kTurnNodes - angle.node) % kTurnNodes, -angle.residue};
}

/// The same with a residue of limbs * 2^(-64 kLimbs), or its negative; exact.
template <std::size_t kLimbs>
struct ExactSplitTurn {
  int node;
  bool negative;
  std::array<std::uint64_t, kLimbs> limbs;
};
/// The non-negative integer `limbs` (least significant first), times
/// 2^exponent, within 2^-105, relative. **Range**: the result within
/// 2^-900 ... 2^900, or zero.
template <std::size_t kLimbs>
DoubleDouble LeadingBits(const std::array<std::uint64_t, kLimbs>& limbs, int exponent);

// Inline, below: a row of phases is hundreds of these, in registers.
namespace internal {

__extension__ using Uint128 = unsigned __int128;

// The same of three limbs, the first not zero; 2^exponent is the second's last bit.
inline DoubleDouble LeadingBits(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                                int exponent) {
  const int shift = std::countl_zero(first);
  // Without a branch for a shift by nothing.
  const std::uint64_t upper = (first << shift) | (second >> 1 >> (63 - shift));
  const std::uint64_t lower = (second << shift) | (third >> 1 >> (63 - shift));
  // Of what is below 2^63, by one instruction.
  const auto scaled = [](std::uint64_t n, int binary_exponent) {
    return static_cast<double>(static_cast<std::int64_t>(n)) *
           std::bit_cast<double>(static_cast<std::uint64_t>(binary_exponent + 1023) << 52);
  };
  constexpr std::uint64_t kMask11 = (std::uint64_t{1} << 11) - 1;
  return QuickTwoSum(scaled(upper >> 11, exponent - shift + 75),
                     scaled(((upper & kMask11) << 42) | (lower >> 22), exponent - shift + 22));
}

// Without branches, as residues are of either sign at random.
template <std::size_t kLimbs>
void NegateIf(bool negative, std::array<std::uint64_t, kLimbs>& limbs) {
  const std::uint64_t mask = negative ? ~std::uint64_t{0} : 0;
  std::uint64_t carry = negative ? 1 : 0;
  for (std::uint64_t& limb : limbs) {
    const Uint128 sum = Uint128{limb ^ mask} + carry;
    limb = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
}

}  // namespace internal

/// `turn` split at the nearest node, exactly.
template <std::size_t kLimbs>
ExactSplitTurn<kLimbs> SplitExactly(const TurnFraction<kLimbs>& turn) {
  std::array<std::uint64_t, kLimbs> rest;
  for (std::size_t k = 0; k < kLimbs; ++k) rest[k] = turn.limbs[k];
  std::uint64_t& top = rest[kLimbs - 1];
  // In units of 2^-64 turn a node is 2^56; the sum wraps at a whole turn.
  const std::uint64_t node = (top + (std::uint64_t{1} << 55)) >> 56;
  top -= node << 56;
  const bool negative = (top >> 63) != 0;
  internal::NegateIf(negative, rest);
  return {static_cast<int>(node), negative, rest};
}

/// `turn` split at the nearest node.
///
/// **Accuracy**: the residue is within 2^-105 of the fixed-point number's,
/// relative, however small it is.
template <std::size_t kLimbs>
SplitTurn Split(const TurnFraction<kLimbs>& turn) {
  const auto [node, negative, rest] = SplitExactly(turn);
  constexpr int kPlaces = 64 * static_cast<int>(kLimbs);
  const DoubleDouble residue =
      rest[kLimbs - 1] != 0
          ? internal::LeadingBits(rest[kLimbs - 1], rest[kLimbs - 2], rest[kLimbs - 3], -128)
          : LeadingBits(rest, -kPlaces);
  const double sign = negative ? -1 : 1;
  return {node, {sign * residue.hi, sign * residue.lo}};
}

/// `turn` * factor, whole turns dropped; exact. Any int64.
inline Turn operator*(const Turn& turn, std::int64_t factor) {
  const std::uint64_t magnitude =
      factor < 0 ? -static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
  Turn product;
  std::uint64_t carry = 0;
  for (std::size_t k = 0; k < turn.limbs.size(); ++k) {
    const internal::Uint128 sum = internal::Uint128{turn.limbs[k]} * magnitude + carry;
    product.limbs[k] = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
  internal::NegateIf(factor < 0, product.limbs);
  return product;
}

/// turn * factor, whole turns dropped, split at the nearest node; as accurate as
/// Split(). Any int64.
inline SplitTurn SplitProduct(const Turn& turn, std::int64_t factor) {
  const std::uint64_t magnitude =
      factor < 0 ? -static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
  // In registers, for rows take one of these a pair.
  const auto [limb0, limb1, limb2, limb3] = turn.limbs;
  const internal::Uint128 product0 = internal::Uint128{limb0} * magnitude;
  const internal::Uint128 product1 = internal::Uint128{limb1} * magnitude + (product0 >> 64);
  const internal::Uint128 product2 = internal::Uint128{limb2} * magnitude + (product1 >> 64);
  const std::uint64_t product3 = limb3 * magnitude + static_cast<std::uint64_t>(product2 >> 64);
  const std::uint64_t node = (product3 + (std::uint64_t{1} << 55)) >> 56;
  const std::uint64_t top = product3 - (node << 56);
  const bool negative = (top >> 63) != 0;
  // Where negative, but for the last bit of 256, which does not count.
  const std::uint64_t mask = negative ? ~std::uint64_t{0} : 0;
  const std::uint64_t first = top ^ mask;
  if (first == 0) return Split(turn * factor);
  const double sign = negative ? -1 : 1;
  const DoubleDouble residue =
      internal::LeadingBits(first, static_cast<std::uint64_t>(product2) ^ mask,
                            static_cast<std::uint64_t>(product1) ^ mask, -128);
  const SplitTurn split = {static_cast<int>(node), {sign * residue.hi, sign * residue.lo}};
  return factor < 0 ? -split : split;
}

inline constexpr double kSplitError = 0x1p-105;

}  // namespace phasor

#endif  // PHASOR_CORE_TURN_H_
