#include "core/turn.h"

#include <bit>

namespace phasor {
namespace {

__extension__ using Uint128 = unsigned __int128;

template <std::size_t kLimbs>
void Negate(std::array<std::uint64_t, kLimbs>& limbs) {
  std::uint64_t carry = 1;
  for (std::uint64_t& limb : limbs) {
    limb = ~limb + carry;
    carry = carry != 0 && limb == 0 ? 1 : 0;
  }
}

double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace

template <std::size_t kLimbs>
DoubleDouble LeadingBits(const std::array<std::uint64_t, kLimbs>& limbs, int exponent) {
  int top = static_cast<int>(kLimbs) - 1;
  while (top >= 0 && limbs[top] == 0) --top;
  if (top < 0) return {};
  const auto limb = [&limbs](int k) { return k < 0 ? std::uint64_t{0} : limbs[k]; };
  // The 128 leading bits.
  const int shift = std::countl_zero(limbs[top]);
  Uint128 leading = (Uint128{limbs[top]} << 64) | limb(top - 1);
  leading <<= shift;
  if (shift > 0) leading |= limb(top - 2) >> (64 - shift);
  const int leading_exponent = exponent + 64 * (top - 1) - shift;
  constexpr std::uint64_t kMask53 = (std::uint64_t{1} << 53) - 1;
  const auto first = static_cast<std::uint64_t>(leading >> 75);
  const auto second = static_cast<std::uint64_t>(leading >> 22) & kMask53;
  return QuickTwoSum(static_cast<double>(first) * PowerOfTwo(leading_exponent + 75),
                     static_cast<double>(second) * PowerOfTwo(leading_exponent + 22));
}

template <std::size_t kLimbs>
ExactSplitTurn<kLimbs> SplitExactly(const TurnFraction<kLimbs>& turn) {
  std::array<std::uint64_t, kLimbs> rest = turn.limbs;
  std::uint64_t& top = rest[kLimbs - 1];
  // In units of 2^-64 turn a node is 2^56; the sum wraps at a whole turn.
  const std::uint64_t node = (top + (std::uint64_t{1} << 55)) >> 56;
  top -= node << 56;
  const bool negative = (top >> 63) != 0;
  if (negative) Negate(rest);
  return {static_cast<int>(node), negative, rest};
}

template <std::size_t kLimbs>
SplitTurn Split(const TurnFraction<kLimbs>& turn) {
  const auto [node, negative, limbs] = SplitExactly(turn);
  const DoubleDouble residue = LeadingBits(limbs, -64 * static_cast<int>(kLimbs));
  return {node, negative ? -residue : residue};
}

Turn operator*(const Turn& turn, std::int64_t factor) {
  const std::uint64_t magnitude =
      factor < 0 ? -static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
  Turn product;
  std::uint64_t carry = 0;
  for (std::size_t k = 0; k < turn.limbs.size(); ++k) {
    const Uint128 sum = Uint128{turn.limbs[k]} * magnitude + carry;
    product.limbs[k] = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
  if (factor < 0) Negate(product.limbs);
  return product;
}

template DoubleDouble LeadingBits(const std::array<std::uint64_t, 4>&, int);
template DoubleDouble LeadingBits(const std::array<std::uint64_t, 6>&, int);
template ExactSplitTurn<4> SplitExactly(const Turn&);
template ExactSplitTurn<6> SplitExactly(const WideTurn&);
template SplitTurn Split(const Turn&);
template SplitTurn Split(const WideTurn&);

}  // namespace phasor
