#include "core/sinusoidal_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/layout.h"
#include "core/phase_row.h"
#include "core/real.h"
#include "core/rotation_kernel.h"
#include "core/settle_amplified.h"
#include "core/stop_check.h"

namespace phasor {
namespace {

// Enough rotations to make what they start from cheap, few enough to stay in the
// second-level cache.
std::int64_t RotationsOf(std::int64_t pairs) {
  constexpr std::int64_t kRotations = 8192;
  const std::int64_t rows = std::clamp<std::int64_t>(kRotations / pairs, 8, kMaxTurns);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows)));
}

// A range from this size on is written past the caches: it would not stay in them.
constexpr std::int64_t kStreamBytes = std::int64_t{4} << 20;

PhaseLadder MakePhases(const FrequencyLadder& ladder, StopCheck& stop) {
  const MpfrScope scope;
  return {ladder, stop};
}

std::vector<std::int32_t> TwinsOf(const FrequencyLadder& ladder) {
  absl::flat_hash_map<double, std::int32_t> first;
  std::vector<std::int32_t> twins;
  for (const double w : ladder.given()) {
    const auto i = static_cast<std::int32_t>(twins.size());
    twins.push_back(first.emplace(w, i).first->second);
  }
  return twins;
}

// For StopCheck: of one rotation made at opening, of one rotated pair, of an
// element by its phase.
constexpr std::int64_t kCostOfTurn = 20;
constexpr std::int64_t kCostOfRotation = 2;
constexpr std::int64_t kCostOfPhase = 200;

}  // namespace

template <ElementType kType>
struct SinusoidalTable<kType>::Scratch {
  // What is amplified is rounded after that, once.
  Scratch(std::int64_t pairs, bool amplified)
      : phases(pairs),
        base(1, pairs, kLowParts || amplified),
        angle_error(pairs + PairRows::kOverrun),
        anchor(pairs, kLowParts) {}
  PhaseRow phases;
  PairRows base;
  std::vector<double> angle_error;
  Anchor anchor;
  std::vector<Bits> sine_doubt;
  std::vector<Bits> cosine_doubt;
};

template <ElementType kType>
SinusoidalTable<kType>::SinusoidalTable(CanonicalSpec spec, StopCheck& stop, double extra_error)
    : LocalTable(std::move(spec)),
      rules_(*PairRulesOf(this->spec().spec().scheme)),
      ladder_(FrequencyLadder::Of(this->spec())),
      phases_(MakePhases(ladder_, stop)),
      extra_error_(extra_error),
      rows_(RotationsOf(ladder_.size())),
      anchors_(RotationsOf(ladder_.size())),
      rotations_(rows_, ladder_.size(), kLowParts),
      strides_(anchors_, ladder_.size(), kLowParts),
      largest_sin_(ladder_.size() + PairRows::kOverrun),
      angle_error_(ladder_.size() + PairRows::kOverrun),
      twins_(TwinsOf(ladder_)) {
  const std::int64_t pairs = ladder_.size();
  PhaseRow phase_row(pairs);
  PairRows turns(std::max(rows_, anchors_), pairs, /*with_low_parts=*/true);
  const auto fill = [&](std::int64_t step, PairRows& out) {
    phase_row.Fill(phases_, Position{step, 0}, turns[1], stop);
    for (std::int64_t r = 0; r < out.rows() && !stop.After(pairs * kCostOfTurn); ++r) {
      FillTurn(r, turns);
      for (std::int64_t i = 0; i < pairs; ++i) out[r].Set(i, std::as_const(turns)[r].At(i));
    }
  };
  fill(1, rotations_);
  fill(rows_, strides_);
  for (std::int64_t r = 0; r < rows_; ++r) {
    const double* sine = rotations_[r].sin;
    for (std::int64_t i = 0; i < pairs; ++i) {
      largest_sin_[i] = std::max(largest_sin_[i], std::abs(sine[i]));
    }
  }
  for (std::int64_t i = 0; i < pairs; ++i) {
    const auto angle = phases_.AngleAt(i, {rows_ * anchors_, 0});
    angle_error_[i] = angle.has_value() ? angle->angle_error : 0;
  }
}

template <ElementType kType>
std::int64_t SinusoidalTable<kType>::memory_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this)) +
         static_cast<std::int64_t>(spec().text().size()) + ladder_.memory_bytes() +
         phases_.memory_bytes() + rotations_.memory_bytes() + strides_.memory_bytes() +
         static_cast<std::int64_t>((largest_sin_.capacity() + angle_error_.capacity()) *
                                   sizeof(double)) +
         static_cast<std::int64_t>(twins_.capacity() * sizeof(std::int32_t));
}

