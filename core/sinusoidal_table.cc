#include "core/sinusoidal_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/layout.h"
#include "core/real.h"
#include "core/stop_check.h"

namespace phasor {
namespace {

// Enough rows to make anchors cheap, few enough for their rotations to stay in
// the second-level cache.
std::int64_t RowsPerAnchor(std::int64_t pairs) {
  constexpr std::int64_t kRotations = 8192;
  const std::int64_t rows = std::clamp<std::int64_t>(kRotations / pairs, 8, 256);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows)));
}

PhaseLadder MakePhases(const FrequencyLadder& ladder, StopCheck& stop) {
  const MpfrScope scope;
  return {ladder, stop};
}

std::vector<std::int32_t> TwinsOf(const Sinusoidal& spec) {
  const auto* ladder = std::get_if<ExplicitLadder>(&spec.ladder);
  if (ladder == nullptr) return {};
  absl::flat_hash_map<double, std::int32_t> first;
  std::vector<std::int32_t> twins;
  for (const double w : ladder->frequencies) {
    const auto i = static_cast<std::int32_t>(twins.size());
    twins.push_back(first.emplace(w, i).first->second);
  }
  return twins;
}

// For StopCheck: of one rotation made at opening, of one rotated pair, of an
// element by its phase.
constexpr std::int64_t kCostOfTurn = 80;
constexpr std::int64_t kCostOfRotation = 2;
constexpr std::int64_t kCostOfPhase = 200;

}  // namespace

template <ElementType kType>
struct SinusoidalTable<kType>::Scratch {
  explicit Scratch(std::int64_t pairs) : sines(pairs), cosines(pairs), doubt(pairs) {}
  std::vector<Bits> sines;
  std::vector<Bits> cosines;
  std::vector<Bits> doubt;
};

template <ElementType kType>
SinusoidalTable<kType>::SinusoidalTable(CanonicalSpec spec, StopCheck& stop)
    : LocalTable(std::move(spec)),
      ladder_(sinusoidal()),
      phases_(MakePhases(ladder_, stop)),
      rows_(RowsPerAnchor(ladder_.size())),
      rotations_((rows_ - 1) * ladder_.size(), kLowParts),
      largest_sin_(ladder_.size()),
      angle_error_(ladder_.size()) {
  const std::int64_t pairs = ladder_.size();
  twins_ = TwinsOf(sinusoidal());
  while (phased_pairs_ < pairs && !phases_.is_vanishing(phased_pairs_)) ++phased_pairs_;
  std::vector<SinCos> turns(rows_);
  for (std::int64_t i = 0; i < pairs; ++i) {
    // A vanishing pair rests: cosine 1, its sine set row by row.
    turns[1] = phases_.At(i, {1, 0}).value_or(kRest).value;
    FillTurns(absl::MakeSpan(turns));
    for (std::int64_t r = 1; r < rows_; ++r) {
      rotations_.Set((r - 1) * pairs + i, turns[r]);
      largest_sin_[i] = std::max(largest_sin_[i], std::abs(turns[r].sin.hi));
    }
    angle_error_[i] = phases_.At(i, {rows_, 0}).value_or(kRest).angle_error;
    if (stop.After(rows_ * kCostOfTurn)) return;
  }
}

template <ElementType kType>
std::int64_t SinusoidalTable<kType>::memory_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this)) +
         static_cast<std::int64_t>(spec().text().size()) + ladder_.memory_bytes() +
         phases_.memory_bytes() + rotations_.memory_bytes() +
         static_cast<std::int64_t>((largest_sin_.capacity() + angle_error_.capacity()) *
                                   sizeof(double)) +
         static_cast<std::int64_t>(twins_.capacity() * sizeof(std::int32_t));
}

