#ifndef PHASOR_CORE_SETTLE_AMPLIFIED_H_
#define PHASOR_CORE_SETTLE_AMPLIFIED_H_

/// \file
/// Elements of tables whose sines and cosines are multiplied by a factor that
/// is not 1, where the rows kernel leaves their rounding open.

#include <cstdint>

#include "core/attention_factor.h"
#include "core/ladder.h"
#include "core/phase.h"
#include "core/position.h"
#include "core/settle.h"
#include "phasor/core/element_type.h"

namespace phasor {

/// a sin(position * w_i) or a cos(position * w_i), rounded once to `type`; any
/// position. `phases` are those of `ladder`, a is `factor`. Counts MPFR's in
/// `counts`.
///
/// Three stages: double-double; cosines next to a itself, which may be midway
/// between two elements, by algebra; MPFR. A zero angle gives +0 or a. All
/// other products are no binary number where the angle and a are algebraic
/// (Lindemann 1882). Where they are not, by the logarithms of YaRN or llama3's
/// pi, that follows from Schanuel's conjecture.
std::uint64_t SettleAmplified(const FrequencyLadder& ladder, const PhaseLadder& phases,
                              const AttentionFactor& factor, ElementType type, Trig trig,
                              std::int64_t i, Position position, SettleCounts& counts);

}  // namespace phasor

#endif  // PHASOR_CORE_SETTLE_AMPLIFIED_H_
