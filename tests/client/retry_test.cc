#include "client/src/retry.h"

#include <vector>

#include "absl/random/random.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace phasor::internal {
namespace {

constexpr Backoff kShort{absl::Microseconds(10), absl::Microseconds(80)};

CallLimits Within(absl::Duration time) { return CallLimits{absl::Now() + time}; }

TEST(BackoffTest, DoublesUpToTheBoundWithJitter) {
  const Backoff backoff{absl::Milliseconds(50), absl::Seconds(1)};
  absl::BitGen random;
  const absl::Duration full[] = {absl::Milliseconds(50),  absl::Milliseconds(100),
                                 absl::Milliseconds(200), absl::Milliseconds(400),
                                 absl::Milliseconds(800), absl::Seconds(1),
                                 absl::Seconds(1)};
  for (int n = 0; n < 7; ++n) {
    absl::Duration least = absl::InfiniteDuration();
    absl::Duration most = absl::ZeroDuration();
    for (int i = 0; i < 1000; ++i) {
      const absl::Duration wait = backoff.Wait(n, random);
      least = std::min(least, wait);
      most = std::max(most, wait);
    }
    EXPECT_GE(least, full[n] / 2);
    EXPECT_LE(most, full[n]);
    EXPECT_GT(most - least, full[n] / 4);  // they differ
  }
  EXPECT_LE(backoff.Wait(1 << 30, random), absl::Seconds(1));
}

TEST(RetryTest, RepeatsUnavailableUntilItWorks) {
  Counters counters;
  int tries = 0;
  const absl::Status status =
      RetryUnavailable(kShort, Within(absl::Minutes(1)), &counters, [&](absl::Time) {
        return Attempt{.status = ++tries < 5 ? absl::UnavailableError("") : absl::OkStatus()};
      });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(tries, 5);
  EXPECT_EQ(counters.retries, 4);
}

TEST(RetryTest, RepeatsNothingElse) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kOk, absl::StatusCode::kCancelled, absl::StatusCode::kUnknown,
        absl::StatusCode::kInvalidArgument, absl::StatusCode::kDeadlineExceeded,
        absl::StatusCode::kNotFound, absl::StatusCode::kResourceExhausted,
        absl::StatusCode::kFailedPrecondition, absl::StatusCode::kOutOfRange,
        absl::StatusCode::kInternal, absl::StatusCode::kDataLoss}) {
    Counters counters;
    int tries = 0;
    const absl::Status status =
        RetryUnavailable(kShort, Within(absl::Minutes(1)), &counters, [&](absl::Time) {
          ++tries;
          return Attempt{.status = absl::Status(code, "")};
        });
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(tries, 1);
  }
}

TEST(RetryTest, EndsBeforeTheDeadline) {
  Counters counters;
  const absl::Time begin = absl::Now();
  const absl::Status status = RetryUnavailable(
      {absl::Milliseconds(5), absl::Milliseconds(5)}, CallLimits{begin + absl::Milliseconds(50)},
      &counters, [&](absl::Time) { return Attempt{.status = absl::UnavailableError("gone")}; });
  EXPECT_EQ(status, absl::UnavailableError("gone"));
  EXPECT_GE(counters.retries, 1);
  EXPECT_LE(counters.retries, 20);
}

TEST(RetryTest, ARetryThatTheDeadlineCutsOffLeavesTheReasonBeforeIt) {
  Counters counters;
  int tries = 0;
  const absl::Status status =
      RetryUnavailable(kShort, Within(absl::Minutes(1)), &counters, [&](absl::Time) {
        return Attempt{.status = ++tries < 3 ? absl::UnavailableError("nobody listens")
                                             : absl::DeadlineExceededError("")};
      });
  EXPECT_EQ(status, absl::UnavailableError("nobody listens"));
  EXPECT_EQ(tries, 3);
}

TEST(RetryTest, WaitsAsLongAsTheServerAsks) {
  Counters counters;
  int tries = 0;
  const absl::Time begin = absl::Now();
  const absl::Status status =
      RetryUnavailable(kShort, Within(absl::Minutes(1)), &counters, [&](absl::Time) {
        return Attempt{.status = ++tries == 1 ? absl::UnavailableError("") : absl::OkStatus(),
                       .pushback = absl::Milliseconds(60)};
      });
  EXPECT_TRUE(status.ok());
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(60));
}

