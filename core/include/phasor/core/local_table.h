#ifndef PHASOR_CORE_LOCAL_TABLE_H_
#define PHASOR_CORE_LOCAL_TABLE_H_

/// \file
/// Tables computed in this process.
///
/// Every element is the real value of its formula (spec.h), rounded once to
/// the element type, to nearest, ties to even: the same bits on every machine,
/// whatever was read before, alone or inside a block. The caller's
/// floating-point environment (rounding mode, flush-to-zero) neither changes
/// the bits nor is changed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "phasor/core/export.h"
#include "phasor/core/spec.h"
#include "phasor/core/stop.h"

namespace phasor {

class StopCheck;

/// How far a shift goes: positions, or a binary64 taken exactly.
using ShiftBy = std::variant<std::int64_t, double>;

/// An opened table. Opening computes the frequencies and what makes ranges
/// fast (memory_bytes() of it); reading computes rows, nothing is kept.
///
/// **Thread safety**: immutable; all methods may be called concurrently.
class PHASOR_EXPORT LocalTable {
 public:
  /// **Range**: not for a LearnedTable, which cannot be computed.
  static std::shared_ptr<const LocalTable> Create(CanonicalSpec spec);
  /// The same for callers that may want to stop: opening the widest tables
  /// takes tens of milliseconds.
  ///
  /// **Errors**: CANCELLED once `stop` says so; NOT_FOUND
  /// (spec.learned_table.name) for a LearnedTable, see stored_table.h.
  static absl::StatusOr<std::shared_ptr<const LocalTable>> Open(CanonicalSpec spec,
                                                                StopRequest stop);
  virtual ~LocalTable() = default;

  const CanonicalSpec& spec() const { return spec_; }

  /// Writes rows start ... start+count-1 to `out`: [count, row_width] elements,
  /// row-major; `out` must be count * row_bytes bytes, with no alignment asked.
  ///
  /// **Errors**: those of CanonicalSpec::CheckRange, before anything is
  /// written; INVALID_ARGUMENT (out) for a buffer of another size; CANCELLED
  /// once `stop` says so, and then any part of `out` may be written or not.
  absl::Status ReadInto(std::int64_t start, std::int64_t count, absl::Span<std::byte> out,
                        StopRequest stop = NeverStop) const;

  /// Writes one row for each of `positions`, in that order; repeats allowed.
  ///
  /// **Errors**: OUT_OF_RANGE (positions[k]), before anything is written;
  /// CANCELLED as ReadInto.
  absl::Status GatherInto(absl::Span<const std::int64_t> positions, absl::Span<std::byte> out,
                          StopRequest stop = NeverStop) const;
  /// The same at real positions, each taken exactly. Refused for learned
  /// tables (INVALID_ARGUMENT, real_positions), as is a position that is not
  /// finite.
  absl::Status GatherInto(absl::Span<const double> positions, absl::Span<std::byte> out,
                          StopRequest stop = NeverStop) const;

  /// Writes one row for each spec().axes() of `positions`, one position an axis
  /// (Rotary::mrope_section): [rows, axes], row-major.
  ///
  /// **Errors**: as GatherInto; INVALID_ARGUMENT (positions, real_positions) for
  /// a number that is no multiple of the axes'.
  absl::Status GatherAxesInto(absl::Span<const std::int64_t> positions, absl::Span<std::byte> out,
                              StopRequest stop = NeverStop) const;
  absl::Status GatherAxesInto(absl::Span<const double> positions, absl::Span<std::byte> out,
                              StopRequest stop = NeverStop) const;

  /// Bytes held, this object included.
  virtual std::int64_t memory_bytes() const = 0;
  /// Elements so far whose rounding the fast kernel left open and a slower
  /// stage settled, within a microsecond each. For metrics.
  virtual std::int64_t settled_elements() const = 0;
  /// Those of them that took arbitrary precision, tens of microseconds each.
  /// Hardly any ever does: a number that grows is worth a look at the spec.
  virtual std::int64_t costly_elements() const = 0;

 protected:
  explicit LocalTable(CanonicalSpec spec) : spec_(std::move(spec)) {}
  /// As above, with arguments already checked. They count their work in `stop`
  /// and return early once it has stopped.
  virtual void DoRead(std::int64_t start, std::int64_t count, std::byte* out,
                      StopCheck& stop) const = 0;
  /// `positions` are [rows, axes], axes being 1 or spec().axes().
  virtual void DoGather(absl::Span<const std::int64_t> positions, std::int64_t axes, std::byte* out,
                        StopCheck& stop) const = 0;
  virtual void DoGather(absl::Span<const double> positions, std::int64_t axes, std::byte* out,
                        StopCheck& stop) const = 0;

 private:
  template <typename T>
  PHASOR_HIDDEN absl::Status Gather(absl::Span<const T> positions, std::int64_t axes,
                                    absl::Span<std::byte> out, StopRequest stop) const;

  CanonicalSpec spec_;
};

/// The angular frequencies w_i, i = 0 ... width/2-1, radians per position,
/// each correctly rounded to binary64.
///
/// **Errors**: INVALID_ARGUMENT (spec) for tables without frequencies;
/// CANCELLED once `stop` says so.
PHASOR_EXPORT absl::StatusOr<std::vector<double>> Frequencies(const CanonicalSpec& spec,
                                                              StopRequest stop = NeverStop);

/// Turns rows of a table of pairs into the rows `by` positions on: pair i is
/// rotated by -by * w_i. `rows` and `out` are [n, row_width] elements of the
/// spec's type and layout, and may be the same memory. Each element is the
/// correctly rounded value of the exact rotation of the numbers given (not the
/// bits of the row itself: those given were rounded before). by = 0 gives the
/// rows back bit for bit.
///
/// **Errors**: INVALID_ARGUMENT (spec) for tables without pairs and one-half
/// layouts; (rows) for a size that is not whole rows, duplicated layouts whose
/// copies differ, NaN or infinity (naming row and column); (by) if not finite.
/// OUT_OF_RANGE (rows) if an element would round to an infinity. `out` is then
/// unspecified. Errors count rows from `first_row`, for rows that are a part of
/// more.
PHASOR_EXPORT absl::Status ShiftRows(const CanonicalSpec& spec, ShiftBy by,
                                     absl::Span<const std::byte> rows, absl::Span<std::byte> out,
                                     std::int64_t first_row = 0);

/// Turns pair j of `pairs` ([n, 2] elements: x, y) by angles[j] radians:
/// (x cos a - y sin a, x sin a + y cos a), each correctly rounded.
///
/// **Errors**: as ShiftRows, with (pairs) and (angles); (type) for kInt32.
PHASOR_EXPORT absl::Status RotatePairs(ElementType type, absl::Span<const double> angles,
                                       absl::Span<std::byte> pairs);

}  // namespace phasor

#endif  // PHASOR_CORE_LOCAL_TABLE_H_
