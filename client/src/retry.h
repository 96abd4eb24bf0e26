#ifndef PHASOR_CLIENT_SRC_RETRY_H_
#define PHASOR_CLIENT_SRC_RETRY_H_

#include "absl/functional/function_ref.h"
#include "absl/random/bit_gen_ref.h"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "client/src/connection.h"
#include "client/src/counters.h"

namespace phasor::internal {

/// What one try of a call came to.
struct Attempt {
  absl::Status status;
  /// The least delay before the next try that the server asks for; negative:
  /// there shall be none.
  absl::optional<absl::Duration> pushback;
  /// Whether the try got on, so that the next one is the first again.
  bool progress = false;
};

/// The waits between tries.
struct Backoff {
  absl::Duration initial;
  absl::Duration max;

  /// The wait before retry number `n`, counted from 0: at random between half
  /// of initial * 2^n, or of max where that is less, and the whole of it.
  absl::Duration Wait(int n, absl::BitGenRef random) const;
};

/// The shortest time that a try is given while another one may follow.
inline constexpr absl::Duration kShortestTry = absl::Milliseconds(250);

/// Calls `attempt`, which has to end by the time it is given, until it is
/// neither UNAVAILABLE nor out of its own time, retrying is not wanted, the
/// server says not to, or the next wait would end past the deadline. A try has
/// half of what is left: a server that does not answer leaves time to ask
/// another one. Gives the last status; of a retry that the deadline cut off,
/// the one before. `sleep` waits between tries.
absl::Status RetryUnavailable(const Backoff& backoff, CallLimits limits, Counters* counters,
                              absl::FunctionRef<Attempt(absl::Time deadline)> attempt,
                              absl::FunctionRef<void(absl::Duration)> sleep = absl::SleepFor);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_RETRY_H_
