#ifndef PHASOR_CORE_TURN_H_
#define PHASOR_CORE_TURN_H_

/// \file
/// Angles as fixed-point fractions of a turn. Whole turns fall off the top by
/// themselves, so the reduction of p * w is an integer multiplication that wraps.

#include <array>
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

/// The same with a residue of limbs * 2^(-64 kLimbs), or its negative; exact.
template <std::size_t kLimbs>
struct ExactSplitTurn {
  int node;
  bool negative;
  std::array<std::uint64_t, kLimbs> limbs;
};
template <std::size_t kLimbs>
ExactSplitTurn<kLimbs> SplitExactly(const TurnFraction<kLimbs>& turn);

/// `turn` split at the nearest node.
///
/// **Accuracy**: the residue is within 2^-105 of the fixed-point number's,
/// relative, however small it is.
template <std::size_t kLimbs>
SplitTurn Split(const TurnFraction<kLimbs>& turn);

/// `turn` * factor, whole turns dropped; exact. Any int64.
Turn operator*(const Turn& turn, std::int64_t factor);

/// The non-negative integer `limbs` (least significant first), times
/// 2^exponent, within 2^-105, relative. **Range**: the result within
/// 2^-900 ... 2^900, or zero.
template <std::size_t kLimbs>
DoubleDouble LeadingBits(const std::array<std::uint64_t, kLimbs>& limbs, int exponent);

inline constexpr double kSplitError = 0x1p-105;

}  // namespace phasor

#endif  // PHASOR_CORE_TURN_H_
