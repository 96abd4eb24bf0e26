#ifndef PHASOR_ROWS_H_
#define PHASOR_ROWS_H_

/// \file
/// Rows of a table in memory of their own.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "phasor/core/element_type.h"
#include "phasor/core/export.h"
#include "phasor/elements.h"

namespace phasor {

/// Rows that Table handed out: [row_count, row_width] elements, row-major.
///
/// **Lifetime**: owns its memory. Copies share it, and it is never written to,
/// so a span taken from one copy lives as long as any copy does.
///
/// **Thread safety**: immutable.
class PHASOR_EXPORT Rows {
 public:
  /// No rows.
  Rows() = default;

  std::int64_t row_count() const { return row_count_; }
  /// Elements in a row; not the width for every layout.
  std::int64_t row_width() const { return row_width_; }
  ElementType element_type() const { return element_type_; }

  /// Row number `i` of these, counted from 0: row_width() elements.
  ///
  /// **Errors**: INVALID_ARGUMENT (T) if T does not stand for element_type();
  /// OUT_OF_RANGE (i).
  template <Element T>
  absl::StatusOr<absl::Span<const T>> row(std::int64_t i) const {
    absl::Status status = CheckType(ElementTypeOf<T>());
    if (status.ok()) status = CheckRow(i);
    if (!status.ok()) return status;
    return absl::MakeConstSpan(elements<T>() + i * row_width_, row_width_);
  }

  /// All elements: row_count() * row_width() of them.
  ///
  /// **Errors**: INVALID_ARGUMENT (T) if T does not stand for element_type().
  template <Element T>
  absl::StatusOr<absl::Span<const T>> values() const {
    absl::Status status = CheckType(ElementTypeOf<T>());
    if (!status.ok()) return status;
    return absl::MakeConstSpan(elements<T>(), row_count_ * row_width_);
  }

  /// The same as bytes, little-endian.
  absl::Span<const std::byte> bytes() const {
    return {data_.get(), static_cast<std::size_t>(row_count_ * row_width_) *
                             static_cast<std::size_t>(ElementBytes(element_type_))};
  }

 private:
  friend class Table;
  Rows(std::shared_ptr<const std::byte[]> data, std::int64_t row_count, std::int64_t row_width,
       ElementType element_type)
      : data_(std::move(data)),
        row_count_(row_count),
        row_width_(row_width),
        element_type_(element_type) {}

  template <Element T>
  const T* elements() const {
    return reinterpret_cast<const T*>(data_.get());
  }
  absl::Status CheckType(ElementType asked) const;
  absl::Status CheckRow(std::int64_t i) const;

  std::shared_ptr<const std::byte[]> data_;
  std::int64_t row_count_ = 0;
  std::int64_t row_width_ = 0;
  ElementType element_type_ = ElementType::kFloat32;
};

}  // namespace phasor

#endif  // PHASOR_ROWS_H_
