#ifndef PHASOR_CORE_TURN_SERIES_H_
#define PHASOR_CORE_TURN_SERIES_H_

/// \file
/// The series of sine and cosine around the nodes of a turn, in double-double.
///
/// With y = 2 pi residue, |y| < 2^-6.34, and z = y^2:
///
///     sin y = y + y z (-1/3! + z (1/5! + z tail)),  tail = -1/7! + z/9! - z^2/11!
///     cos y = 1 + z (-1/2! + z (1/4! + z (-1/6! + z tail))),
///                                                   tail = 1/8! - z/10! + z^2/12!
///
/// First omitted terms, relative: sine y^12/13! < 2^-108, cosine
/// y^14/14! < 2^-125. The tails are left to binary64, which is below 2^-50.4 of
/// the sine and 2^-66 of the cosine, so costs 2^-102.4 at most; y itself is
/// within 2^-102.5. Joining at a node adds four products and two sums whose
/// parts are at most three times the result: below 2^-99 in all.

#include "core/double_double.h"

namespace phasor {

inline constexpr DoubleDouble kHalf = {0x1p-1, 0};
inline constexpr DoubleDouble kSixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
inline constexpr DoubleDouble k24th = {0x1.5555555555555p-5, 0x1.5555555555555p-59};
inline constexpr DoubleDouble k120th = {0x1.1111111111111p-7, 0x1.1111111111111p-63};
inline constexpr DoubleDouble k720th = {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65};
/// Coefficients of the tails, from the lowest power of z.
inline constexpr double kSineTail[] = {-1.0 / 5040, 1.0 / 362880, -1.0 / 39916800};
inline constexpr double kCosineTail[] = {1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600};

}  // namespace phasor

#endif  // PHASOR_CORE_TURN_SERIES_H_
