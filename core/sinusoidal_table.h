#ifndef PHASOR_CORE_SINUSOIDAL_TABLE_H_
#define PHASOR_CORE_SINUSOIDAL_TABLE_H_

/// \file
/// Rows of sines and cosines.
///
/// One rotation of an anchor row (rotation_kernel.h), and settling by its own
/// exact phase (settle.h) for each element that this leaves open. Elements that
/// the first stage decides agree with those of the second, as all are the
/// correctly rounded ones: so the bits do not depend on where a range starts.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/ladder.h"
#include "core/pair_rows.h"
#include "core/pair_rules.h"
#include "core/phase.h"
#include "core/position.h"
#include "core/rounding.h"
#include "core/row_writer.h"
#include "core/settle.h"
#include "phasor/core/local_table.h"

namespace phasor {

/// The table of a scheme of pairs (PairRulesOf) with elements of kType, of even width.
template <ElementType kType>
class SinusoidalTable final : public LocalTable {
 public:
  /// `spec` is of such a scheme and of kType. Not to be used if `stop` stopped it.
  /// `extra_error` is added to the first stage's bound, and changes no bits: for
  /// tests, an infinity puts every element in doubt.
  SinusoidalTable(CanonicalSpec spec, StopCheck& stop, double extra_error = 0);

  std::int64_t memory_bytes() const override;
  std::int64_t settled_elements() const override {
    return settled_elements_.load(std::memory_order_relaxed);
  }
  std::int64_t costly_elements() const override {
    return costly_elements_.load(std::memory_order_relaxed);
  }
  /// Those of the settled ones that double-double left open.
  std::int64_t beyond_double_double() const {
    return beyond_double_double_.load(std::memory_order_relaxed);
  }

 private:
  using Bits = BitsOf<kType>;
  static constexpr bool kLowParts = kType == ElementType::kFloat64;
  struct Scratch;

  bool is_amplified() const { return !rules_.factor.is_one(); }

  void DoRead(std::int64_t start, std::int64_t count, std::byte* out,
              StopCheck& stop) const override;
  void DoGather(absl::Span<const std::int64_t> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;
  void DoGather(absl::Span<const double> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;

  // A position after the offset.
  Position Placed(std::int64_t position) const;
  Position Placed(double position) const;
  // One row for each `axes` positions.
  template <typename T>
  void GatherPlaced(absl::Span<const T> positions, std::int64_t axes, std::byte* out,
                    StopCheck& stop) const;

  // All positions below are those after the offset.

  // Rows first ... first + count - 1, 1 <= count <= rows_ * anchors_, all from one base.
  void Segment(std::int64_t first, std::int64_t count, Scratch& scratch, RowWriter& out,
               StopCheck& stop) const;
  // One row by its own phases.
  void DirectRow(const RowPosition& position, Scratch& scratch, RowWriter& out,
                 StopCheck& stop) const;
  // Sets the base, whose angles take on `angle_error` by rotations (null: none).
  void SetBase(const RowPosition& position, const double* angle_error, Scratch& scratch,
               StopCheck& stop) const;
  // Multiplies `pairs` pairs by the factor.
  void Amplify(std::int64_t pairs, const MutablePairRow& row) const;
  // The anchor that is the base rotated by `stride`; its rows' rotations are as
  // `largest_sin` says (null: by nothing).
  void SetAnchor(const PairRow& stride, const double* largest_sin, Scratch& scratch) const;
  // The row that is the anchor rotated by `turn`, the next one of `out`.
  void Row(const RowPosition& position, const PairRow& turn, Scratch& scratch, RowWriter& out,
           StopCheck& stop) const;
  // Settles what RotateRow() left open.
  void SettleMarked(const RowPosition& position, const PairRow& turn, Scratch& scratch,
                    std::byte* row, StopCheck& stop) const;
  // Settles what is open, and clears it.
  void SettleBatch(const RowPosition& position, Scratch& scratch, SettleCounts& counts,
                   std::byte* row, StopCheck& stop) const;
  // By the stages after double-double.
  std::uint64_t SettleAlone(std::int64_t i, Trig trig, const RowPosition& position,
                            SettleCounts& counts, StopCheck& stop) const;
  void Place(std::int64_t i, Trig trig, std::uint64_t bits, std::byte* row) const;
  void Count(const SettleCounts& counts) const;

  const PairRules rules_;
  const FrequencyLadder ladder_;
  const PhaseLadder phases_;
  const double extra_error_;
  // A base has anchors_ anchors, an anchor rows_ rows.
  const std::int64_t rows_;
  const std::int64_t anchors_;
  // Rotations from an anchor, r = 0 ... rows_ - 1, and from a base, by multiples of rows_.
  PairRows rotations_;
  PairRows strides_;
  // Of each pair, over all rotations: the largest |sine| from an anchor, the largest
  // error of the angle. Vectors read past their ends.
  std::vector<double> largest_sin_;
  std::vector<double> angle_error_;
  // Of explicit ladders, where strangers may give one hard frequency to all pairs: the
  // first pair of the same frequency.
  const std::vector<std::int32_t> twins_;
  mutable std::atomic<std::int64_t> settled_elements_ = 0;
  mutable std::atomic<std::int64_t> beyond_double_double_ = 0;
  mutable std::atomic<std::int64_t> costly_elements_ = 0;
};

}  // namespace phasor

#endif  // PHASOR_CORE_SINUSOIDAL_TABLE_H_
