#ifndef PHASOR_DIAGNOSE_COMPARISON_H_
#define PHASOR_DIAGNOSE_COMPARISON_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "phasor/diagnose/diagnosis.h"

namespace phasor::diagnose {

/// Every element of a table beside the right one.
struct Comparison {
  std::int64_t compared = 0;
  std::int64_t different = 0;
  std::optional<WrongElement> first;
  std::optional<WrongElement> largest;
  std::optional<WrongElement> first_not_finite;
  std::int64_t not_finite = 0;
  double largest_off = 0;  ///< as a difference of numbers, of finite ones
  /// Rows with an element that differs.
  std::int64_t different_rows = 0;
};

/// Compares with the table of `spec`, whose row width is that of `table`. Elements
/// are taken as spec.element_type() if they have no more bits than that.
///
/// **Errors**: those of `table.read`.
absl::StatusOr<Comparison> Compare(const CanonicalSpec& spec, const ObservedTable& table,
                                   const DiagnoseOptions& options);

}  // namespace phasor::diagnose

#endif  // PHASOR_DIAGNOSE_COMPARISON_H_
