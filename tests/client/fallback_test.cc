#include "client/src/fallback_connection.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "phasor/core/errors.h"
#include "tests/client/fake_connection.h"

namespace phasor::internal {
namespace {

// The fake server's rows are (p, p), the computed ones (sin p, cos p): whoever
// answered is seen.
class FallbackTest : public testing::Test {
 protected:
  FallbackTest()
      : table_(*CanonicalSpec::Create(TableSpec(Sinusoidal{.width = 2}, ElementType::kFloat64))) {
    auto fake = std::make_unique<FakeConnection>();
    fake_ = fake.get();
    fallback_ = std::make_unique<FallbackConnection>(
        std::move(fake), [this](const absl::Status& status) { told_.push_back(status); },
        &counters_);
  }

  absl::Status Read(double* row, absl::Duration timeout = absl::Minutes(1)) {
    return fallback_->Read(table_, 0, 1, absl::MakeSpan(reinterpret_cast<std::byte*>(row), 16),
                           CallLimits{absl::Now() + timeout});
  }
  bool ServerAnswers() {
    double row[2];
    EXPECT_TRUE(Read(row).ok());
    EXPECT_EQ(row[0], 0);  // the server's (0, 0) or sin 0, cos 0
    return row[1] == 0;
  }

  TableHandle table_;
  Counters counters_;
  std::vector<absl::Status> told_;
  FakeConnection* fake_;
  std::unique_ptr<FallbackConnection> fallback_;
};

TEST_F(FallbackTest, AsksTheServerWhileItAnswers) {
  EXPECT_TRUE(ServerAnswers());
  EXPECT_EQ(counters_.local_fallbacks, 0);
}

TEST_F(FallbackTest, ComputesWhatAnUnavailableServerDoesNotAnswer) {
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  EXPECT_FALSE(ServerAnswers());
  EXPECT_EQ(counters_.local_fallbacks, 1);
  EXPECT_FALSE(fake_->reads().at(0).limits.retry);  // computing beats waiting
}

TEST_F(FallbackTest, GivesTheServerHalfOfTheTime) {
  fake_->answer = [] { return absl::DeadlineExceededError("slow"); };
  const absl::Time begin = absl::Now();
  EXPECT_FALSE(ServerAnswers());
  const absl::Duration given = fake_->reads().at(0).limits.deadline - begin;
  EXPECT_GT(given, absl::Seconds(29));
  EXPECT_LT(given, absl::Seconds(45));
  EXPECT_EQ(counters_.local_fallbacks, 1);
}

TEST_F(FallbackTest, PassesOnEveryOtherError) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kOutOfRange,
        absl::StatusCode::kFailedPrecondition, absl::StatusCode::kDataLoss,
        absl::StatusCode::kResourceExhausted, absl::StatusCode::kUnimplemented,
        absl::StatusCode::kUnauthenticated}) {
    fake_->answer = [code] { return absl::Status(code, "no"); };
    double row[2];
    EXPECT_EQ(Read(row).code(), code);
  }
  EXPECT_EQ(counters_.local_fallbacks, 0);
}

TEST_F(FallbackTest, LeavesADeadServerAloneUntilItIsReachable) {
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  fake_->reachable = false;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(ServerAnswers());
  EXPECT_EQ(fake_->reads().size(), 1U);
  EXPECT_EQ(counters_.local_fallbacks, 10);
  EXPECT_EQ(told_, std::vector{absl::UnavailableError("gone")});

  fake_->answer = [] { return absl::OkStatus(); };
  fake_->reachable = true;
  const absl::Time limit = absl::Now() + absl::Seconds(30);
  while (!ServerAnswers()) ASSERT_LT(absl::Now(), limit);
  const std::int64_t fallbacks = counters_.local_fallbacks;
  EXPECT_TRUE(ServerAnswers());
  EXPECT_EQ(counters_.local_fallbacks, fallbacks);
}

TEST_F(FallbackTest, IsToldOfOncePerOutage) {
  for (int outage = 1; outage < 4; ++outage) {
    fake_->answer = [] { return absl::UnavailableError("gone"); };
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(ServerAnswers());
    EXPECT_EQ(told_.size(), outage);
    fake_->answer = [] { return absl::OkStatus(); };
    const absl::Time limit = absl::Now() + absl::Seconds(30);
    while (!ServerAnswers()) ASSERT_LT(absl::Now(), limit);
  }
}

TEST_F(FallbackTest, ReadsAheadWhileTheServerAnswers) {
  EXPECT_TRUE(fallback_->ReadsAhead());
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  double row[2];
  absl::Status ended;
  fallback_->StartRead(std::make_shared<TableHandle>(table_.spec()), 0, 1,
                       {absl::MakeSpan(reinterpret_cast<std::byte*>(row), 16)},
                       absl::Now() + absl::Minutes(1),
                       [&](const absl::Status& status) { ended = status; });
  EXPECT_EQ(ended, absl::UnavailableError("gone"));
  EXPECT_FALSE(fallback_->ReadsAhead());
  EXPECT_EQ(told_.size(), 1U);
  EXPECT_EQ(counters_.local_fallbacks, 0);  // nobody waited for it
}

TEST_F(FallbackTest, DoesNotAskAHungServerEveryTime) {
  fake_->answer = [] { return absl::DeadlineExceededError("hung"); };
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(ServerAnswers());
  EXPECT_LT(fake_->reads().size(), 100U);
}

