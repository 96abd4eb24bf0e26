#ifndef PHASOR_CLIENT_CLI_NUMBER_LIST_H_
#define PHASOR_CLIENT_CLI_NUMBER_LIST_H_

/// \file
/// Numbers as flags carry them: one, or a list of them, or a file of them.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace phasor::cli {

/// A number that is exact either way: integer syntax gives an int64, a '.' or
/// an exponent gives a binary64.
using Number = std::variant<std::int64_t, double>;

/// **Errors**: INVALID_ARGUMENT, quoting the text: not decimal, or does not
/// fit its type (never clamped).
absl::StatusOr<Number> ParseNumber(absl::string_view text);

/// The text of a list flag: `value` itself, or the content of FILE for "@FILE".
///
/// **Errors**: INVALID_ARGUMENT for nothing given; INTERNAL for a file that
/// cannot be read.
absl::StatusOr<std::string> ReadListText(absl::string_view value);

/// The entries of a list: separated by one comma, white space, or both. A text
/// of white space alone has none.
///
/// **Errors**: INVALID_ARGUMENT for an entry that is missing between commas.
absl::StatusOr<std::vector<absl::string_view>> SplitList(absl::string_view text);

/// Positions: all integers or all reals.
using Positions = std::variant<std::vector<std::int64_t>, std::vector<double>>;

/// **Errors**: INVALID_ARGUMENT, naming the entry, counted from 0; also for
/// integer and real positions together.
absl::StatusOr<Positions> ParsePositions(absl::string_view text);

/// A list of real numbers; integer syntax is a real too.
///
/// **Errors**: INVALID_ARGUMENT, naming the entry, counted from 0.
absl::StatusOr<std::vector<double>> ParseReals(absl::string_view text);

/// A length of time: "10s", "500ms", "1m30s", or plain seconds, "2" or "0.5".
///
/// **Errors**: INVALID_ARGUMENT unless it is positive and finite.
absl::StatusOr<absl::Duration> ParseTimeout(absl::string_view text);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_NUMBER_LIST_H_
