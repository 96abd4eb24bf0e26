#ifndef PHASOR_DIAGNOSE_SAMPLE_H_
#define PHASOR_DIAGNOSE_SAMPLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "phasor/diagnose/diagnosis.h"

namespace phasor::diagnose {

/// Some rows of a table, as numbers: the first ones, neighbours at growing
/// distances, and the last ones.
struct Sample {
  std::vector<std::int64_t> rows;       ///< ascending
  std::vector<std::int64_t> positions;  ///< the same, as positions
  std::int64_t columns = 0;
  std::vector<double> values;  ///< [rows, columns]
  /// Rows that are all zero, and rows with NaN or infinities: not among `rows`.
  std::vector<std::int64_t> zero_rows;
  ElementType type = ElementType::kFloat32;  ///< as Diagnosis::element_type

  const double* Row(std::size_t k) const {
    return values.data() + static_cast<std::int64_t>(k) * columns;
  }
};

/// **Errors**: those of `table.read`.
absl::StatusOr<Sample> TakeSample(const ObservedTable& table, std::int64_t start);

/// Significant bits of an element type.
int PrecisionOf(ElementType type);

}  // namespace phasor::diagnose

#endif  // PHASOR_DIAGNOSE_SAMPLE_H_
