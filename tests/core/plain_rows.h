#ifndef PHASOR_TESTS_CORE_PLAIN_ROWS_H_
#define PHASOR_TESTS_CORE_PLAIN_ROWS_H_

/// \file
/// The plain version of a sinusoidal table, without rotations and vectors: each
/// element by its own phase, or by MPFR. What the rows kernel is compared with;
/// its own parts are tested against the oracle (phase_test, settle_test).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <variant>
#include <vector>

#include "core/fp_environment.h"
#include "core/ladder.h"
#include "core/layout.h"
#include "core/phase.h"
#include "core/position.h"
#include "core/real.h"
#include "core/rounding.h"
#include "core/settle.h"
#include "core/stop_check.h"
#include "phasor/core/spec.h"
#include "tests/core/phase_point.h"

namespace phasor {

template <ElementType kType>
class PlainRows {
 public:
  explicit PlainRows(CanonicalSpec spec)
      : spec_(std::move(spec)),
        sinusoidal_(std::get<Sinusoidal>(spec_.spec().scheme)),
        ladder_(sinusoidal_),
        phases_(Phases(ladder_)) {}

  /// Rows start ... start + count - 1.
  std::vector<std::byte> Read(std::int64_t start, std::int64_t count) const {
    const FpEnvironment environment;
    std::vector<std::byte> rows(count * spec_.row_bytes());
    std::vector<BitsOf<kType>> sines(ladder_.size());
    std::vector<BitsOf<kType>> cosines(ladder_.size());
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t position = start + sinusoidal_.position_offset + r;
      if (sinusoidal_.zero_row == position) continue;
      for (std::int64_t i = 0; i < ladder_.size(); ++i) {
        sines[i] = Element(i, Trig::kSine, {position, 0});
        cosines[i] = Element(i, Trig::kCosine, {position, 0});
      }
      PlaceRow(sinusoidal_.layout, ladder_.size(), sines.data(), cosines.data(),
               rows.data() + r * spec_.row_bytes());
    }
    return rows;
  }

 private:
  static PhaseLadder Phases(const FrequencyLadder& ladder) {
    const MpfrScope scope;
    StopCheck never(NeverStop);
    return {ladder, never};
  }

  BitsOf<kType> Element(std::int64_t i, Trig trig, Position position) const {
    if (const std::optional<PhasePoint> point = PointAt(phases_, i, position)) {
      if (const auto bits = SettlePoint<kType>(*point, trig)) return *bits;
    }
    SettleCounts counts;
    return static_cast<BitsOf<kType>>(
        Settle(ladder_, phases_, factor_, kType, trig, i, position, counts));
  }

  const CanonicalSpec spec_;
  const Sinusoidal sinusoidal_;
  const FrequencyLadder ladder_;
  const PhaseLadder phases_;
  const AttentionFactor factor_;
};

}  // namespace phasor

#endif  // PHASOR_TESTS_CORE_PLAIN_ROWS_H_
