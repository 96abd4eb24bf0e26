#include "core/pair_rules.h"

#include <variant>

namespace phasor {
namespace {

std::vector<std::uint8_t> AxesOf(const Rotary& spec) {
  const std::vector<std::int64_t>& sections = spec.mrope_section;
  if (sections.empty()) return {};
  std::vector<std::uint8_t> axes;
  if (spec.mrope_interleaved) {
    for (std::int64_t i = 0; i < spec.width / 2; ++i) {
      const std::int64_t axis = i % 3;
      axes.push_back(static_cast<std::uint8_t>(i / 3 < sections[axis] ? axis : 0));
    }
    return axes;
  }
  for (std::size_t axis = 0; axis < sections.size(); ++axis) {
    axes.insert(axes.end(), sections[axis], static_cast<std::uint8_t>(axis));
  }
  return axes;
}

struct RulesOf {
  std::optional<PairRules> operator()(const Sinusoidal& s) const {
    return PairRules{s.layout, s.position_offset, s.zero_row, s.odd_column, {}, {}};
  }
  std::optional<PairRules> operator()(const Rotary& r) const {
    return PairRules{r.layout, 0, std::nullopt, OddColumn::kNone, AttentionFactor(r), AxesOf(r)};
  }
  std::optional<PairRules> operator()(const Timestep& t) const {
    return PairRules{t.flip_sin_to_cos ? Layout::kCosSinHalves : Layout::kSinCosHalves,
                     0,
                     std::nullopt,
                     t.width % 2 == 0 ? OddColumn::kNone : OddColumn::kZero,
                     {},
                     {}};
  }
  std::optional<PairRules> operator()(const NoPosition& n) const {
    if (n.additive) return std::nullopt;
    return PairRules{n.layout, 0, std::nullopt, OddColumn::kNone, {}, {}};
  }
  std::optional<PairRules> operator()(const Alibi&) const { return std::nullopt; }
  std::optional<PairRules> operator()(const RelativeBuckets&) const { return std::nullopt; }
  std::optional<PairRules> operator()(const LearnedInit&) const { return std::nullopt; }
  std::optional<PairRules> operator()(const LearnedTable&) const { return std::nullopt; }
};

}  // namespace

std::optional<PairRules> PairRulesOf(const Scheme& scheme) { return std::visit(RulesOf{}, scheme); }

}  // namespace phasor
