#include "core/phase_row.h"

#include <algorithm>
#include <optional>

#include "core/turn_series.h"
#include "core/turn_sincos.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/phase_row.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phasor::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE Doubles Tail(const double (&coefficients)[3], Doubles z) {
  const Doubles inner = hn::MulAdd(z, Broadcast(coefficients[2]), Broadcast(coefficients[1]));
  return hn::MulAdd(z, inner, Broadcast(coefficients[0]));
}

// TurnSinCos() for every target. In each sum of the series the first is the larger
// by far.
void SinesCosinesOfTurns(std::int64_t pairs, const std::int64_t* node, const double* residue,
                         const double* residue_lo, const MutablePairRow& out) {
  const DoubleTag d;
  const hn::RebindToSigned<DoubleTag> integers;
  static_assert(sizeof(SinCos) == 4 * sizeof(double));
  const double* nodes = &TurnNodes()[0].sin.hi;
  for (std::int64_t i = 0; i < pairs; i += HWY_LANES(double)) {
    const DoubleDoubles turns = {hn::LoadU(d, residue + i), hn::LoadU(d, residue_lo + i)};
    const DoubleDoubles y = Product(turns, Broadcast(kRadiansPerTurn));
    const DoubleDoubles z = Product(y, y);

    const DoubleDoubles fifth = SumOfUnequal(Broadcast(k120th), Product(z, Tail(kSineTail, z.hi)));
    const DoubleDoubles third = SumOfUnequal(Negated(Broadcast(kSixth)), Product(z, fifth));
    const DoubleDoubles sine = SumOfUnequal(y, Product(Product(y, z), third));

    const DoubleDoubles sixth =
        SumOfUnequal(Negated(Broadcast(k720th)), Product(z, Tail(kCosineTail, z.hi)));
    const DoubleDoubles fourth = SumOfUnequal(Broadcast(k24th), Product(z, sixth));
    const DoubleDoubles second = SumOfUnequal(Negated(Broadcast(kHalf)), Product(z, fourth));
    const DoubleDoubles cosine = SumOfUnequal(Broadcast(DoubleDouble{1, 0}), Product(z, second));

    const auto index = hn::ShiftLeft<2>(hn::LoadU(integers, node + i));
    const auto gather = [&](int part) HWY_ATTR { return hn::GatherIndex(d, nodes + part, index); };
    const DoubleDoubles node_sine = {gather(0), gather(1)};
    const DoubleDoubles node_cosine = {gather(2), gather(3)};
    const DoubleDoubles s = Sum(Product(node_sine, cosine), Product(node_cosine, sine));
    const DoubleDoubles c = Sum(Product(node_cosine, cosine), Negated(Product(node_sine, sine)));
    hn::StoreU(s.hi, d, out.sin + i);
    hn::StoreU(c.hi, d, out.cos + i);
    if (out.sin_lo != nullptr) {
      hn::StoreU(s.lo, d, out.sin_lo + i);
      hn::StoreU(c.lo, d, out.cos_lo + i);
    }
  }
}

}  // namespace phasor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phasor {

HWY_EXPORT(SinesCosinesOfTurns);

bool PhaseBatch::Take(std::int64_t k, const PhaseLadder& phases, std::int64_t i,
                      Position position) {
  std::optional<PhaseAngle> angle = phases.AngleAt(i, position);
  if (phases.is_vanishing(i)) angle.reset();
  const PhaseAngle known = angle.value_or(PhaseAngle{});
  node_[k] = known.turn.node;
  residue_[k] = known.turn.residue.hi;
  residue_lo_[k] = known.turn.residue.lo;
  angle_error_[k] = known.angle_error;
  return angle.has_value();
}

void PhaseBatch::SinesCosines(std::int64_t count, const MutablePairRow& out) const {
  HWY_DYNAMIC_DISPATCH(SinesCosinesOfTurns)
  (count, node_.data(), residue_.data(), residue_lo_.data(), out);
}

void PhaseRow::Fill(const PhaseLadder& phases, const RowPosition& position,
                    const MutablePairRow& out, StopCheck& stop) {
  constexpr std::int64_t kCostOfAngle = 50;
  beyond_.clear();
  for (std::int64_t first = 0; first < pairs_; first += PhaseBatch::kMost) {
    const std::int64_t count = std::min(PhaseBatch::kMost, pairs_ - first);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t i = first + k;
      if (!batch_.Take(k, phases, i, position[i])) beyond_.push_back(i);
      angle_error_[i] = batch_.angle_error(k);
    }
    batch_.SinesCosines(count, out.From(first));
    if (stop.After(count * kCostOfAngle)) return;
  }
}

}  // namespace phasor
#endif  // HWY_ONCE
