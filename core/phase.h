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

/// An angle within angle_error radians.
struct PhaseAngle {
  SplitTurn turn;
  double angle_error = 0;
};

/// Sine and cosine of such an angle, each within kSinCosError of itself.
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

  /// The angle position * w_i.
  ///
  /// **Range**: any integer, any fraction. Nothing is returned for a non-zero
  /// angle below about 2^-750, which double-double does not reach.
  /// **Accuracy**: as the result says: within 2^-253 |position|, which is
  /// 2^-178 of the slowest pair's angle.
  std::optional<PhaseAngle> AngleAt(std::int64_t i, Position position) const {
    // In registers, for rows take one of these a pair.
    const Phase& phase = phases_[i];
    if (!position.is_integer() || position.integer == 0 || phase.scale != 0 || phase.is_zero()) {
      return AnyAngle(i, position);
    }
    PhaseAngle angle{SplitProduct(phase.fraction, position.integer),
                     AngleError(static_cast<double>(position.integer))};
    if (phase.negative) angle.turn = -angle.turn;
    return angle;
  }

  /// Its sine and cosine by 2 or 4 limbs of integers, of any angle that is not zero: as
  /// accurate as TurnWideSinCos, and the angle as above.
  template <std::size_t kLimbs>
  WidePhasePoint<kLimbs> WideAt(std::int64_t i, Position position) const;

  bool is_zero(std::int64_t i) const { return phases_[i].is_zero(); }
  /// Whether w_i is non-zero and too small for AngleAt() at integers: true for
  /// all i from some index on, and only in ladders downscaled to nothing.
  bool is_vanishing(std::int64_t i) const { return phases_[i].scale > kLargestScale; }
  bool is_negative(std::int64_t i) const { return phases_[i].negative; }
  /// e with |w_i| < 2^e, where w_i is not zero.
  std::int64_t exponent(std::int64_t i) const { return phases_[i].exponent; }
  /// w_i if it is a binary64 exactly.
  std::optional<double> exact(std::int64_t i) const {
    const double w = phases_[i].exact;
    return std::isnan(w) ? std::nullopt : std::optional<double>(w);
  }

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
    double exact = 0;  // a NaN where w is no binary64
    std::int32_t scale = 0;
    std::int32_t exponent = 0;
    bool negative = false;

    bool is_zero() const {
      const auto& limbs = fraction.limbs;
      return (turns | limbs[0] | limbs[1] | limbs[2] | limbs[3]) == 0;
    }
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
  // 2 pi * 2^-256 < 2^-253.
  static double AngleError(double position) { return std::abs(position) * 0x1p-253; }
  std::optional<PhaseAngle> AnyAngle(std::int64_t i, Position position) const;
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
