#ifndef PHASOR_CORE_TURN_SINCOS_H_
#define PHASOR_CORE_TURN_SINCOS_H_

/// \file
/// Sine and cosine in double-double.

#include <array>

#include "core/double_double.h"
#include "core/turn.h"

namespace phasor {

/// Radians in a turn, within 2^-109, relative.
inline constexpr DoubleDouble kRadiansPerTurn = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};

struct SinCos {
  DoubleDouble sin;
  DoubleDouble cos;
};

/// Those of the sum of two angles. The sine is within 2^-101 of
/// |sin a cos b| + |cos a sin b|, the cosine of |cos a cos b| + |sin a sin b|.
inline SinCos operator*(const SinCos& a, const SinCos& b) {
  return {a.sin * b.cos + a.cos * b.sin, a.cos * b.cos + -(a.sin * b.sin)};
}

/// Bound of the relative error of each of sine and cosine below.
inline constexpr double kSinCosError = 0x1p-98;

/// Sine and cosine of an angle, split.
///
/// **Range**: |residue| <= 1/512 turn; zero, or at least 2^-800.
/// **Accuracy**: sine and cosine each within kSinCosError, relative, of that
/// of the exact angle that `angle` names; angle zero gives +0 and 1 exactly.
/// **Thread safety**: any.
///
/// Method: node angles from a table of MPFR's values, the residue by Taylor's
/// series, the two joined by the addition theorem. At the nodes on the axes
/// the table holds exact 0 and +-1, so that a small sine (or cosine) is the
/// series alone and nothing cancels.
SinCos TurnSinCos(const SplitTurn& angle);

/// The same of a fixed-point angle.
inline SinCos TurnSinCos(const Turn& turn) { return TurnSinCos(Split(turn)); }

/// Sine and cosine of node/256 turns, node = 0 ... 255, each within 2^-106,
/// relative; exact on the axes.
const std::array<SinCos, kTurnNodes>& TurnNodes();

}  // namespace phasor

#endif  // PHASOR_CORE_TURN_SINCOS_H_
