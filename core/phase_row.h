#ifndef PHASOR_CORE_PHASE_ROW_H_
#define PHASOR_CORE_PHASE_ROW_H_

/// \file
/// Whole rows of sines and cosines by their exact phases: what anchors start from.

#include <cstdint>
#include <vector>

#include "core/pair_rows.h"
#include "core/phase.h"
#include "core/position.h"
#include "core/stop_check.h"

namespace phasor {

/// Room for the angles of one row.
class PhaseRow {
 public:
  explicit PhaseRow(std::int64_t pairs);

  /// Takes the angles position[i] * w_i of all pairs and writes their sines and
  /// cosines to `out`, which has as many pairs. Accuracy: that of
  /// PhaseLadder::At(); 2^-53 without low parts. Pairs that have no phase there,
  /// or vanish, become 0 and 1 and are listed in beyond(). Nothing is to be used if
  /// `stop` stopped it.
  void Fill(const PhaseLadder& phases, const RowPosition& position, const MutablePairRow& out,
            StopCheck& stop);

  /// Of the last Fill(): those pairs, in order; the errors of angles.
  const std::vector<std::int64_t>& beyond() const { return beyond_; }
  const std::vector<double>& angle_error() const { return angle_error_; }

 private:
  std::int64_t pairs_;
  std::vector<std::int64_t> node_;
  std::vector<double> residue_;
  std::vector<double> residue_lo_;
  std::vector<double> angle_error_;
  std::vector<std::int64_t> beyond_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_PHASE_ROW_H_
