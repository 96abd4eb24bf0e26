#include "core/number_text.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace phasor {
namespace {

// Long texts are cut: the message has to stay one readable line.
constexpr std::size_t kQuotedLength = 40;

absl::Status Refuse(absl::string_view text, absl::string_view why) {
  const bool cut = text.size() > kQuotedLength;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text.substr(0, kQuotedLength), cut ? "..." : "", "\" ", why));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether `text` is '-' or nothing, then a digit or a '.': from_chars by itself
// would read "inf" and "nan".
bool StartsAsNumber(absl::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() && (IsDigit(text.front()) || text.front() == '.');
}

bool HasNonZeroDigit(absl::string_view text) {
  for (char c : text) {
    if (c == 'e' || c == 'E') return false;
    if (c >= '1' && c <= '9') return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::int64_t> ParseInt64(absl::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc::result_out_of_range && result.ptr == end) {
    return Refuse(text, "does not fit a 64-bit integer");
  }
  if (result.ec != std::errc() || result.ptr != end) {
    return Refuse(text, "is not a decimal integer");
  }
  return value;
}

absl::StatusOr<double> ParseFloat64(absl::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  if (!StartsAsNumber(text)) return Refuse(text, "is not a decimal number");
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  const bool out_of_range = result.ec == std::errc::result_out_of_range;
  if ((result.ec != std::errc() && !out_of_range) || result.ptr != end) {
    return Refuse(text, "is not a decimal number");
  }
  // Libraries differ in whether they report these two or round silently.
  if (out_of_range || std::isinf(value) || (value == 0 && HasNonZeroDigit(text))) {
    return Refuse(text, "does not fit a binary64 number: its magnitude is too large or too small");
  }
  return value;
}

}  // namespace phasor
