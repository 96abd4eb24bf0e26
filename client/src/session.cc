#include "client/src/session.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "phasor/core/errors.h"

namespace phasor::internal {
namespace {

constexpr int kMaxConnections = 64;

}  // namespace
absl::Status CheckOptions(const ClientOptions& options) {
  const auto bad = [](absl::string_view field, const auto& value, absl::string_view need) {
    return FieldError(absl::StatusCode::kInvalidArgument, field, absl::StrCat(value, need));
  };
  const absl::Duration zero = absl::ZeroDuration();
  if (options.timeout <= zero) {
    return bad("timeout", absl::FormatDuration(options.timeout), " is not positive");
  }
  if (options.block_cache_bytes < 0) {
    return bad("block_cache_bytes", options.block_cache_bytes, " is negative");
  }
  if (options.initial_backoff <= zero) {
    return bad("initial_backoff", absl::FormatDuration(options.initial_backoff),
               " is not positive");
  }
  if (options.max_backoff < options.initial_backoff) {
    return bad("max_backoff", absl::FormatDuration(options.max_backoff),
               " is less than initial_backoff");
  }
  if (options.connections < 1 || options.connections > kMaxConnections) {
    return bad("connections", options.connections,
               absl::StrCat(" is not between 1 and ", kMaxConnections));
  }
  return absl::OkStatus();
}

Backoff BackoffOf(const ClientOptions& options) {
  return Backoff{options.initial_backoff, options.max_backoff};
}

CallLimits Session::Limits() const { return CallLimits{absl::Now() + timeout_}; }

}  // namespace phasor::internal
