#ifndef PHASOR_TABLE_H_
#define PHASOR_TABLE_H_

/// \file
/// An opened table.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/export.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"
#include "phasor/cursor.h"
#include "phasor/elements.h"
#include "phasor/rows.h"

namespace phasor {

class Table;

/// One table's share in a step of several: positions and where their rows go,
/// [positions.size(), row_width] elements. Refers to the caller's memory.
struct TableStep {
  template <Element T>
  TableStep(const Table& t, absl::Span<const std::int64_t> p, absl::Span<T> o)
      : table(&t), positions(p), out(AsBytes(o)), type(ElementTypeOf<T>()) {}

  const Table* table;
  absl::Span<const std::int64_t> positions;
  absl::Span<std::byte> out;
  ElementType type;
};

/// A table opened by Client::Open.
///
/// Rows are the same bits whoever computes them: row p of a long read, of a
/// short one, of a gather and of a cursor are equal, and so are those of a
/// server, of Client::Local and of Fallback::kComputeLocally.
///
/// **Performance**: copies are cheap and share the table's blocks. Reads of at
/// most one block (64 KiB to 1 MiB, at least 16 rows if they fit) come from
/// blocks shared with the cursors; longer ones go straight into the caller's
/// memory, as a stream, copied once. Gathers copy what is in those blocks, and
/// get all other rows by one call; a block of which rows are asked for again is
/// then fetched in the background, and so are the blocks after those that a
/// sequence walks through. Shifts are calls to the server. Calls are cut where
/// they are larger than one message.
///
/// **Thread safety**: all methods may be called concurrently.
///
/// **Errors**, of every method that reads, beside those it names:
///  - INVALID_ARGUMENT: an argument is wrong; FieldOf(status) names it.
///  - OUT_OF_RANGE: a row that does not exist; seen before anything is fetched.
///  - FAILED_PRECONDITION: the server's table is no longer the one opened.
///  - UNAVAILABLE: no server, or an overloaded one, until the timeout ended.
///  - DEADLINE_EXCEEDED: the timeout ended while the server was at work.
///  - DATA_LOSS: the server sent something that is not what was asked for.
/// Where a method writes to the caller's memory, its content after an error is
/// unspecified, and never written past its end.
class PHASOR_EXPORT Table {
 public:
  /// The table's specification, checked.
  const CanonicalSpec& spec() const;
  /// Names the table: 32 hex digits, the same on every server.
  const std::string& fingerprint() const;
  ElementType element_type() const { return spec().element_type(); }
  /// Elements in a row; not the width for every layout.
  std::int64_t row_width() const { return spec().row_width(); }
  std::int64_t row_bytes() const { return spec().row_bytes(); }

  /// Rows start ... start+count-1. Zero rows are valid at any start from the
  /// first position to one past the last.
  ///
  /// **Errors**: INVALID_ARGUMENT (row_count); OUT_OF_RANGE (start_position,
  /// row_count); RESOURCE_EXHAUSTED (row_count) for more than memory holds.
  absl::StatusOr<Rows> Read(std::int64_t start, std::int64_t count) const;

  /// The same into `out`: [count, row_width] elements, row-major.
  ///
  /// **Errors**: as Read; INVALID_ARGUMENT (out) for an element type that is
  /// not the table's or a size that is not count * row_width.
  template <Element T>
  absl::Status ReadInto(std::int64_t start, std::int64_t count, absl::Span<T> out) const {
    absl::Status status = CheckType(ElementTypeOf<T>(), "out");
    return status.ok() ? ReadInto(start, count, AsBytes(out)) : status;
  }
  /// The same as bytes: count * row_bytes of them, of any alignment.
  absl::Status ReadInto(std::int64_t start, std::int64_t count, absl::Span<std::byte> out) const;

  /// One row for each of `positions`, in that order; repeats and gaps allowed.
  /// One step of a batch of sequences, each at its own offset.
  ///
  /// **Errors**: OUT_OF_RANGE (positions[k]).
  absl::StatusOr<Rows> Gather(absl::Span<const std::int64_t> positions) const;
  /// The same into `out`, [positions.size(), row_width] elements.
  ///
  /// **Errors**: as above, and INVALID_ARGUMENT (out) as ReadInto.
  template <Element T>
  absl::Status Gather(absl::Span<const std::int64_t> positions, absl::Span<T> out) const {
    absl::Status status = CheckType(ElementTypeOf<T>(), "out");
    return status.ok() ? Gather(positions, AsBytes(out)) : status;
  }
  absl::Status Gather(absl::Span<const std::int64_t> positions, absl::Span<std::byte> out) const;

