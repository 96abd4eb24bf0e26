// Long work, many calls, and calls that nobody waits for any more.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "phasor/v1/error_details.pb.h"
#include "tests/server/fake_table.h"
#include "tests/server/running_server.h"

namespace phasor::server {
namespace {

using ::testing::AnyOf;

v1::TableSpec WidestFloat64() {
  v1::TableSpec spec = SinusoidalProto(65536);
  spec.set_element_type(v1::ELEMENT_TYPE_FLOAT64);
  return spec;
}

// A call that takes its turn in the pool.
void GoThroughPool(RunningServer* server) {
  grpc::ClientContext context;
  v1::GetFrequenciesRequest request;
  *request.mutable_spec() = SinusoidalProto(2);
  v1::GetFrequenciesResponse response;
  EXPECT_TRUE((*server)->GetFrequencies(&context, request, &response).ok());
}

TEST(Overload, AWideRangeStopsAtItsDeadlineAndHotCallsGoOn) {
  Options options = TestOptions();
  options.threads = 1;
  RunningServer server(options);
  const auto hot = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(512), 0, 16);
  v1::Rows rows;
  ASSERT_TRUE(GetRows(&server, hot, &rows).ok());
  ASSERT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(WidestFloat64(), 0, 1), &rows).ok());

  std::atomic<bool> stop = false;
  std::atomic<int> answered = 0;
  std::thread beside([&] {
    while (!stop) {
      v1::Rows hot_rows;
      EXPECT_TRUE(GetRows(&server, hot, &hot_rows).ok());
      ++answered;
    }
  });
  const absl::Time start = absl::Now();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  auto reader = server->ReadRows(
      &context, RangeRequest<v1::ReadRowsRequest>(WidestFloat64(), 1000, 1'000'000));
  v1::ReadRowsResponse response;
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
  const absl::Duration time = absl::Now() - start;
  stop = true;
  beside.join();
  EXPECT_LT(time, absl::Milliseconds(150));
  EXPECT_GE(answered, 5);

  // The pool's one thread takes jobs in turn: after two more calls the long one
  // has had its turn and has seen that nobody waits.
  GoThroughPool(&server);
  GoThroughPool(&server);
  const WorkPool& pool = server.server().pool();
  const std::int64_t before = pool.steps();
  GoThroughPool(&server);
  const std::int64_t between = pool.steps();
  GoThroughPool(&server);
  EXPECT_EQ(between - before, 1);
  EXPECT_EQ(pool.steps() - between, 1);
}

// Two blocks, the second of one row.
const v1::TableSpec& TwoBlocks() {
  static const v1::TableSpec spec = LearnedProto(8193, 2);
  return spec;
}

TEST(Overload, ABlockThatIsMadeQuicklyIsMadeWhereTheCallArrives) {
  FakeMaking making;
  RunningServer server(TestOptions(), FakeTable::Opener(&making));
  v1::Rows rows;
  // What a block takes shows with the first one.
  ASSERT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(TwoBlocks(), 8192, 1), &rows).ok());
  const std::int64_t steps = server.server().pool().steps();
  EXPECT_GT(steps, 0);
  ASSERT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(TwoBlocks(), 77, 1), &rows).ok());
  EXPECT_EQ(server.server().pool().steps(), steps);
  EXPECT_EQ(making.reads, 2);
  EXPECT_EQ(rows.data()[3], static_cast<char>(FakeTable::ByteOf(77, 3)));
}

TEST(Overload, ABlockThatTakesLongIsMadeInThePool) {
  FakeMaking making;
  making.on_read = [](std::int64_t) { UseProcessor(absl::Milliseconds(1)); };
  RunningServer server(TestOptions(), FakeTable::Opener(&making));
  v1::Rows rows;
  ASSERT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(TwoBlocks(), 8192, 1), &rows).ok());
  const std::int64_t steps = server.server().pool().steps();
  ASSERT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(TwoBlocks(), 77, 1), &rows).ok());
  EXPECT_GT(server.server().pool().steps(), steps);
}

TEST(Overload, ShortCallsPassALongOneInThePool) {
  Options options = TestOptions();
  options.threads = 1;
  RunningServer server(options);
  grpc::ClientContext context;
  auto reader =
      server->ReadRows(&context, RangeRequest<v1::ReadRowsRequest>(WidestFloat64(), 0, 1'000'000));
  v1::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  std::thread reading([&] {
    v1::ReadRowsResponse more;
    while (reader->Read(&more)) {
    }
  });
  // None of these is cached.
  for (int i = 0; i < 20; ++i) {
    v1::Rows rows;
    EXPECT_TRUE(
        GetRows(&server, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(64), i * 1000, 1), &rows)
            .ok());
  }
  context.TryCancel();
  reading.join();
  EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
}

