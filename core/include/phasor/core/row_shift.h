#ifndef PHASOR_CORE_ROW_SHIFT_H_
#define PHASOR_CORE_ROW_SHIFT_H_

/// \file
/// Rows of a table from the rows a distance away, for many rows in several
/// calls.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "phasor/core/export.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"
#include "phasor/core/stop.h"

namespace phasor {

/// What ShiftRows does, with the rotations made once.
///
/// **Thread safety**: none; calls one after another.
class PHASOR_EXPORT RowShift {
 public:
  /// Cheap: rotations are made by Prepare.
  ///
  /// **Errors**: those of ShiftRows with (spec) and (by).
  static absl::StatusOr<RowShift> Create(const CanonicalSpec& spec, ShiftBy by);
  RowShift(RowShift&&) noexcept;
  ~RowShift();

  /// Makes the rotations, a microsecond or so each, going on where an earlier
  /// call was stopped. Once it has returned OK it does nothing.
  ///
  /// **Errors**: CANCELLED once `stop` says so; at least one rotation further.
  absl::Status Prepare(StopRequest stop);

  /// As ShiftRows. Prepares what is not yet prepared.
  ///
  /// **Errors**: those of ShiftRows with (rows) and (out); CANCELLED once
  /// `stop` says so, and then any part of `out` may be written or not: do not
  /// take it for the rows of another try when both are the same memory.
  absl::Status Apply(absl::Span<const std::byte> rows, absl::Span<std::byte> out,
                     std::int64_t first_row, StopRequest stop);

  /// Bytes held at most, once prepared.
  std::int64_t memory_bytes() const;
  /// Elements so far that double-double left open, and those of them that took
  /// arbitrary precision. As LocalTable's.
  std::int64_t settled_elements() const;
  std::int64_t costly_elements() const;

 private:
  class Rotations;
  RowShift(const CanonicalSpec& spec, ShiftBy by);

  CanonicalSpec spec_;
  ShiftBy by_;
  std::unique_ptr<Rotations> rotations_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_ROW_SHIFT_H_
