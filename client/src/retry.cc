#include "client/src/retry.h"

#include <algorithm>

#include "absl/random/random.h"
#include "absl/time/clock.h"

namespace phasor::internal {

absl::Duration Backoff::Wait(int n, absl::BitGenRef random) const {
  absl::Duration full = std::min(initial, max);
  for (int i = 0; i < n && full < max; ++i) full = std::min(2 * full, max);
  return full * absl::Uniform(absl::IntervalClosed, random, 0.5, 1.0);
}

absl::Status RetryUnavailable(const Backoff& backoff, CallLimits limits, Counters* counters,
                              absl::FunctionRef<Attempt()> attempt) {
  absl::InsecureBitGen random;
  absl::Status unavailable;
  for (int n = 0;; ++n) {
    const Attempt tried = attempt();
    // Says why no server was reached; that the time ended meanwhile does not.
    if (absl::IsDeadlineExceeded(tried.status) && !unavailable.ok() && !tried.progress) {
      return unavailable;
    }
    if (!absl::IsUnavailable(tried.status) || !limits.retry) return tried.status;
    if (tried.progress) n = 0;
    const absl::Duration asked = tried.pushback.value_or(absl::ZeroDuration());
    const absl::Duration wait = std::max(asked, backoff.Wait(n, random));
    if (asked < absl::ZeroDuration() || absl::Now() + wait >= limits.deadline) return tried.status;
    unavailable = tried.progress ? absl::OkStatus() : tried.status;
    absl::SleepFor(wait);
    Count(counters->retries);
  }
}

}  // namespace phasor::internal
