#ifndef PHASOR_CORE_NUMBER_TEXT_H_
#define PHASOR_CORE_NUMBER_TEXT_H_

/// \file
/// Numbers that people write: on a command line, in a file of positions.
///
/// Strict: the whole text is one decimal number and its value fits the type.
/// Nothing is clamped, skipped or guessed: no white space, no leading '+', no
/// hexadecimal or octal (010 is ten), no "inf" or "nan".

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace phasor {

/// Reads an integer: '-' or nothing, then decimal digits.
///
/// **Errors**: INVALID_ARGUMENT, with a message that quotes the text and says
/// what is wrong, for example `"12x" is not a decimal integer`.
absl::StatusOr<std::int64_t> ParseInt64(absl::string_view text);

/// Reads a real number, rounded to nearest: '-' or nothing, digits with at
/// most one '.', and an optional exponent ("1e-3", "-.5", "7").
///
/// **Errors**: INVALID_ARGUMENT as above; also for a number too large for
/// binary64, and for a non-zero number that would be read as zero.
absl::StatusOr<double> ParseFloat64(absl::string_view text);

}  // namespace phasor

#endif  // PHASOR_CORE_NUMBER_TEXT_H_