TEST(Overload, ConcurrentCallsMakeEachBlockOnce) {
  RunningServer server;
  const auto request = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(512), 0, 320);
  const std::string expected = LocalRows(SinusoidalProto(512), 0, 320);
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i) {
    callers.emplace_back([&] {
      v1::Rows rows;
      EXPECT_TRUE(GetRows(&server, request, &rows).ok());
      ExpectSameRows(rows.data(), expected);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(server.server().cache().blocks_made(), 10);
}

TEST(Overload, AFullQueueIsUnavailableAndSaysWhenToComeBack) {
  FakeMaking making;
  absl::Notification opening, release;
  making.on_open = [&] {
    opening.Notify();
    release.WaitForNotification();
  };
  Options options = TestOptions();
  options.threads = 1;
  options.max_queued_requests = 1;
  RunningServer server(options, FakeTable::Opener(&making));
  const auto call = [&] {
    v1::Rows rows;
    EXPECT_TRUE(
        GetRows(&server, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1), &rows).ok());
  };
  std::thread at_work(call);
  opening.WaitForNotification();
  std::thread queued(call);
  while (server.server().pool().queued_jobs() < 1) std::this_thread::yield();

  grpc::ClientContext context;
  v1::GetRowsResponse response;
  const grpc::Status status = server->GetRows(
      &context, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1), &response);
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
  v1::ErrorStatus details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_TRUE(std::any_of(details.details().begin(), details.details().end(), [](const auto& any) {
    return any.type_url() == "type.googleapis.com/google.rpc.RetryInfo";
  }));
  const auto& trailers = context.GetServerTrailingMetadata();
  EXPECT_EQ(trailers.count("grpc-retry-pushback-ms"), 1u);

  // What needs no pool is answered all the same.
  grpc::ClientContext info_context;
  v1::GetServerInfoResponse info;
  EXPECT_TRUE(server->GetServerInfo(&info_context, v1::GetServerInfoRequest(), &info).ok());
  release.Notify();
  at_work.join();
  queued.join();
}

TEST(Overload, ALackOfMemoryInAStepIsAStatus) {
  FakeMaking making;
  making.on_read = [](std::int64_t) { throw std::bad_alloc(); };
  RunningServer server(TestOptions(), FakeTable::Opener(&making));
  const auto request = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1);
  v1::Rows rows;
  EXPECT_EQ(GetRows(&server, request, &rows).error_code(), grpc::UNAVAILABLE);
  making.on_read = [](std::int64_t) {};
  EXPECT_TRUE(GetRows(&server, request, &rows).ok());
}

TEST(Overload, AnOpeningStopsForItsCallerAndGoesOnForOthers) {
  std::atomic<int> opened = 0;
  absl::Notification opening;
  Options options = TestOptions();
  options.threads = 2;
  RunningServer server(options,
                       [&](CanonicalSpec spec,
                           StopRequest stop) -> absl::StatusOr<std::shared_ptr<const LocalTable>> {
                         if (opened++ > 0) return LocalTable::Open(std::move(spec), stop);
                         opening.Notify();
                         while (!stop()) std::this_thread::yield();
                         return absl::CancelledError("stopped");
                       });
  const auto request = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1);
  grpc::ClientContext context;
  std::thread first([&] {
    v1::GetRowsResponse response;
    EXPECT_EQ(server->GetRows(&context, request, &response).error_code(), grpc::CANCELLED);
  });
  opening.WaitForNotification();
  const std::int64_t steps = server.server().pool().steps();
  std::thread second([&] {
    v1::Rows rows;
    EXPECT_TRUE(GetRows(&server, request, &rows).ok());
    ExpectSameRows(rows.data(), LocalRows(SinusoidalProto(8), 0, 1));
  });
  while (server.server().pool().steps() == steps) std::this_thread::yield();
  context.TryCancel();
  first.join();
  second.join();
  EXPECT_EQ(opened, 2);
}

TEST(Overload, AnOpeningStopsAtItsCallersDeadline) {
  RunningServer server(
      TestOptions(),
      [](CanonicalSpec, StopRequest stop) -> absl::StatusOr<std::shared_ptr<const LocalTable>> {
        while (!stop()) std::this_thread::yield();
        return absl::CancelledError("stopped");
      });
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(20));
  v1::GetRowsResponse response;
  EXPECT_EQ(
      server
          ->GetRows(&context, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1), &response)
          .error_code(),
      grpc::DEADLINE_EXCEEDED);
}

TEST(Overload, AThousandCancelledStreamsLeaveNothingBehind) {
  Options options = TestOptions();
  options.cache_bytes = 16 << 20;
  RunningServer server(options);
  std::vector<std::thread> clients;
  for (unsigned seed = 0; seed < 8; ++seed) {
    clients.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 125; ++i) {
        v1::TableSpec spec = SinusoidalProto(512);
        spec.mutable_sinusoidal()->set_base(100.0 + random() % 3);
        const auto start = static_cast<std::int64_t>(random() % 2000);
        grpc::ClientContext context;
        auto reader =
            server->ReadRows(&context, RangeRequest<v1::ReadRowsRequest>(spec, start, 1'000'000));
        const unsigned messages = random() % 4;
        v1::ReadRowsResponse response;
        for (unsigned k = 0; k < messages && reader->Read(&response); ++k) {
        }
        context.TryCancel();
        EXPECT_THAT(reader->Finish().error_code(), AnyOf(grpc::CANCELLED, grpc::UNAVAILABLE));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (server.server().cache().live_bytes() > options.cache_bytes && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_LE(server.server().cache().live_bytes(), options.cache_bytes);
  v1::Rows rows;
  EXPECT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(512), 0, 1), &rows).ok());
}

}  // namespace
}  // namespace phasor::server
