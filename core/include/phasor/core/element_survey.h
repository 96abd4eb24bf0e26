#ifndef PHASOR_CORE_ELEMENT_SURVEY_H_
#define PHASOR_CORE_ELEMENT_SURVEY_H_

/// \file
/// What there is to know about elements that came from outside.

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "phasor/core/element_type.h"
#include "phasor/core/export.h"

namespace phasor {

/// Elements that are not numbers, and the largest one that is.
struct ElementSurvey {
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  double largest = 0;              ///< largest magnitude of a number, with its sign
  std::int64_t largest_index = 0;  ///< of the first element that has it
};

/// Looks at little-endian elements of `type`; `elements` has whole ones.
PHASOR_EXPORT ElementSurvey SurveyElements(ElementType type, absl::Span<const std::byte> elements);

/// Whether `value` is too large for `type`.
PHASOR_EXPORT bool RoundsToInfinity(ElementType type, double value);

}  // namespace phasor

#endif  // PHASOR_CORE_ELEMENT_SURVEY_H_