template <ElementType kType>
void SinusoidalTable<kType>::DoRead(std::int64_t start, std::int64_t count, std::byte* out,
                                    StopCheck& stop) const {
  Scratch scratch(ladder_.size());
  Anchor anchor(ladder_.size(), kLowParts);
  std::int64_t first = start + sinusoidal().position_offset;
  while (count > 0) {
    std::int64_t rows = std::min(count, rows_);
    // Row 0 is exact: it starts a segment, no rotation leads to it.
    if (first < 0) rows = std::min(rows, -first);
    Segment(first, rows, scratch, anchor, out, stop);
    if (stop.After(rows * ladder_.size() * kCostOfRotation)) return;
    first += rows;
    count -= rows;
    out += rows * spec().row_bytes();
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::DoGather(absl::Span<const std::int64_t> positions, std::byte* out,
                                      StopCheck& stop) const {
  Scratch scratch(ladder_.size());
  for (const std::int64_t p : positions) {
    const Position position{p + sinusoidal().position_offset, 0};
    DirectRow(position, scratch, nullptr, stop);
    if (stop.stopped()) return;
    Place(position, scratch, out);
    out += spec().row_bytes();
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::DoGather(absl::Span<const double> positions, std::byte* out,
                                      StopCheck& stop) const {
  Scratch scratch(ladder_.size());
  for (const double p : positions) {
    const Position position = MakePosition(p, sinusoidal().position_offset);
    DirectRow(position, scratch, nullptr, stop);
    if (stop.stopped()) return;
    Place(position, scratch, out);
    out += spec().row_bytes();
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::Segment(std::int64_t first, std::int64_t count, Scratch& scratch,
                                     Anchor& anchor, std::byte* out, StopCheck& stop) const {
  const std::int64_t pairs = ladder_.size();
  DirectRow({first, 0}, scratch, count > 1 ? &anchor : nullptr, stop);
  if (stop.stopped()) return;
  Place({first, 0}, scratch, out);
  for (std::int64_t r = 1; r < count; ++r) {
    const Position position{first + r, 0};
    out += spec().row_bytes();
    if (Rotate<kType>(anchor, rotations_, (r - 1) * pairs, scratch.sines.data(),
                      scratch.cosines.data(), scratch.doubt.data())) {
      SettleMarked(position, scratch, stop);
    }
    SettleCounts counts;
    for (std::int64_t i = phased_pairs_; i < pairs; ++i) {
      scratch.sines[i] = Element(i, Trig::kSine, position, counts);
      stop.After(kCostOfPhase);
    }
    Count(counts);
    if (stop.stopped()) return;
    Place(position, scratch, out);
  }
}

template <ElementType kType>
void SinusoidalTable<kType>::DirectRow(Position position, Scratch& scratch, Anchor* anchor,
                                       StopCheck& stop) const {
  const std::int64_t pairs = ladder_.size();
  SettleCounts counts;
  const auto settle = [&](std::int64_t i, Trig trig) {
    ++counts.settled;
    const std::int64_t twin = TwinOf(i);
    if (twin != i) return trig == Trig::kSine ? scratch.sines[twin] : scratch.cosines[twin];
    return Element(i, trig, position, counts);
  };
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::optional<PhasePoint> phase = phases_.At(i, position);
    const PhasePoint point = phase.value_or(kRest);
    std::optional<Bits> sine;
    std::optional<Bits> cosine;
    if (phase.has_value()) {
      sine = DecideBits<kType>(point.value.sin, point.sin_error());
      cosine = DecideBits<kType>(point.value.cos, point.cos_error());
    }
    scratch.sines[i] = sine.has_value() ? *sine : settle(i, Trig::kSine);
    scratch.cosines[i] = cosine.has_value() ? *cosine : settle(i, Trig::kCosine);
    if (stop.After(kCostOfPhase)) break;
    if (anchor == nullptr) continue;
    anchor->pairs.Set(i, point.value);
    const double s = std::abs(point.value.sin.hi);
    const double c = std::abs(point.value.cos.hi);
    // The angles' own errors count where the rotation is as precise as they are.
    const double angle = kLowParts ? 2 * (point.angle_error + angle_error_[i]) : 0;
    anchor->sin_error[i] = kRotationError<kType> * (s + c * largest_sin_[i]) + angle;
    anchor->cos_error[i] = kRotationError<kType> * (c + s * largest_sin_[i]) + angle;
  }
  Count(counts);
}

template <ElementType kType>
void SinusoidalTable<kType>::SettleMarked(Position position, Scratch& scratch,
                                          StopCheck& stop) const {
  SettleCounts counts;
  for (std::int64_t i = 0; i < ladder_.size(); ++i) {
    const Bits marks = scratch.doubt[i];
    if (marks == 0) continue;
    counts.settled += std::popcount(marks);
    if (const std::int64_t twin = TwinOf(i); twin != i) {
      scratch.sines[i] = scratch.sines[twin];
      scratch.cosines[i] = scratch.cosines[twin];
      continue;
    }
    if ((marks & kSineInDoubt) != 0) scratch.sines[i] = Element(i, Trig::kSine, position, counts);
    if ((marks & kCosineInDoubt) != 0) {
      scratch.cosines[i] = Element(i, Trig::kCosine, position, counts);
    }
    if (stop.After(kCostOfPhase)) break;
  }
  Count(counts);
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

template <ElementType kType>
void SinusoidalTable<kType>::Place(Position position, const Scratch& scratch,
                                   std::byte* row) const {
  if (position.is_integer() && sinusoidal().zero_row == position.integer) {
    std::memset(row, 0, static_cast<std::size_t>(spec().row_bytes()));
    return;
  }
  PlaceRow(sinusoidal().layout, ladder_.size(), scratch.sines.data(), scratch.cosines.data(), row);
}

template class SinusoidalTable<ElementType::kFloat32>;
template class SinusoidalTable<ElementType::kFloat64>;
template class SinusoidalTable<ElementType::kFloat16>;
template class SinusoidalTable<ElementType::kBfloat16>;

}  // namespace phasor
