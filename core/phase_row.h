#ifndef PHASOR_CORE_PHASE_ROW_H_
#define PHASOR_CORE_PHASE_ROW_H_

/// \file
/// Many sines and cosines by their exact phases: rows that anchors start from, and
/// elements that rotations leave open.

#include <array>
#include <cstdint>
#include <vector>

#include "core/pair_rows.h"
#include "core/phase.h"
#include "core/position.h"
#include "core/stop_check.h"

namespace phasor {

/// A few angles, whose sines and cosines are taken by vectors.
class PhaseBatch {
 public:
  static constexpr std::int64_t kMost = 64;

  /// Takes the angle position * w_i as the k-th, k < kMost. A pair that has no phase
  /// there, or vanishes, becomes 0 and 1, and false is returned.
  bool Take(std::int64_t k, const PhaseLadder& phases, std::int64_t i, Position position);
  /// Sines and cosines of the first `count` to `out`, which has room for as many.
  /// Accuracy: kSinCosError; 2^-53 without low parts.
  void SinesCosines(std::int64_t count, const MutablePairRow& out) const;
  /// The error of the k-th angle.
  double angle_error(std::int64_t k) const { return angle_error_[k]; }

 private:
  std::array<std::int64_t, kMost> node_{};
  std::array<double, kMost> residue_{};
  std::array<double, kMost> residue_lo_{};
  std::array<double, kMost> angle_error_{};
};

/// The angles of one row.
class PhaseRow {
 public:
  explicit PhaseRow(std::int64_t pairs) : pairs_(pairs), angle_error_(pairs) {}

  /// Takes the angles position[i] * w_i of all pairs and writes their sines and
  /// cosines to `out`, which has as many pairs, as PhaseBatch does. Pairs that have
  /// no phase there, or vanish, are listed in beyond(). Nothing is to be used if
  /// `stop` stopped it.
  void Fill(const PhaseLadder& phases, const RowPosition& position, const MutablePairRow& out,
            StopCheck& stop);

  /// Of the last Fill(): those pairs, in order; the errors of angles.
  const std::vector<std::int64_t>& beyond() const { return beyond_; }
  const std::vector<double>& angle_error() const { return angle_error_; }

 private:
  std::int64_t pairs_;
  PhaseBatch batch_;
  std::vector<double> angle_error_;
  std::vector<std::int64_t> beyond_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_PHASE_ROW_H_
