#ifndef PHASOR_TESTS_CORE_PHASE_POINT_H_
#define PHASOR_TESTS_CORE_PHASE_POINT_H_

#include <cstdint>
#include <optional>

#include "core/phase.h"

namespace phasor {

/// Sine and cosine of one angle of a ladder, where it has one.
inline std::optional<PhasePoint> PointAt(const PhaseLadder& phases, std::int64_t i,
                                         Position position) {
  const std::optional<PhaseAngle> angle = phases.AngleAt(i, position);
  if (!angle.has_value()) return std::nullopt;
  return PhasePoint{TurnSinCos(angle->turn), angle->angle_error};
}

}  // namespace phasor

#endif  // PHASOR_TESTS_CORE_PHASE_POINT_H_
