#ifndef PHASOR_CORE_FIELD_CHECK_H_
#define PHASOR_CORE_FIELD_CHECK_H_

/// \file
/// Checks of fields that several schemes have. `field` is the field's path.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "phasor/core/sinusoidal.h"

namespace phasor {

/// INVALID_ARGUMENT about a field.
absl::Status Invalid(absl::string_view field, absl::string_view what);

/// The shortest decimals that read back to the same number.
std::string Text(double value);

/// Whether low <= value <= high; NaN is nowhere.
constexpr bool IsBetween(double low, double value, double high) {
  return low <= value && value <= high;
}

/// 1 ... kMaxWidth, even and above 1 where it counts pairs.
absl::Status CheckWidth(absl::string_view field, std::int64_t width, bool pairs);

/// Checks a base and fills in its default. `given`: the frequencies are, or they
/// come from something else, so that there must be no base.
absl::Status CheckBase(absl::string_view field, std::optional<double>& base, bool given);

absl::Status CheckLayout(absl::string_view field, Layout layout);

/// One frequency a pair, each in range.
absl::Status CheckFrequencies(absl::string_view field, const ExplicitLadder& ladder,
                              std::int64_t pairs);

}  // namespace phasor

#endif  // PHASOR_CORE_FIELD_CHECK_H_
