#ifndef PHASOR_MODULES_H_
#define PHASOR_MODULES_H_

/// \file
/// Position tables at work on the caller's own arrays, row-major.

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "phasor/core/errors.h"
#include "phasor/core/export.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"
#include "phasor/elements.h"
#include "phasor/table.h"

namespace phasor {

/// Adds a sinusoidal table's rows to activations: y = x + PE(offset + t), one
/// float32 addition an element. The table is fixed: there are no parameters,
/// and the gradient passes as it is.
///
/// **Performance**: as Table::Gather for one new token a sequence, else as
/// Table::ReadInto for each sequence; from memory almost always.
///
/// **Thread safety**: all methods may be called concurrently on different
/// arrays.
class PHASOR_EXPORT SinusoidalPE {
 public:
  /// **Errors**: INVALID_ARGUMENT (spec) if the table is not sinusoidal;
  /// (spec.element_type) if it is not FLOAT32.
  static absl::StatusOr<SinusoidalPE> Create(Table table);

  /// Adds rows offset ... offset+T-1 to `x`, [T, row_width], in place. T
  /// follows from the size of x.
  ///
  /// **Errors**: INVALID_ARGUMENT (x) if x is not whole rows; those of
  /// Table::Read. `x` is then unchanged.
  absl::Status Forward(absl::Span<float> x, std::int64_t offset = 0) const;

  /// Adds rows offsets[b] ... offsets[b]+T-1 to sequence b of `x`,
  /// [B, T, row_width], in place. B is the number of offsets.
  ///
  /// **Errors**: INVALID_ARGUMENT (x) if x is not whole rows of B sequences;
  /// OUT_OF_RANGE (offsets[b]); those of Table::Read. `x` is then unchanged.
  absl::Status Forward(absl::Span<float> x, absl::Span<const std::int64_t> offsets) const;

  /// Gradient of the input from the gradient of the output: the same numbers.
  absl::Span<float> Backward(absl::Span<float> grad_output) const { return grad_output; }

  /// What training may change: nothing.
  absl::Span<const absl::Span<float>> Parameters() const { return {}; }

  const Table& table() const { return table_; }

 private:
  explicit SinusoidalPE(Table table) : table_(std::move(table)) {}

  Table table_;
};

/// Turns the rows `pe`, [T, row_width], of the sinusoidal table `spec` into
/// the rows `k` positions on, in place and in this process: pair i is rotated
/// by -k * w_i, each element correctly rounded. k = 0 changes nothing.
///
/// **Errors**: INVALID_ARGUMENT (pe) if T does not stand for the spec's
/// element type; otherwise those of the ShiftRows on bytes (local_table.h).
/// `pe` is then unspecified.
template <Element T>
absl::Status ShiftRows(absl::Span<T> pe, ShiftBy k, const CanonicalSpec& spec) {
  if (ElementTypeOf<T>() != spec.element_type()) {
    return FieldError(absl::StatusCode::kInvalidArgument, "pe",
                      "the array's element type is not the table's");
  }
  return ShiftRows(spec, k, AsBytes(pe), AsBytes(pe));
}
/// The same for a spec that has not been checked; those errors come first.
template <Element T>
absl::Status ShiftRows(absl::Span<T> pe, ShiftBy k, const TableSpec& spec) {
  absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(spec);
  return canonical.ok() ? ShiftRows(pe, k, *canonical) : canonical.status();
}

/// Turns pair j of `pairs`, [n, 2] as x, y, by angles[j] radians in place:
/// (x cos a - y sin a, x sin a + y cos a), each correctly rounded.
///
/// **Errors**: those of the RotatePairs on bytes (local_table.h).
template <Element T>
absl::Status RotatePairs(absl::Span<T> pairs, absl::Span<const double> angles) {
  return RotatePairs(ElementTypeOf<T>(), angles, AsBytes(pairs));
}

}  // namespace phasor

#endif  // PHASOR_MODULES_H_
