#ifndef PHASOR_CORE_SINUSOIDAL_TABLE_H_
#define PHASOR_CORE_SINUSOIDAL_TABLE_H_

/// \file
/// Rows of sines and cosines.
///
/// Three stages, each only for what the one before left open: one rotation of
/// an anchor row (rotation_kernel.h), the fixed-point phase of the row itself
/// (phase.h), settling (settle.h). Elements that the first stage decides agree with
/// those of the others, as all are the correctly rounded ones: so the bits do
/// not depend on where a range starts.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/ladder.h"
#include "core/phase.h"
#include "core/position.h"
#include "core/rotation_kernel.h"
#include "core/rounding.h"
#include "core/settle.h"
#include "phasor/core/local_table.h"

namespace phasor {

/// The table of a Sinusoidal with elements of kType.
template <ElementType kType>
class SinusoidalTable final : public LocalTable {
 public:
  /// `spec` is of a Sinusoidal and of kType. Not to be used if `stop` stopped it.
  SinusoidalTable(CanonicalSpec spec, StopCheck& stop);

  std::int64_t memory_bytes() const override;
  std::int64_t settled_elements() const override {
    return settled_elements_.load(std::memory_order_relaxed);
  }
  std::int64_t costly_elements() const override {
    return costly_elements_.load(std::memory_order_relaxed);
  }

 private:
  using Bits = BitsOf<kType>;
  static constexpr bool kLowParts = kType == ElementType::kFloat64;
  // Stands in for a pair that double-double does not reach.
  static constexpr PhasePoint kRest = {{{0, 0}, {1, 0}}, 0};
  struct Scratch;

  const Sinusoidal& sinusoidal() const { return std::get<Sinusoidal>(spec().spec().scheme); }

  void DoRead(std::int64_t start, std::int64_t count, std::byte* out,
              StopCheck& stop) const override;
  void DoGather(absl::Span<const std::int64_t> positions, std::byte* out,
                StopCheck& stop) const override;
  void DoGather(absl::Span<const double> positions, std::byte* out, StopCheck& stop) const override;

  // All positions below are those after the offset.

  // Rows first ... first + count - 1, 1 <= count <= rows_: an anchor and its rotations.
  void Segment(std::int64_t first, std::int64_t count, Scratch& scratch, Anchor& anchor,
               std::byte* out, StopCheck& stop) const;
  // One row by its own phases; with `anchor`, keeps them for rotations.
  void DirectRow(Position position, Scratch& scratch, Anchor* anchor, StopCheck& stop) const;
  // Settles what Rotate() marked.
  void SettleMarked(Position position, Scratch& scratch, StopCheck& stop) const;
  // An element by itself.
  Bits Element(std::int64_t i, Trig trig, Position position, SettleCounts& counts) const;
  void Count(const SettleCounts& counts) const;
  // The first pair of the same frequency, whose elements are the same.
  std::int64_t TwinOf(std::int64_t i) const { return twins_.empty() ? i : twins_[i]; }
  void Place(Position position, const Scratch& scratch, std::byte* row) const;

  const FrequencyLadder ladder_;
  const PhaseLadder phases_;
  // Pairs below this index have phases, those from it on vanish.
  std::int64_t phased_pairs_ = 0;
  // Rotations r = 1 ... rows_ - 1: that of pair i stands at (r - 1) * pairs + i.
  const std::int64_t rows_;
  PairArrays rotations_;
  // Of each pair, over all rotations: the largest |sine|, the largest error of the angle.
  std::vector<double> largest_sin_;
  std::vector<double> angle_error_;
  // Of explicit ladders: strangers may give one hard frequency to all pairs.
  std::vector<std::int32_t> twins_;
  mutable std::atomic<std::int64_t> settled_elements_ = 0;
  mutable std::atomic<std::int64_t> costly_elements_ = 0;
};

}  // namespace phasor

#endif  // PHASOR_CORE_SINUSOIDAL_TABLE_H_
