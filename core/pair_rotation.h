#ifndef PHASOR_CORE_PAIR_ROTATION_H_
#define PHASOR_CORE_PAIR_ROTATION_H_

/// \file
/// Given pairs, rotated exactly and rounded once.

#include <mpfr.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "core/phase.h"
#include "core/real.h"
#include "core/settle.h"
#include "core/wide_sincos.h"
#include "phasor/core/element_type.h"

namespace phasor {

/// A rotation by an angle that is not zero:
/// (s, c) becomes (s cos a + c sin a, c cos a - s sin a).
struct PairRotation {
  /// Sine and cosine of the angle, where double-double reaches them.
  std::optional<PhasePoint> point;
  /// The angle itself, within 2^angle_error_exponent radians.
  WideSplitTurn<4> turn;
  std::int64_t angle_error_exponent = 0;
  /// Its sine and cosine, from the first pair on that needs them.
  std::unique_ptr<const WideSinCos<4>> wide;
};

/// Makes rotations from angles. Not thread-safe; lives inside an MpfrScope.
class AngleSplitter {
 public:
  /// For angles of at most `bits` bits: up to 2^(bits - 400).
  explicit AngleSplitter(mpfr_prec_t bits);

  /// The rotation by an angle within 2^error_exponent of `angle`, relative.
  PairRotation Split(mpfr_srcptr angle, mpfr_exp_t error_exponent);

 private:
  Real inverse_turn_;
  Real turns_;
  Real nodes_;
  Integer integer_;
};

/// The bits of two elements.
struct RotatedPair {
  std::uint64_t sine;
  std::uint64_t cosine;
};

/// Rotates the finite elements s and c; each result is the exact rotation of
/// the two, rounded once to `type`, an infinity where it is too large. `angle`
/// sets its argument to the rotation's angle, to its own precision, within
/// 2^(3 - precision), relative; hardly ever called. Counts in `counts`.
///
/// For algebraic angles, as all here are, no result is an element or midway
/// between two unless s = c = 0 (Lindemann and Weierstrass), which gives +0.
RotatedPair Rotate(ElementType type, PairRotation& rotation, double s, double c,
                   absl::FunctionRef<void(mpfr_ptr)> angle, SettleCounts& counts);

}  // namespace phasor

#endif  // PHASOR_CORE_PAIR_ROTATION_H_
