#ifndef PHASOR_CORE_PHASE_H_
#define PHASOR_CORE_PHASE_H_

/// \file
/// A ladder's frequencies as fractions of a turn, and sines and cosines of
/// position * w_i from them, in double-double or in integers: the exact
/// table's workhorse between the rows kernel and MPFR.

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ladder.h"
#include "core/position.h"
#include "core/turn.h"
#include "core/turn_sincos.h"
#include "core/wide_sincos.h"

namespace phasor {

/// Sine and cosine of an angle that is known within angle_error radians.
struct PhasePoint {
  SinCos value;
  double angle_error = 0;

  /// Bounds of the errors of value.sin and value.cos.
  double sin_error() const {
    return kSinCosError * std::abs(value.sin.hi) + angle_error * std::abs(value.cos.hi);
  }
  double cos_error() const {
    return kSinCosError * std::abs(value.cos.hi) + angle_error * std::abs(value.sin.hi);
  }
};

/// The same, its sine and cosine still to be taken: TurnSinCos(turn).
struct PhaseAngle {
  SplitTurn turn;
  double angle_error = 0;
};

/// The same in integers: errors of each are below 2 to its exponent.
template <std::size_t kLimbs>
struct WidePhasePoint {
  WideSinCos<kLimbs> value;
  std::int64_t sin_error_exponent = 0;
  std::int64_t cos_error_exponent = 0;
};

/// The turns per position, w_i / 2 pi, of all pairs.
/// **Thread safety**: immutable.
class PhaseLadder {
 public:
  /// Callers hold an MpfrScope. Not to be used if `stop` stopped it.
  PhaseLadder(const FrequencyLadder& ladder, StopCheck& stop);

  std::int64_t size() const { return static_cast<std::int64_t>(phases_.size()); }

  /// Sine and cosine of position * w_i.
  ///
  /// **Range**: any integer, any fraction. Nothing is returned for a non-zero
  /// angle below about 2^-750, which double-double does not reach.
  /// **Accuracy**: as the result says: sine and cosine are relative to
  /// themselves within 2^-98, and the angle within 2^-253 |position|, which is
  /// 2^-178 of the slowest pair's angle.
  std::optional<PhasePoint> At(std::int64_t i, Position position) const;
  /// As At(), for who takes many sines and cosines at a time.
  std::optional<PhaseAngle> AngleAt(std::int64_t i, Position position) const;

  /// The same by 2 or 4 limbs of integers, of any angle that is not zero: as
  /// accurate as TurnWideSinCos, and the angle as above.
  template <std::size_t kLimbs>
  WidePhasePoint<kLimbs> WideAt(std::int64_t i, Position position) const;

  /// Whether w_i is non-zero and too small for At() at integers: true for
  /// all i from some index on, and only in ladders downscaled to nothing.
  bool is_vanishing(std::int64_t i) const { return phases_[i].scale > kLargestScale; }
  bool is_negative(std::int64_t i) const { return phases_[i].negative; }
  /// e with |w_i| < 2^e, where w_i is not zero.
  std::int64_t exponent(std::int64_t i) const { return phases_[i].exponent; }

  std::int64_t memory_bytes() const {
    return static_cast<std::int64_t>(phases_.capacity() * sizeof(Phase));
  }

 private:
  // |w| / 2 pi = (turns + fraction) * 2^-scale, within 2^(-256 - scale). The
  // scale is 0 but for w below 2^-74, where it keeps the leading bits; then
  // no product with a position comes near a node, and nothing wraps.
  struct Phase {
    Turn fraction;
    std::uint64_t turns = 0;
    std::int64_t scale = 0;
    std::int64_t exponent = 0;
    bool negative = false;

    bool is_zero() const { return turns == 0 && scale == 0 && fraction.limbs == Turn{}.limbs; }
  };
  static constexpr int kLargestScale = 680;

  // (node/256 + residue) * 2^-scale turns, within error * 2^-scale radians;
  // where there is a scale, the node is 0. The residue: DoubleDouble or WideReal.
  template <typename Residue>
  struct Reduced {
    int node;
    Residue residue;
    std::int64_t scale;
    double error;
    bool negative;
  };
  template <typename Residue>
  static Reduced<Residue> Reduce(const Phase& phase, Position position);
  template <typename Residue>
  static Reduced<Residue> ReduceFraction(const Phase& phase, double fraction);
  template <typename Residue>
  static Reduced<Residue> ReduceMixed(const Phase& phase, Position position);

  std::vector<Phase> phases_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_PHASE_H_