  /// One step of several tables of one client (a global and a local base, a
  /// scaling a sequence): what is not in memory is fetched at the same time, by
  /// one call a table. Tables may be repeated.
  ///
  /// **Errors**: as above, in steps[k]; INVALID_ARGUMENT (steps[k].table) for a
  /// table of another client.
  static absl::Status Gather(absl::Span<const TableStep> steps);

  /// As Gather, at real positions, each taken exactly; formula tables alone.
  ///
  /// **Errors**: INVALID_ARGUMENT (real_positions) for learned tables and
  /// relative_buckets, (real_positions[k]) for a position that is not finite; OUT_OF_RANGE
  /// (real_positions[k]).
  absl::StatusOr<Rows> GatherReal(absl::Span<const double> positions) const;
  template <Element T>
  absl::Status GatherReal(absl::Span<const double> positions, absl::Span<T> out) const {
    absl::Status status = CheckType(ElementTypeOf<T>(), "out");
    return status.ok() ? GatherReal(positions, AsBytes(out)) : status;
  }
  absl::Status GatherReal(absl::Span<const double> positions, absl::Span<std::byte> out) const;

  /// One row for each spec().axes() of `positions`, one position an axis
  /// (Rotary::mrope_section): [rows, axes], row-major.
  ///
  /// **Errors**: as Gather; INVALID_ARGUMENT (positions) for a number of them
  /// that is not whole rows.
  absl::StatusOr<Rows> GatherAxes(absl::Span<const std::int64_t> positions) const;
  template <Element T>
  absl::Status GatherAxes(absl::Span<const std::int64_t> positions, absl::Span<T> out) const {
    absl::Status status = CheckType(ElementTypeOf<T>(), "out");
    return status.ok() ? GatherAxes(positions, AsBytes(out)) : status;
  }
  absl::Status GatherAxes(absl::Span<const std::int64_t> positions,
                          absl::Span<std::byte> out) const;
  /// As GatherAxes, at real positions.
  ///
  /// **Errors**: as above (real_positions).
  absl::StatusOr<Rows> GatherRealAxes(absl::Span<const double> positions) const;
  absl::Status GatherRealAxes(absl::Span<const double> positions, absl::Span<std::byte> out) const;

  /// Turns rows of this table, a sinusoidal or rotary one, into the rows `by`
  /// positions on: pair i is rotated by -by * w_i. Each element is the
  /// correctly rounded value of the exact rotation of the numbers given, which
  /// were rounded before, so it need not be the bits of the row itself.
  /// `Shift(rows, 3)` shifts by whole positions, `Shift(rows, 0.5)` by a real
  /// number, taken exactly. phasor::ShiftRows (modules.h) asks no server.
  ///
  /// **Errors**: INVALID_ARGUMENT (spec) for tables without pairs or with one
  /// half of them, (by) for a number that is not finite, (data) for rows that
  /// are not whole, hold NaN or infinity, or copies that differ; OUT_OF_RANGE
  /// (data) if an element would round to an infinity.
  absl::StatusOr<Rows> Shift(const Rows& rows, ShiftBy by) const;
  /// The same from `rows` to `out`, which may be the same memory.
  ///
  /// **Errors**: as above, and INVALID_ARGUMENT (out) as ReadInto.
  template <Element T>
  absl::Status Shift(absl::Span<const T> rows, ShiftBy by, absl::Span<T> out) const {
    absl::Status status = CheckType(ElementTypeOf<T>(), "data");
    return status.ok() ? Shift(AsBytes(rows), by, AsBytes(out)) : status;
  }
  absl::Status Shift(absl::Span<const std::byte> rows, ShiftBy by, absl::Span<std::byte> out) const;

  /// The angular frequencies w_i, i = 0 ... width/2-1, radians per position,
  /// each correctly rounded.
  ///
  /// **Errors**: INVALID_ARGUMENT (spec) for tables without frequencies.
  absl::StatusOr<std::vector<double>> Frequencies() const;

  /// A cursor whose first row is the one at `offset`. Fetches nothing yet.
  Cursor Decode(std::int64_t offset = 0) const { return Cursor(table_, offset); }

 private:
  friend class Client;
  explicit Table(std::shared_ptr<const internal::OpenTable> table) : table_(std::move(table)) {}

  absl::Status CheckType(ElementType asked, absl::string_view field) const;
  template <typename T>
  PHASOR_HIDDEN absl::Status GatherRows(absl::Span<const T> positions, std::int64_t axes,
                                        absl::Span<std::byte> out) const;
  template <typename T>
  PHASOR_HIDDEN absl::StatusOr<Rows> GatherRows(absl::Span<const T> positions,
                                                std::int64_t axes) const;

  std::shared_ptr<const internal::OpenTable> table_;
};

}  // namespace phasor

#endif  // PHASOR_TABLE_H_