TEST(RetryTest, StopsWhereTheServerAsksForNoRetryOrTooLongAWait) {
  for (const absl::Duration pushback : {absl::Milliseconds(-1), absl::Hours(1)}) {
    Counters counters;
    int tries = 0;
    const absl::Status status =
        RetryUnavailable(kShort, Within(absl::Minutes(1)), &counters, [&](absl::Time) {
          ++tries;
          return Attempt{.status = absl::UnavailableError(""), .pushback = pushback};
        });
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(tries, 1);
  }
}

// A server that hangs leaves time to ask another one.
TEST(RetryTest, ATryHasHalfOfWhatIsLeftAndIsRepeatedIfItTookThat) {
  Counters counters;
  const absl::Time begin = absl::Now();
  const CallLimits limits{begin + absl::Seconds(1)};
  std::vector<absl::Time> ends;
  const absl::Status status =
      RetryUnavailable(kShort, limits, &counters, [&](absl::Time end) -> Attempt {
        ends.push_back(end);
        while (absl::Now() < end) absl::SleepFor(end - absl::Now());
        return Attempt{.status = absl::DeadlineExceededError("hung")};
      });
  EXPECT_EQ(status, absl::DeadlineExceededError("hung"));
  ASSERT_EQ(ends.size(), 2U);  // of a second a quarter is left, too little for two
  EXPECT_LT(absl::AbsDuration(ends[0] - (begin + absl::Milliseconds(500))),
            absl::Milliseconds(250));
  EXPECT_EQ(ends[1], limits.deadline);
  EXPECT_EQ(counters.retries, 1);
}

// Waits double from failure to failure: without an end to that, sixty would take hours.
TEST(RetryTest, AfterProgressTheFirstWaitIsTheNext) {
  Counters counters;
  int tries = 0;
  const Backoff backoff{absl::Microseconds(10), absl::Hours(1)};
  const absl::Status status =
      RetryUnavailable(backoff, Within(absl::Minutes(1)), &counters, [&](absl::Time) {
        return Attempt{.status = ++tries < 60 ? absl::UnavailableError("") : absl::OkStatus(),
                       .progress = true};
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(tries, 60);
}

TEST(RetryTest, WhereATryGotOnTheDeadlineIsTheReason) {
  for (const int last_progress : {2, 3}) {
    Counters counters;
    int tries = 0;
    const absl::Status status =
        RetryUnavailable(kShort, Within(absl::Minutes(1)), &counters, [&](absl::Time) {
          ++tries;
          return Attempt{.status = tries < 3 ? absl::UnavailableError("nobody listens")
                                             : absl::DeadlineExceededError("too slow"),
                         .progress = tries == last_progress};
        });
    EXPECT_EQ(status, absl::DeadlineExceededError("too slow"));
    EXPECT_EQ(tries, 3);
  }
}

TEST(RetryTest, ALastTryHasAllThatIsLeft) {
  for (const bool retry : {true, false}) {
    Counters counters;
    // So little that no second try is worth it; or none is wanted.
    const CallLimits limits{absl::Now() + (retry ? absl::Milliseconds(400) : absl::Minutes(1)),
                            retry};
    absl::Time given;
    EXPECT_TRUE(RetryUnavailable(kShort, limits, &counters, [&](absl::Time end) {
                  given = end;
                  return Attempt{};
                }).ok());
    EXPECT_EQ(given, limits.deadline);
  }
}

TEST(RetryTest, DoesNotRepeatWhereNotWanted) {
  Counters counters;
  int tries = 0;
  const CallLimits limits{absl::Now() + absl::Minutes(1), /*retry=*/false};
  const absl::Status status = RetryUnavailable(kShort, limits, &counters, [&](absl::Time) {
    ++tries;
    return Attempt{.status = absl::UnavailableError("")};
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(tries, 1);
}

}  // namespace
}  // namespace phasor::internal
