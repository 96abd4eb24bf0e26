#include "core/field_check.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "phasor/core/errors.h"

namespace phasor {

absl::Status Invalid(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, what);
}

std::string Text(double value) {
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

absl::Status CheckWidth(absl::string_view field, std::int64_t width, bool pairs) {
  if (width >= 1 && width <= kMaxWidth && !(pairs && width % 2 != 0)) return absl::OkStatus();
  return Invalid(field, absl::StrCat(width, " is not ", pairs ? "an even" : "a", " number in ",
                                     pairs ? 2 : 1, " ... ", kMaxWidth));
}

absl::Status CheckBase(absl::string_view field, std::optional<double>& base, bool given) {
  if (!base.has_value()) {
    if (!given) base = kDefaultBase;
    return absl::OkStatus();
  }
  if (given) {
    return Invalid(field,
                   absl::StrCat(Text(*base), " has no meaning beside such a ladder; leave it out"));
  }
  if (IsBetween(std::nextafter(1.0, 2.0), *base, kMaxBase)) return absl::OkStatus();
  return Invalid(field, absl::StrCat(Text(*base), " is not above 1 and at most 2^64"));
}

absl::Status CheckLayout(absl::string_view field, Layout layout) {
  if (!LayoutName(layout).empty()) return absl::OkStatus();
  return Invalid(field, absl::StrCat(static_cast<int>(layout), " is no known layout"));
}

absl::Status CheckFrequencies(absl::string_view field, const ExplicitLadder& ladder,
                              std::int64_t pairs) {
  if (static_cast<std::int64_t>(ladder.frequencies.size()) != pairs) {
    return Invalid(field, absl::StrCat(ladder.frequencies.size(), " values given, exactly ", pairs,
                                       " (width/2) are needed"));
  }
  for (std::size_t i = 0; i < ladder.frequencies.size(); ++i) {
    const double w = ladder.frequencies[i];
    if (w == 0 || IsBetween(kMinAbsFrequency, std::abs(w), kMaxAbsFrequency)) continue;
    return Invalid(absl::StrCat(field, "[", i, "]"),
                   absl::StrCat(Text(w), " is neither 0 nor of a magnitude in 2^-64 ... 2^32"));
  }
  return absl::OkStatus();
}

}  // namespace phasor