TEST_F(FallbackTest, AsksAHungServerSeldomerFromTimeToTime) {
  fake_->answer = [] { return absl::DeadlineExceededError("hung"); };
  const absl::Time begin = absl::Now();
  while (absl::Now() - begin < absl::Milliseconds(1500)) EXPECT_FALSE(ServerAnswers());
  // At once, after 100 ms, 200 ms more, 400 ms more ...
  int most = 1;
  const absl::Duration spent = absl::Now() - begin;
  for (absl::Duration pause = absl::Milliseconds(100), at = pause; at <= spent; ++most) {
    pause *= 2;
    at += pause;
  }
  EXPECT_LE(fake_->reads().size(), static_cast<std::size_t>(most));
  EXPECT_GE(fake_->reads().size(), 2U);
}

TEST_F(FallbackTest, WhileOneCallTriesTheServerOthersAreComputed) {
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  EXPECT_FALSE(ServerAnswers());
  // The server is tried again, and has not answered yet, when others come.
  bool tried = false;
  fake_->answer = [&] {
    if (!tried) {
      tried = true;
      for (int i = 0; i < 3; ++i) EXPECT_FALSE(ServerAnswers());
    }
    return absl::OkStatus();
  };
  const absl::Time limit = absl::Now() + absl::Seconds(30);
  while (!ServerAnswers()) ASSERT_LT(absl::Now(), limit);
  EXPECT_TRUE(tried);
}

TEST_F(FallbackTest, AReadAheadThatWorkedDoesNotEndAnOutage) {
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  fake_->reachable = false;
  EXPECT_FALSE(ServerAnswers());
  // It may have begun long ago.
  fake_->answer = [] { return absl::OkStatus(); };
  double row[2];
  absl::Status ended = absl::UnknownError("not yet");
  fallback_->StartRead(std::make_shared<TableHandle>(table_.spec()), 0, 1,
                       {absl::MakeSpan(reinterpret_cast<std::byte*>(row), 16)},
                       absl::Now() + absl::Minutes(1),
                       [&](const absl::Status& status) { ended = status; });
  EXPECT_TRUE(ended.ok());
  EXPECT_FALSE(fallback_->ReadsAhead());
  EXPECT_FALSE(ServerAnswers());
}

TEST_F(FallbackTest, GathersAndShiftsWithoutAServer) {
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  const CallLimits limits{absl::Now() + absl::Minutes(1)};
  double rows[4] = {-1, -1, -1, -1};
  const auto bytes = absl::MakeSpan(reinterpret_cast<std::byte*>(rows), 32);
  const std::int64_t positions[] = {0, 0};
  const GatherJob job{&table_, absl::MakeConstSpan(positions), bytes};
  ASSERT_TRUE(fallback_->Gather(absl::MakeConstSpan(&job, 1), limits).ok());
  EXPECT_EQ(std::vector<double>(rows, rows + 4), (std::vector<double>{0, 1, 0, 1}));
  double shifted[2] = {-1, -1};
  ASSERT_TRUE(fallback_
                  ->Shift(table_, ShiftBy(std::int64_t{0}), bytes.subspan(0, 16),
                          absl::MakeSpan(reinterpret_cast<std::byte*>(shifted), 16), limits)
                  .ok());
  EXPECT_EQ(std::vector<double>(shifted, shifted + 2), (std::vector<double>{0, 1}));
  EXPECT_EQ(counters_.local_fallbacks, 2);
}

TEST_F(FallbackTest, OpensTablesAndGivesFrequenciesWithoutAServer) {
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  const CallLimits limits{absl::Now() + absl::Minutes(1)};
  EXPECT_TRUE(fallback_->Open(table_, limits).ok());
  const auto frequencies = fallback_->Frequencies(table_, limits);
  ASSERT_TRUE(frequencies.ok());
  EXPECT_EQ(*frequencies, std::vector<double>{1});
}

TEST_F(FallbackTest, DoesNotMakeUpRowsOfCheckpoints) {
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  const CallLimits limits{absl::Now() + absl::Minutes(1)};
  const LearnedTable learned{"t", std::string(64, '0'), /*max_positions=*/4, /*width=*/1};
  const TableHandle table(CanonicalSpec::Create(TableSpec(learned, ElementType::kFloat64)).value());
  std::vector<std::byte> row(8);
  const std::vector<std::int64_t> positions = {1};
  const GatherJob jobs[] = {{&table, absl::MakeConstSpan(positions), absl::MakeSpan(row)}};
  EXPECT_TRUE(absl::IsUnavailable(fallback_->Open(table, limits)));
  EXPECT_TRUE(absl::IsUnavailable(fallback_->Read(table, 0, 1, absl::MakeSpan(row), limits)));
  EXPECT_TRUE(absl::IsUnavailable(fallback_->Gather(jobs, limits)));
  EXPECT_EQ(counters_.local_fallbacks, 0);
  // Nor do clients without any server.
  EXPECT_EQ(Client::Local().Open(LearnedTable{.name = "t"}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(FieldOf(Client::Local().Open(learned).status()), "spec.learned_table.name");
}

TEST_F(FallbackTest, DoesNotSpeakForTheServer) {
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  const CallLimits limits{absl::Now() + absl::Minutes(1)};
  EXPECT_EQ(fallback_->CheckHealth("", limits).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(fallback_->GetServerInfo(limits).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(fallback_->ListTables(limits).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(counters_.local_fallbacks, 0);
}

}  // namespace
}  // namespace phasor::internal
