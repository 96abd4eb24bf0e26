// Sizes of messages and of memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/server/running_server.h"

namespace phasor::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Options WithMessages(std::int64_t max_message_bytes) {
  Options options = TestOptions();
  options.max_message_bytes = max_message_bytes;
  return options;
}

Options WithCache(std::int64_t cache_bytes) {
  Options options = TestOptions();
  options.cache_bytes = cache_bytes;
  return options;
}

TEST(MessageLimit, NamesTheWayOutOfExactlyFourMebibytes) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(128);
  v1::Rows rows;
  const grpc::Status status =
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 0, 8192), &rows);
  ExpectError(status, grpc::RESOURCE_EXHAUSTED, "row_count");
  EXPECT_THAT(status.error_message(),
              AllOf(HasSubstr("8192 rows"), HasSubstr("max_message_bytes = 4194304"),
                    HasSubstr("ReadRows")));
  std::vector<v1::Rows> messages;
  ASSERT_TRUE(ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(spec, 0, 8192), &messages).ok());
  std::string data;
  for (const v1::Rows& message : messages) data += message.data();
  ExpectSameRows(data, LocalRows(spec, 0, 8192));
}

TEST(MessageLimit, LetsTheLargestMessageReachADefaultClient) {
  RunningServer server;
  auto stub = v1::PositionTableService::NewStub(
      grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::GetRowsResponse response;
  const grpc::Status status = stub->GetRows(
      &context, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(128), 0, 8191), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_LE(response.ByteSizeLong(), 4194304u);
  ExpectSameRows(response.rows().data(), LocalRows(SinusoidalProto(128), 0, 8191));
}

TEST(MessageLimit, CountsWithoutOverflow) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(65536);
  v1::Rows rows;
  const grpc::Status status =
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 0, std::int64_t{1} << 53), &rows);
  ExpectError(status, grpc::RESOURCE_EXHAUSTED, "row_count");
  EXPECT_THAT(status.error_message(), HasSubstr("2361183241434822606848 bytes"));  // 2^71
  EXPECT_EQ(server.server().cache().live_bytes(), 0);  // refused before any work
}

TEST(MessageLimit, HoldsForGatheredRows) {
  RunningServer server;
  v1::GatherRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(512);
  for (int i = 0; i < 2048; ++i) request.add_positions(i);
  grpc::ClientContext context;
  v1::GatherRowsResponse response;
  const grpc::Status status = server->GatherRows(&context, request, &response);
  ExpectError(status, grpc::RESOURCE_EXHAUSTED, "positions");
  EXPECT_THAT(status.error_message(), HasSubstr("ReadRows"));
}

TEST(MessageLimit, HoldsForShiftedRows) {
  RunningServer server;
  v1::ShiftRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(2);
  request.set_steps(0);
  // The request fits in the limit, the response with its longer head does not.
  request.set_data(std::string(4194304 - 24, '\0'));
  ASSERT_LE(request.ByteSizeLong(), 4194304u);
  grpc::ClientContext context;
  v1::ShiftRowsResponse response;
  ExpectError(server->ShiftRows(&context, request, &response), grpc::RESOURCE_EXHAUSTED, "data");
}

TEST(MessageLimit, HoldsForRequests) {
  RunningServer server;
  v1::ShiftRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(2);
  request.set_steps(1);
  request.set_data(std::string(4194304, '\0'));
  grpc::ClientContext context;
  v1::ShiftRowsResponse response;
  EXPECT_EQ(server->ShiftRows(&context, request, &response).error_code(), grpc::RESOURCE_EXHAUSTED);
}

TEST(MessageLimit, BoundsTheChunksOfAStream) {
  RunningServer server(WithMessages(65536));
  const v1::TableSpec spec = SinusoidalProto(512);
  std::vector<v1::Rows> messages;
  ASSERT_TRUE(ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(spec, 0, 200), &messages).ok());
  std::string data;
  for (const v1::Rows& rows : messages) {
    v1::ReadRowsResponse whole;
    *whole.mutable_rows() = rows;
    EXPECT_LE(whole.ByteSizeLong(), 65536u);
    data += rows.data();
  }
  ExpectSameRows(data, LocalRows(spec, 0, 200));
}

TEST(MessageLimit, RefusesAStreamOfRowsThatFitNoMessage) {
  RunningServer server(WithMessages(65536));
  std::vector<v1::Rows> messages;
  const grpc::Status status =
      ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(SinusoidalProto(16384), 0, 2), &messages);
  ExpectError(status, grpc::RESOURCE_EXHAUSTED, "spec");
  EXPECT_THAT(status.error_message(), HasSubstr("--max_message_bytes"));
}

TEST(MessageLimit, HoldsForFrequencies) {
  RunningServer server(WithMessages(65536));
  v1::GetFrequenciesRequest request;
  *request.mutable_spec() = SinusoidalProto(65536);
  grpc::ClientContext context;
  v1::GetFrequenciesResponse response;
  ExpectError(server->GetFrequencies(&context, request, &response), grpc::RESOURCE_EXHAUSTED,
              "spec.sinusoidal.width");
}

// A table whose spec takes 8 bytes a frequency.
v1::TableSpec ExplicitProto(int frequencies) {
  v1::TableSpec spec = SinusoidalProto(2 * frequencies);
  auto& list = *spec.mutable_sinusoidal()->mutable_explicit_()->mutable_frequencies();
  for (int i = 0; i < frequencies; ++i) list.Add(1.0 + i);
  return spec;
}

grpc::Status GetTable(RunningServer* server, const v1::TableSpec& spec,
                      v1::GetTableResponse* table) {
  v1::GetTableRequest request;
  *request.mutable_spec() = spec;
  EXPECT_LE(request.ByteSizeLong(), 65536u);
  grpc::ClientContext context;
  return (*server)->GetTable(&context, request, table);
}