template <ElementType kType>
void SinusoidalTable<kType>::DoRead(std::int64_t start, std::int64_t count, std::byte* out,
                                    StopCheck& stop) const {
  Scratch scratch(ladder_.size(), is_amplified());
  const bool stream = count >= kStreamBytes / spec().row_bytes();
  std::int64_t first = start + rules_.position_offset;
  while (count > 0 && !stop.stopped()) {
    std::int64_t rows = std::min(count, rows_ * anchors_);
    // Row 0 is exact: it starts a segment, no rotation leads to it.
    if (first < 0) rows = std::min(rows, -first);
    Segment(first, rows, stream, scratch, out, stop);
    first += rows;
    count -= rows;
    out += rows * spec().row_bytes();
  }
  if (stream) FlushRows();
}

template <ElementType kType>
Position SinusoidalTable<kType>::Placed(std::int64_t position) const {
  return {position + rules_.position_offset, 0};
}

template <ElementType kType>
Position SinusoidalTable<kType>::Placed(double position) const {
  return MakePosition(position, rules_.position_offset);
}

template <ElementType kType>
template <typename T>
void SinusoidalTable<kType>::GatherPlaced(absl::Span<const T> positions, std::int64_t axes,
                                          std::byte* out, StopCheck& stop) const {
  Scratch scratch(ladder_.size(), is_amplified());
  const auto step = static_cast<std::size_t>(axes);
  std::vector<Position> placed(step);
  for (std::size_t k = 0; k < positions.size() && !stop.stopped(); k += step) {
    for (std::size_t axis = 0; axis < step; ++axis) placed[axis] = Placed(positions[k + axis]);
    DirectRow(axes == 1 ? RowPosition(placed[0]) : RowPosition(placed.data(), rules_.axis), scratch,
              out, stop);
    out += spec().row_bytes();
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::DoGather(absl::Span<const std::int64_t> positions, std::int64_t axes,
                                      std::byte* out, StopCheck& stop) const {
  GatherPlaced(positions, axes, out, stop);
}

template <ElementType kType>
void SinusoidalTable<kType>::DoGather(absl::Span<const double> positions, std::int64_t axes,
                                      std::byte* out, StopCheck& stop) const {
  GatherPlaced(positions, axes, out, stop);
}

template <ElementType kType>
void SinusoidalTable<kType>::Segment(std::int64_t first, std::int64_t count, bool stream,
                                     Scratch& scratch, std::byte* out, StopCheck& stop) const {
  SetBase(Position{first, 0}, angle_error_.data(), scratch, stop);
  for (std::int64_t row = 0; row < count; ++row) {
    const std::int64_t r = row % rows_;
    if (r == 0) SetAnchor(strides_[row / rows_], largest_sin_.data(), scratch);
    if (stop.After(ladder_.size() * kCostOfRotation)) return;
    Row(Position{first + row, 0}, rotations_[r], stream, scratch, out, stop);
    out += spec().row_bytes();
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::DirectRow(const RowPosition& position, Scratch& scratch,
                                       std::byte* out, StopCheck& stop) const {
  SetBase(position, nullptr, scratch, stop);
  if (stop.stopped()) return;
  SetAnchor(strides_[0], nullptr, scratch);
  Row(position, rotations_[0], /*stream=*/false, scratch, out, stop);
}

template <ElementType kType>
void SinusoidalTable<kType>::SetBase(const RowPosition& position, const double* angle_error,
                                     Scratch& scratch, StopCheck& stop) const {
  scratch.phases.Fill(phases_, position, scratch.base[0], stop);
  if (is_amplified()) Amplify(scratch.base[0]);
  // Only where rotations are as precise as the angles do these count.
  if constexpr (kLowParts) {
    for (std::int64_t i = 0; i < ladder_.size(); ++i) {
      const double turned = angle_error != nullptr ? angle_error[i] : 0;
      scratch.angle_error[i] =
          2 * rules_.factor.rounded() * (scratch.phases.angle_error()[i] + turned);
    }
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::Amplify(const MutablePairRow& row) const {
  const DoubleDouble factor = rules_.factor.approximate();
  for (std::int64_t i = 0; i < ladder_.size(); ++i) {
    const SinCos value = row.At(i);
    row.Set(i, {value.sin * factor, value.cos * factor});
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::SetAnchor(const PairRow& stride, const double* largest_sin,
                                       Scratch& scratch) const {
  RotateAnchor<kType>(ladder_.size(), std::as_const(scratch.base)[0], stride, largest_sin,
                      kLowParts ? scratch.angle_error.data() : nullptr, scratch.anchor);
  if (extra_error_ == 0) return;
  const MutablePairRow error = scratch.anchor.error[0];
  for (std::int64_t i = 0; i < ladder_.size(); ++i) {
    error.sin[i] += extra_error_;
    error.cos[i] += extra_error_;
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::Row(const RowPosition& position, const PairRow& turn, bool stream,
                                 Scratch& scratch, std::byte* out, StopCheck& stop) const {
  const std::int64_t pairs = ladder_.size();
  const Layout layout = rules_.layout;
  const std::optional<Position> one = position.one();
  if (one.has_value() && one->is_integer() && rules_.zero_row == one->integer) {
    std::memset(out, 0, static_cast<std::size_t>(spec().row_bytes()));
    return;
  }
  if (one.has_value() && one->is_zero()) {
    const std::vector<Bits> sines(pairs, 0);
    const std::vector<Bits> cosines(pairs, static_cast<Bits>(rules_.factor.Rounded(kType)));
    PlaceRow(layout, pairs, sines.data(), cosines.data(), out);
    return;
  }
  if (RotateRow<kType>(pairs, scratch.anchor, turn, {out, layout, stream})) {
    SettleMarked(position, turn, scratch, out, stop);
  }
  // Where the sine has no phase the cosine is 1, and was that already.
  if (scratch.phases.beyond().empty() || FormOf(layout) == RowForm::kCosineOnly) return;
  SettleCounts counts;
  for (const std::int64_t i : scratch.phases.beyond()) {
    const std::int64_t costly = counts.costly;
    PlaceSettled(i, Trig::kSine, position, counts, out);
    if (stop.After(kCostOfPhase + (counts.costly - costly) * kCostOfMpfr)) break;
  }
  Count(counts);
}

template <ElementType kType>
void SinusoidalTable<kType>::SettleMarked(const RowPosition& position, const PairRow& turn,
                                          Scratch& scratch, std::byte* row, StopCheck& stop) const {
  const std::int64_t pairs = ladder_.size();
  scratch.sine_doubt.resize(pairs + PairRows::kOverrun);
  scratch.cosine_doubt.resize(pairs + PairRows::kOverrun);
  MarkDoubt<kType>(pairs, scratch.anchor, turn, scratch.sine_doubt.data(),
                   scratch.cosine_doubt.data());
  SettleCounts counts;
  const auto settle = [&](std::int64_t i, Trig trig) {
    const std::int64_t costly = counts.costly;
    PlaceSettled(i, trig, position, counts, row);
    stop.After(kCostOfPhase + (counts.costly - costly) * kCostOfMpfr);
  };
  const RowForm form = FormOf(rules_.layout);
  for (std::int64_t i = 0; i < pairs && !stop.stopped(); ++i) {
    if (scratch.sine_doubt[i] != 0 && form != RowForm::kCosineOnly) settle(i, Trig::kSine);
    if (scratch.cosine_doubt[i] != 0 && form != RowForm::kSineOnly) settle(i, Trig::kCosine);
  }
  Count(counts);
}

template <ElementType kType>
void SinusoidalTable<kType>::PlaceSettled(std::int64_t i, Trig trig, const RowPosition& position,
                                          SettleCounts& counts, std::byte* row) const {
  const std::int64_t pairs = ladder_.size();
  const Layout layout = rules_.layout;
  const bool sine = trig == Trig::kSine;
  // Twins of one frequency may be at positions of their own.
  const std::int64_t twin = position.one().has_value() ? TwinOf(i) : i;
  Bits bits;
  if (twin != i) {
    std::memcpy(&bits, row + ColumnOf(layout, pairs, twin, sine) * sizeof(Bits), sizeof(Bits));
  } else {
    bits = Element(i, trig, position[i], counts);
  }
  PlaceElement(layout, pairs, i, sine, bits, row);
  ++counts.settled;
}

template <ElementType kType>
void SinusoidalTable<kType>::Count(const SettleCounts& counts) const {
  if (counts.settled != 0) {
    settled_elements_.fetch_add(counts.settled, std::memory_order_relaxed);
  }
  if (counts.costly != 0) costly_elements_.fetch_add(counts.costly, std::memory_order_relaxed);
}

template <ElementType kType>
auto SinusoidalTable<kType>::Element(std::int64_t i, Trig trig, Position position,
                                     SettleCounts& counts) const -> Bits {
  if (is_amplified()) {
    return static_cast<Bits>(
        SettleAmplified(ladder_, phases_, rules_.factor, kType, trig, i, position, counts));
  }
  if (position.is_zero()) return RoundToBits<kType>(trig == Trig::kSine ? 0.0 : 1.0);
  // Whole columns of a vanishing ladder, and rows at tiny positions, end here.
  constexpr std::int64_t kTinyExponent = -600;
  const std::int64_t position_exponent =
      position.integer != 0 ? 54 : std::ilogb(position.fraction) + 1;
  const std::int64_t exponent = phases_.exponent(i) + position_exponent;
  if (exponent < kTinyExponent) {
    if (trig == Trig::kCosine) return RoundToBits<kType>(1.0);
    if (exponent < FormatOf(kType).quantum_exponent) {
      const bool negative = phases_.is_negative(i) != position.is_negative();
      return RoundToBits<kType>(negative ? -0.0 : 0.0);
    }
  }
  return static_cast<Bits>(Settle(ladder_, phases_, kType, trig, i, position, counts));
}

template class SinusoidalTable<ElementType::kFloat32>;
template class SinusoidalTable<ElementType::kFloat64>;
template class SinusoidalTable<ElementType::kFloat16>;
template class SinusoidalTable<ElementType::kBfloat16>;

}  // namespace phasor
