#include "client/src/retry.h"

#include <algorithm>

#include "absl/random/random.h"
#include "absl/time/clock.h"

namespace phasor::internal {
namespace {

// By this much a call may end before its deadline for no other reason.
constexpr absl::Duration kTimerSlack = absl::Milliseconds(10);

}  // namespace

absl::Duration Backoff::Wait(int n, absl::BitGenRef random) const {
  absl::Duration full = std::min(initial, max);
  for (int i = 0; i < n && full < max; ++i) full = std::min(2 * full, max);
  return full * absl::Uniform(absl::IntervalClosed, random, 0.5, 1.0);
}

absl::Status RetryUnavailable(const Backoff& backoff, CallLimits limits, Counters* counters,
                              absl::FunctionRef<Attempt(absl::Time deadline)> attempt,
                              absl::FunctionRef<void(absl::Duration)> sleep) {
  absl::InsecureBitGen random;
  absl::Status unavailable;
  for (int n = 0;; ++n) {
    const absl::Time now = absl::Now();
    const absl::Duration half = (limits.deadline - now) / 2;
    const bool last = !limits.retry || half < kShortestTry;
    const absl::Time end = last ? limits.deadline : now + half;
    const Attempt tried = attempt(end);
    const bool out_of_time = absl::IsDeadlineExceeded(tried.status);
    const bool hung = out_of_time && !last && absl::Now() + kTimerSlack >= end;
    // Says why no server was reached; that the time ended meanwhile does not.
    if (out_of_time && !hung && !unavailable.ok() && !tried.progress) return unavailable;
    const bool again = absl::IsUnavailable(tried.status) || hung;
    if (!again || !limits.retry) return tried.status;
    if (tried.progress) n = 0;
    const absl::Duration asked = tried.pushback.value_or(absl::ZeroDuration());
    const absl::Duration wait = std::max(asked, backoff.Wait(n, random));
    if (asked < absl::ZeroDuration() || absl::Now() + wait >= limits.deadline) return tried.status;
    unavailable = tried.progress || hung ? absl::OkStatus() : tried.status;
    sleep(wait);
    Count(counters->retries);
  }
}

}  // namespace phasor::internal