TEST(MessageLimit, DescribesATableOnceThatFitsNoMessageTwice) {
  RunningServer server(WithMessages(65536));
  v1::GetTableResponse table;
  const v1::TableSpec large = ExplicitProto(8000);
  const grpc::Status status = GetTable(&server, large, &table);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(SpecOf(table.spec()).fingerprint(), SpecOf(large).fingerprint());
  EXPECT_EQ(table.fingerprint(), SpecOf(large).fingerprint());
  EXPECT_FALSE(table.has_effective_spec());

  ASSERT_TRUE(GetTable(&server, ExplicitProto(4), &table).ok());
  EXPECT_EQ(table.effective_spec().sinusoidal().explicit_().frequencies_size(), 4);
}

TEST(MessageLimit, NamesTheWayOutForATableWhoseDescriptionFitsNoMessage) {
  RunningServer server(WithMessages(65536));
  v1::GetTableResponse table;
  const grpc::Status status = GetTable(&server, ExplicitProto(8180), &table);
  ExpectError(status, grpc::RESOURCE_EXHAUSTED, "spec");
  EXPECT_THAT(status.error_message(),
              AllOf(HasSubstr("max_message_bytes = 65536"), HasSubstr("--max_message_bytes")));
}

TEST(MessageLimit, DoesNotSendTheCallerOfARowThatFitsNoMessageToACallThatCannotEither) {
  RunningServer server(WithMessages(65536));
  const auto expect_way_out = [](const grpc::Status& status) {
    ExpectError(status, grpc::RESOURCE_EXHAUSTED, "spec");
    EXPECT_THAT(status.error_message(),
                AllOf(HasSubstr("--max_message_bytes"), Not(HasSubstr("ReadRows")),
                      Not(HasSubstr("several calls"))));
  };
  const v1::TableSpec spec = SinusoidalProto(16384);
  v1::Rows rows;
  for (std::int64_t count : {1, 2}) {
    expect_way_out(GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 0, count), &rows));
  }
  EXPECT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 0, 0), &rows).ok());

  v1::GatherRowsRequest gather;
  *gather.mutable_spec() = spec;
  gather.add_positions(3);
  grpc::ClientContext gather_context;
  v1::GatherRowsResponse gathered;
  expect_way_out(server->GatherRows(&gather_context, gather, &gathered));

  // The request has a shorter head than the response.
  v1::ShiftRowsRequest shift;
  *shift.mutable_spec() = SinusoidalProto(16372);
  shift.set_data(std::string(std::size_t{4} * 16372, '\0'));
  shift.set_steps(1);
  ASSERT_LE(shift.ByteSizeLong(), 65536u);
  grpc::ClientContext shift_context;
  v1::ShiftRowsResponse shifted;
  expect_way_out(server->ShiftRows(&shift_context, shift, &shifted));
}

TEST(CacheLimit, AServerThatKeepsNothingServesEverything) {
  RunningServer server(WithCache(0));
  const v1::TableSpec spec = SinusoidalProto(512);
  for (int round = 0; round < 2; ++round) {
    v1::Rows rows;
    const grpc::Status status =
        GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 5, 2000), &rows);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ExpectSameRows(rows.data(), LocalRows(spec, 5, 2000));
  }
  std::vector<v1::Rows> messages;
  EXPECT_TRUE(
      ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(spec, 0, 20'000), &messages).ok());
  EXPECT_TRUE(server.server().cache().Tables({}, 1).empty());
}

// Waits for what happens on other threads after a call has ended.
template <typename Condition>
bool Eventually(Condition condition) {
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

TEST(CacheLimit, CountsWhatSlowReadersHold) {
  const std::int64_t cache_bytes = 1 << 20;
  RunningServer server(WithCache(cache_bytes));
  const BlockCache& cache = server.server().cache();
  const std::int64_t bound = cache_bytes + cache.limits().working_bytes;
  {
    // Nobody reads these: each is stopped by flow control with about a chunk
    // of its own rows on its way.
    std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
    std::vector<std::unique_ptr<grpc::ClientReader<v1::ReadRowsResponse>>> readers;
    for (int i = 0; i < 100; ++i) {
      v1::TableSpec spec = SinusoidalProto(512);
      spec.mutable_sinusoidal()->set_base(100.0 + i);
      contexts.push_back(std::make_unique<grpc::ClientContext>());
      readers.push_back(server->ReadRows(contexts.back().get(),
                                         RangeRequest<v1::ReadRowsRequest>(spec, 0, 100'000)));
    }
    EXPECT_TRUE(Eventually([&] { return cache.live_bytes() > bound / 2; }));
    EXPECT_LE(cache.live_bytes(), bound);
    int refused = 0;
    for (std::size_t i = 0; i < readers.size(); ++i) {
      v1::ReadRowsResponse message;
      bool more = true;
      for (int k = 0; k < 3 && more; ++k) {
        more = readers[i]->Read(&message);
        EXPECT_LE(cache.live_bytes(), bound);
      }
      if (more) contexts[i]->TryCancel();
      const grpc::Status status = readers[i]->Finish();
      if (status.error_code() == grpc::UNAVAILABLE) ++refused;
      EXPECT_THAT(status.error_code(), testing::AnyOf(grpc::UNAVAILABLE, grpc::CANCELLED))
          << status.error_message();
    }
    EXPECT_GT(refused, 0);
  }
  EXPECT_TRUE(Eventually([&] { return cache.live_bytes() <= cache_bytes; }));
  v1::Rows rows;
  EXPECT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1), &rows).ok());
}

}  // namespace
}  // namespace phasor::server
