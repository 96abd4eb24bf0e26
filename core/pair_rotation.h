#ifndef PHASOR_CORE_PAIR_ROTATION_H_
#define PHASOR_CORE_PAIR_ROTATION_H_

/// \file
/// Given pairs, rotated exactly and rounded once.

#include <mpfr.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "core/phase.h"
#include "phasor/core/element_type.h"

namespace phasor {

/// A rotation by an angle that is not zero:
/// (s, c) becomes (s cos a + c sin a, c cos a - s sin a).
struct PairRotation {
  /// Sine and cosine of the angle, where double-double reaches them.
  std::optional<PhasePoint> point;
  /// Sets its argument to the angle, to its own precision, within
  /// 2^(3 - precision), relative.
  std::function<void(mpfr_ptr)> angle;
};

/// The bits of two elements.
struct RotatedPair {
  std::uint64_t sine;
  std::uint64_t cosine;
};

/// Rotates the finite elements s and c; each result is the exact rotation of
/// the two, rounded once to `type`, an infinity where it is too large.
///
/// For algebraic angles, as all here are, no result is an element or midway
/// between two unless s = c = 0 (Lindemann and Weierstrass), which gives +0.
RotatedPair Rotate(ElementType type, const PairRotation& rotation, double s, double c);

/// Sine and cosine by MPFR of an angle that is within `angle_error` of `angle`,
/// if double-double reaches both. Callers hold an MpfrScope.
std::optional<PhasePoint> PointOf(mpfr_srcptr angle, double angle_error);

}  // namespace phasor

#endif  // PHASOR_CORE_PAIR_ROTATION_H_
