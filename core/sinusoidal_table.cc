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
constexpr std::int64_t kCostOfPhase = 100;

// A pair of a row in doubt, one or both elements of which are still to be settled.
struct OpenPair {
  std::int64_t pair;
  bool sine;
  bool cosine;
  bool has_phase;
};

}  // namespace

template <ElementType kType>
struct SinusoidalTable<kType>::Scratch {
  explicit Scratch(std::int64_t pairs)
      : phases(pairs),
        base(1, pairs, /*with_low_parts=*/true),
        angle_error(pairs + PairRows::kOverrun),
        anchor(pairs, kLowParts),
        settled(1, PhaseBatch::kMost, /*with_low_parts=*/true) {}
  PhaseRow phases;
  PairRows base;
  std::vector<double> angle_error;
  Anchor anchor;
  // Whether the row is the base, rotated by nothing.
  bool row_is_base = false;
  std::vector<Bits> sine_doubt;
  std::vector<Bits> cosine_doubt;
  std::vector<OpenPair> open;
  PhaseBatch batch;
  PairRows settled;
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
  Scratch scratch(ladder_.size());
  const std::int64_t row_bytes = spec().row_bytes();
  RowWriter writer(out, row_bytes, count >= kStreamBytes / row_bytes);
  std::int64_t first = start + rules_.position_offset;
  while (count > 0 && !stop.stopped()) {
    std::int64_t rows = std::min(count, rows_ * anchors_);
    // Row 0 is exact: it starts a segment, no rotation leads to it.
    if (first < 0) rows = std::min(rows, -first);
    Segment(first, rows, scratch, writer, stop);
    first += rows;
    count -= rows;
  }
  writer.Finish();
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
  Scratch scratch(ladder_.size());
  const auto step = static_cast<std::size_t>(axes);
  std::vector<Position> placed(step);
  RowWriter writer(out, spec().row_bytes(), /*past_caches=*/false);
  for (std::size_t k = 0; k < positions.size() && !stop.stopped(); k += step) {
    for (std::size_t axis = 0; axis < step; ++axis) placed[axis] = Placed(positions[k + axis]);
    DirectRow(axes == 1 ? RowPosition(placed[0]) : RowPosition(placed.data(), rules_.axis), scratch,
              writer, stop);
    writer.Next();
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
void SinusoidalTable<kType>::Segment(std::int64_t first, std::int64_t count, Scratch& scratch,
                                     RowWriter& out, StopCheck& stop) const {
  SetBase(Position{first, 0}, angle_error_.data(), scratch, stop);
  for (std::int64_t row = 0; row < count; ++row) {
    const std::int64_t r = row % rows_;
    if (r == 0) SetAnchor(strides_[row / rows_], largest_sin_.data(), scratch);
    scratch.row_is_base = row == 0;
    if (stop.After(ladder_.size() * kCostOfRotation)) return;
    Row(Position{first + row, 0}, rotations_[r], scratch, out, stop);
    out.Next();
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::DirectRow(const RowPosition& position, Scratch& scratch,
                                       RowWriter& out, StopCheck& stop) const {
  SetBase(position, nullptr, scratch, stop);
  if (stop.stopped()) return;
  SetAnchor(strides_[0], nullptr, scratch);
  scratch.row_is_base = true;
  Row(position, rotations_[0], scratch, out, stop);
}

template <ElementType kType>
void SinusoidalTable<kType>::SetBase(const RowPosition& position, const double* angle_error,
                                     Scratch& scratch, StopCheck& stop) const {
  scratch.phases.Fill(phases_, position, scratch.base[0], stop);
  if (is_amplified()) Amplify(ladder_.size(), scratch.base[0]);
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
void SinusoidalTable<kType>::Amplify(std::int64_t pairs, const MutablePairRow& row) const {
  const DoubleDouble factor = rules_.factor.approximate();
  for (std::int64_t i = 0; i < pairs; ++i) {
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
void SinusoidalTable<kType>::Row(const RowPosition& position, const PairRow& turn, Scratch& scratch,
                                 RowWriter& out, StopCheck& stop) const {
  std::byte* const row = out.row();
  const std::int64_t pairs = ladder_.size();
  const Layout layout = rules_.layout;
  const std::optional<Position> one = position.one();
  if (one.has_value() && one->is_integer() && rules_.zero_row == one->integer) {
    std::memset(row, 0, static_cast<std::size_t>(spec().row_bytes()));
    return;
  }
  if (one.has_value() && one->is_zero()) {
    const std::vector<Bits> sines(pairs, 0);
    const std::vector<Bits> cosines(pairs, static_cast<Bits>(rules_.factor.Rounded(kType)));
    PlaceRow(layout, pairs, sines.data(), cosines.data(), row);
    return;
  }
  if (RotateRow<kType>(pairs, scratch.anchor, turn, {row, layout, &out.behind()})) {
    SettleMarked(position, turn, scratch, row, stop);
  }
  // Where the sine has no phase the cosine is 1, and was that already.
  if (scratch.phases.beyond().empty() || FormOf(layout) == RowForm::kCosineOnly) return;
  SettleCounts counts;
  for (const std::int64_t i : scratch.phases.beyond()) {
    ++counts.settled;
    Place(i, Trig::kSine, SettleAlone(i, Trig::kSine, position, counts, stop), row);
    if (stop.stopped()) break;
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
  const RowForm form = FormOf(rules_.layout);
  const auto is_open = [&](std::int64_t i, Trig trig) {
    return trig == Trig::kSine ? scratch.sine_doubt[i] != 0 && form != RowForm::kCosineOnly
                               : scratch.cosine_doubt[i] != 0 && form != RowForm::kSineOnly;
  };
  // Twins may be at positions of their own.
  const bool has_twins = !twins_.empty() && position.one().has_value();
  const std::vector<std::int64_t>& beyond = scratch.phases.beyond();
  SettleCounts counts;
  for (std::int64_t i = 0; i < pairs; ++i) {
    if (has_twins && twins_[i] != i) continue;
    const auto stays_open = [&](Trig trig) {
      if (!is_open(i, trig)) return false;
      ++counts.settled;
      const auto bits = SettleTiny(phases_, rules_.factor, kType, trig, i, position[i]);
      if (bits.has_value()) Place(i, trig, *bits, row);
      return !bits.has_value();
    };
    const OpenPair open = {i, stays_open(Trig::kSine), stays_open(Trig::kCosine),
                           /*has_phase=*/!std::binary_search(beyond.begin(), beyond.end(), i)};
    if (open.sine || open.cosine) scratch.open.push_back(open);
    if (std::ssize(scratch.open) < PhaseBatch::kMost) continue;
    SettleBatch(position, scratch, counts, row, stop);
    if (stop.stopped()) break;
  }
  SettleBatch(position, scratch, counts, row, stop);
  for (std::int64_t i = 0; has_twins && i < pairs; ++i) {
    if (twins_[i] == i) continue;
    for (const Trig trig : {Trig::kSine, Trig::kCosine}) {
      if (!is_open(i, trig)) continue;
      ++counts.settled;
      Bits bits;
      const std::int64_t column = ColumnOf(rules_.layout, pairs, twins_[i], trig == Trig::kSine);
      std::memcpy(&bits, row + column * sizeof(Bits), sizeof(Bits));
      Place(i, trig, bits, row);
    }
  }
  Count(counts);
}

template <ElementType kType>
void SinusoidalTable<kType>::SettleBatch(const RowPosition& position, Scratch& scratch,
                                         SettleCounts& counts, std::byte* row,
                                         StopCheck& stop) const {
  const std::int64_t count = std::ssize(scratch.open);
  if (!scratch.row_is_base) {
    for (std::int64_t k = 0; k < count; ++k) {
      OpenPair& open = scratch.open[k];
      open.has_phase = scratch.batch.Take(k, phases_, open.pair, position[open.pair]);
    }
    scratch.batch.SinesCosines(count, scratch.settled[0]);
    if (is_amplified()) Amplify(count, scratch.settled[0]);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const OpenPair& open = scratch.open[k];
    const PhasePoint point =
        scratch.row_is_base
            ? PhasePoint{scratch.base[0].At(open.pair), scratch.phases.angle_error()[open.pair]}
            : PhasePoint{scratch.settled[0].At(k), scratch.batch.angle_error(k)};
    const auto settle = [&](Trig trig) {
      std::optional<std::uint64_t> bits;
      if (open.has_phase) bits = SettlePoint<kType>(point, trig);
      if (!bits.has_value()) bits = SettleAlone(open.pair, trig, position, counts, stop);
      Place(open.pair, trig, *bits, row);
    };
    if (open.sine) settle(Trig::kSine);
    if (open.cosine) settle(Trig::kCosine);
    if (stop.After(kCostOfPhase)) break;
  }
  scratch.open.clear();
}

template <ElementType kType>
std::uint64_t SinusoidalTable<kType>::SettleAlone(std::int64_t i, Trig trig,
                                                  const RowPosition& position, SettleCounts& counts,
                                                  StopCheck& stop) const {
  const std::int64_t costly = counts.costly;
  const std::uint64_t bits =
      Settle(ladder_, phases_, rules_.factor, kType, trig, i, position[i], counts);
  stop.After(kCostOfIntegers + (counts.costly - costly) * kCostOfMpfr);
  return bits;
}

template <ElementType kType>
void SinusoidalTable<kType>::Place(std::int64_t i, Trig trig, std::uint64_t bits,
                                   std::byte* row) const {
  PlaceElement(rules_.layout, ladder_.size(), i, trig == Trig::kSine, static_cast<Bits>(bits), row);
}

template <ElementType kType>
void SinusoidalTable<kType>::Count(const SettleCounts& counts) const {
  const auto add = [](std::int64_t count, std::atomic<std::int64_t>& sum) {
    if (count != 0) sum.fetch_add(count, std::memory_order_relaxed);
  };
  add(counts.settled, settled_elements_);
  add(counts.beyond_double_double, beyond_double_double_);
  add(counts.costly, costly_elements_);
}

template class SinusoidalTable<ElementType::kFloat32>;
template class SinusoidalTable<ElementType::kFloat64>;
template class SinusoidalTable<ElementType::kFloat16>;
template class SinusoidalTable<ElementType::kBfloat16>;

}  // namespace phasor
