#ifndef PHASOR_CORE_ROTATION_KERNEL_H_
#define PHASOR_CORE_ROTATION_KERNEL_H_

/// \file
/// The rows kernel: one row of sines and cosines from an anchor row and one
/// rotation, rounded, with the elements marked whose rounding is in doubt.
///
/// Nothing accumulates: each row is one rotation away from its anchor.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/rounding.h"
#include "core/turn_sincos.h"

namespace phasor {

/// Sines and cosines of many pairs, as structure of arrays. The low parts are
/// there for FLOAT64 alone; other types take binary64 as it is.
struct PairArrays {
  PairArrays(std::int64_t size, bool with_low_parts)
      : sin(size),
        cos(size),
        sin_lo(with_low_parts ? size : 0),
        cos_lo(with_low_parts ? size : 0) {}

  void Set(std::int64_t k, const SinCos& value) {
    sin[k] = value.sin.hi;
    cos[k] = value.cos.hi;
    if (sin_lo.empty()) return;
    sin_lo[k] = value.sin.lo;
    cos_lo[k] = value.cos.lo;
  }
  std::int64_t memory_bytes() const {
    return static_cast<std::int64_t>(
        (sin.capacity() + cos.capacity() + sin_lo.capacity() + cos_lo.capacity()) * sizeof(double));
  }

  std::vector<double> sin;
  std::vector<double> cos;
  std::vector<double> sin_lo;
  std::vector<double> cos_lo;
};

/// An anchor row, with the bounds of the errors of what is rotated from it.
struct Anchor {
  Anchor(std::int64_t size, bool with_low_parts)
      : pairs(size, with_low_parts), sin_error(size), cos_error(size) {}
  PairArrays pairs;
  std::vector<double> sin_error;
  std::vector<double> cos_error;
};

/// Bound of the error of a rotated sine (of angles a + r: sa cr + ca sr) over
/// |sa cr| + |ca sr|, and the same for the cosine.
///
/// In binary64: the four inputs 2u, the product u, the sum u and the interval's
/// own ends u, u = 2^-53, with one u to spare for second-order terms, kTurnError
/// and the angles' own errors, which are below 2^-70 of the rest.
inline constexpr double kNarrowRotationError = 6 * 0x1p-53;
/// In double-double: a rotation's own sine is within kTurnError of the pair's
/// largest over all rotations, its cosine within kTurnError of 1; all else is
/// below 2^-96, and the angles' own errors are added by the caller.
inline constexpr double kDoubleRotationError = 0x1p-80;
/// Rotations r > 1 are products of those of r/2 and r - r/2, each of which
/// makes the error four times what it was, at most: 2^-98 4^8, and a little.
inline constexpr double kTurnError = 0x1p-81;
template <ElementType kType>
inline constexpr double kRotationError =
    kType == ElementType::kFloat64 ? kDoubleRotationError : kNarrowRotationError;

/// Fills in turns[r], r = 2 ..., from turns[1]: sines and cosines of r times its
/// angle, for up to 256 of them. Accuracy: kTurnError.
void FillTurns(absl::Span<SinCos> turns);

/// Marks of Rotate().
inline constexpr unsigned kSineInDoubt = 1;
inline constexpr unsigned kCosineInDoubt = 2;

/// Rotates `anchor` by pairs first ... first + size - 1 of `rotations`, size
/// being the anchor's. Writes the elements' bits, and into `doubt` the marks of
/// those whose rounding the errors leave open. Returns whether there are any.
template <ElementType kType>
bool Rotate(const Anchor& anchor, const PairArrays& rotations, std::int64_t first,
            BitsOf<kType>* sines, BitsOf<kType>* cosines, BitsOf<kType>* doubt);

}  // namespace phasor

#endif  // PHASOR_CORE_ROTATION_KERNEL_H_
