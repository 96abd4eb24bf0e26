#ifndef PHASOR_CORE_WIDE_SINCOS_H_
#define PHASOR_CORE_WIDE_SINCOS_H_

/// \file
/// Sine and cosine by integers: of 2 limbs in less time than double-double
/// takes without fused multiplication, of 4 in a third of a microsecond.

#include "core/wide_real.h"

namespace phasor {

template <std::size_t kLimbs>
struct WideSinCos {
  WideReal<kLimbs> sin;
  WideReal<kLimbs> cos;
};

/// node/256 + residue turns, node in 0 ... 255 and |residue| <= 1/512.
template <std::size_t kLimbs>
struct WideSplitTurn {
  int node = 0;
  WideReal<kLimbs> residue;
};

/// Bound of the relative error of each of sine and cosine below: 2 to this.
template <std::size_t kLimbs>
inline constexpr std::int64_t kWideSinCosErrorExponent = kLimbs == 2 ? -112 : -230;

/// Sine and cosine of an angle, split. Any residue, however small.
///
/// **Accuracy**: each within 2^kWideSinCosErrorExponent, relative.
/// **Thread safety**: any.
///
/// Method: as TurnSinCos, in integers.
template <std::size_t kLimbs>
WideSinCos<kLimbs> TurnWideSinCos(const WideSplitTurn<kLimbs>& angle);

}  // namespace phasor

#endif  // PHASOR_CORE_WIDE_SINCOS_H_
