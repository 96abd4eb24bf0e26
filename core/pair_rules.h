#ifndef PHASOR_CORE_PAIR_RULES_H_
#define PHASOR_CORE_PAIR_RULES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/attention_factor.h"
#include "phasor/core/spec.h"

namespace phasor {

/// What a table of pairs has beside its ladder, whatever its scheme.
struct PairRules {
  Layout layout = Layout::kSinCosInterleaved;
  std::int64_t position_offset = 0;
  std::optional<std::int64_t> zero_row;
  OddColumn odd_column = OddColumn::kNone;
  AttentionFactor factor;
  /// The axis whose position each pair takes; empty where there is one axis.
  std::vector<std::uint8_t> axis;
};

/// The rules of a checked scheme; none for tables without pairs.
std::optional<PairRules> PairRulesOf(const Scheme& scheme);

}  // namespace phasor

#endif  // PHASOR_CORE_PAIR_RULES_H_
