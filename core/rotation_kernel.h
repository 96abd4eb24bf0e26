#ifndef PHASOR_CORE_ROTATION_KERNEL_H_
#define PHASOR_CORE_ROTATION_KERNEL_H_

/// \file
/// The rows kernel: rows of sines and cosines from an anchor row and one
/// rotation each, rounded, put where the layout has them; what is in doubt is
/// found. Vectors of the widest kind that the machine has, chosen at run time;
/// right elements are the same bits whatever the choice.
///
/// Nothing accumulates: a row is one rotation away from its anchor, and that is
/// one away from a base row, which comes from exact phases (phase_row.h).

#include <cstddef>
#include <cstdint>

#include "core/line_copy.h"
#include "core/pair_rows.h"
#include "core/rounding.h"
#include "phasor/core/spec.h"

namespace phasor {

/// An anchor row, with the bounds of the errors of what is rotated from it.
struct Anchor {
  Anchor(std::int64_t pairs, bool with_low_parts)
      : row(1, pairs, with_low_parts), error(1, pairs, false) {}
  PairRows row;
  /// Of a rotated sine and cosine, absolute. Zero past the last pair.
  PairRows error;
};

/// Bound of the error of a rotated sine (of angles a + r: sa cr + ca sr) over
/// |sa cr| + |ca sr|, and the same for the cosine.
///
/// In binary64: the four inputs 2u, the product u, the sum u and the interval's
/// own ends u, u = 2^-53, with one u to spare for second-order terms, kTurnError
/// and the angles' own errors, which are below 2^-70 of the rest. Fused
/// multiplication and addition leaves out one rounding.
inline constexpr double kNarrowRotationError = 6 * 0x1p-53;
/// In double-double: a rotation's own sine is within kTurnError of the pair's
/// largest over all rotations, its cosine within kTurnError of 1; all else is
/// below 2^-96, and the angles' own errors are added.
inline constexpr double kDoubleRotationError = 0x1p-80;
/// Rotations r > 1 are products of those of r/2 and r - r/2, each of which
/// makes the error four times what it was, at most: 2^-98 4^8, and a little.
inline constexpr double kTurnError = 0x1p-81;
inline constexpr std::int64_t kMaxTurns = 256;
template <ElementType kType>
inline constexpr double kRotationError =
    kType == ElementType::kFloat64 ? kDoubleRotationError : kNarrowRotationError;

/// Fills in row r of `turns` (row 1 is there) from those before, kMaxTurns at
/// most: sines and cosines of r times the angles of row 1. Row 0 is the rotation
/// by nothing. `turns` has low parts. Accuracy: kTurnError.
void FillTurn(std::int64_t r, PairRows& turns);

/// Rotates `base` by `turn` into `anchor`, with the bounds of the errors of rows
/// that come from it by rotations whose |sine| is `largest_sin` at most. All of
/// them have `pairs` pairs; for FLOAT64 all have low parts, and `angle_error`
/// bounds the errors of the angles in all. Null stands for zeros, for both.
///
/// Bounds: with P = |sa cr| + |ca sr| for the sine and Q = |ca cr| + |sa sr| for
/// the cosine, the anchor's are kRotationError P and Q at most, as a row's are.
/// A row adds kRotationError (s + c L), s and c being the anchor's and L
/// `largest_sin`, and passes on the anchor's sine error once and L of the
/// cosine's; for its cosine the other way round.
template <ElementType kType>
void RotateAnchor(std::int64_t pairs, const PairRow& base, const PairRow& turn,
                  const double* largest_sin, const double* angle_error, Anchor& anchor);

/// Where a row goes, which needs no alignment.
struct RowTarget {
  std::byte* row;
  Layout layout;
  /// Not null: lines of other rows, some or all of which are copied meanwhile. So
  /// memory is written all the time, and not in bursts that have to wait.
  LineCopy* behind = nullptr;
};

/// Rotates `anchor` by `turn` and writes the row. Returns whether the errors
/// leave the rounding of any element open; elements where they do not are right.
template <ElementType kType>
bool RotateRow(std::int64_t pairs, const Anchor& anchor, const PairRow& turn,
               const RowTarget& target);

/// Marks the elements that RotateRow() leaves open: not zero where so. Both
/// arrays have room for PairRows::kOverrun more than `pairs`.
template <ElementType kType>
void MarkDoubt(std::int64_t pairs, const Anchor& anchor, const PairRow& turn, BitsOf<kType>* sines,
               BitsOf<kType>* cosines);

}  // namespace phasor

#endif  // PHASOR_CORE_ROTATION_KERNEL_H_
