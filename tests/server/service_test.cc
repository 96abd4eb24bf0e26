// The methods over the wire, with the generated client.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/server/running_server.h"

namespace phasor::server {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Joined(const std::vector<v1::Rows>& messages) {
  std::string data;
  for (const v1::Rows& rows : messages) data += rows.data();
  return data;
}

TEST(GetTable, TellsWhatATableIs) {
  RunningServer server;
  v1::GetTableRequest request;
  *request.mutable_spec() = SinusoidalProto(512);
  request.mutable_spec()->mutable_sinusoidal()->set_base(10000);  // the default: left out
  request.mutable_spec()->mutable_sinusoidal()->set_layout(v1::LAYOUT_COS_SIN_DUPLICATED_HALVES);
  request.mutable_spec()->set_element_type(v1::ELEMENT_TYPE_FLOAT16);
  grpc::ClientContext context;
  v1::GetTableResponse table;
  const grpc::Status status = server->GetTable(&context, request, &table);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_FALSE(table.spec().sinusoidal().has_base());
  EXPECT_EQ(table.effective_spec().sinusoidal().base(), 10000);
  EXPECT_EQ(table.fingerprint(), SpecOf(request.spec()).fingerprint());
  EXPECT_EQ(table.row_width(), 1024);
  EXPECT_EQ(table.row_bytes(), 2048);
  EXPECT_FALSE(table.has_row_count());
  EXPECT_EQ(table.first_position(), -(std::int64_t{1} << 53));
  EXPECT_EQ(table.last_position(), std::int64_t{1} << 53);
  EXPECT_EQ(table.attention_factor(), 1);
  EXPECT_THAT(table.numerics_description(), HasSubstr("EXACT"));
  // It opens nothing.
  EXPECT_EQ(server.server().cache().live_bytes(), 0);
}

TEST(GetTable, TellsWhereALearnedTableEnds) {
  RunningServer server;
  v1::GetTableRequest request;
  *request.mutable_spec() = LearnedProto(40, 7);
  grpc::ClientContext context;
  v1::GetTableResponse table;
  ASSERT_TRUE(server->GetTable(&context, request, &table).ok());
  EXPECT_EQ(table.row_count(), 40);
  EXPECT_EQ(table.first_position(), 0);
  EXPECT_EQ(table.last_position(), 39);
  EXPECT_EQ(table.row_bytes(), 28);
  EXPECT_FALSE(table.has_attention_factor());
}

TEST(GetTable, TellsAFactorThatFollowsFromTheScaling) {
  RunningServer server;
  v1::GetTableRequest request;
  v1::Rotary& rotary = *request.mutable_spec()->mutable_rotary();
  rotary.set_width(64);
  rotary.set_base(150000);
  rotary.mutable_yarn()->set_factor(32);
  rotary.mutable_yarn()->set_original_max_position_embeddings(4096);
  grpc::ClientContext context;
  v1::GetTableResponse table;
  ASSERT_TRUE(server->GetTable(&context, request, &table).ok());
  EXPECT_DOUBLE_EQ(table.attention_factor(), 1.3465735902799727);  // gpt-oss: 1 + ln(32)/10
  EXPECT_FALSE(table.spec().rotary().has_attention_factor());
}

TEST(GatherRows, TakesOnePositionAnAxis) {
  RunningServer server;
  v1::GatherRowsRequest request;
  v1::Rotary& rotary = *request.mutable_spec()->mutable_rotary();
  rotary.set_width(8);
  for (const std::int64_t pairs : {1, 2, 1}) rotary.add_mrope_section(pairs);
  v1::TableSpec plain = request.spec();
  plain.mutable_rotary()->clear_mrope_section();
  const std::vector<std::int64_t> positions = {5, 70, 900, 0, 1, 2};
  request.mutable_positions()->Add(positions.begin(), positions.end());
  request.set_axes(3);
  grpc::ClientContext context;
  v1::GatherRowsResponse response;
  const grpc::Status status = server->GatherRows(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.rows().row_count(), 2);
  // Pair by pair the rows of ordinary tables: c0 ... c3 s0 ... s3.
  std::string want;
  for (int row = 0; row < 2; ++row) {
    for (const int column : {0, 1, 2, 3, 4, 5, 6, 7}) {
      const int axis = std::vector<int>{0, 1, 1, 2}[column % 4];
      want += LocalRows(plain, positions[3 * row + axis], 1).substr(4 * column, 4);
    }
  }
  ExpectSameRows(response.rows().data(), want);
}

TEST(GatherRows, RefusesAxesThatTheTableHasNot) {
  RunningServer server;
  const auto gather = [&](std::int64_t axes, int positions, bool sections) {
    v1::GatherRowsRequest request;
    request.mutable_spec()->mutable_rotary()->set_width(8);
    for (const std::int64_t pairs : {1, 2, 1}) {
      if (sections) request.mutable_spec()->mutable_rotary()->add_mrope_section(pairs);
    }
    for (int k = 0; k < positions; ++k) request.add_positions(k);
    request.set_axes(axes);
    grpc::ClientContext context;
    v1::GatherRowsResponse response;
    return server->GatherRows(&context, request, &response);
  };
  EXPECT_TRUE(gather(3, 6, true).ok());
  EXPECT_TRUE(gather(1, 6, true).ok());
  EXPECT_TRUE(gather(1, 6, false).ok());
  ExpectError(gather(3, 6, false), grpc::INVALID_ARGUMENT, "axes");
  ExpectError(gather(2, 6, true), grpc::INVALID_ARGUMENT, "axes");
  ExpectError(gather(0, 0, true), grpc::INVALID_ARGUMENT, "axes");
  ExpectError(gather(3, 5, true), grpc::INVALID_ARGUMENT, "positions");
}

TEST(GetFrequencies, GivesTheWorkedExample) {
  RunningServer server;
  v1::GetFrequenciesRequest request;
  *request.mutable_spec() = SinusoidalProto(4);
  grpc::ClientContext context;
  v1::GetFrequenciesResponse response;
  ASSERT_TRUE(server->GetFrequencies(&context, request, &response).ok());
  EXPECT_THAT(response.frequencies(), ElementsAre(1.0, 0.01));
  EXPECT_EQ(response.fingerprint(), SpecOf(request.spec()).fingerprint());
}

TEST(GetRows, GivesTheWorkedExample) {
  RunningServer server;
  v1::Rows rows;
  ASSERT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(4), 0, 3), &rows).ok());
  EXPECT_EQ(rows.row_count(), 3);
  EXPECT_EQ(rows.row_width(), 4);
  EXPECT_EQ(rows.element_type(), v1::ELEMENT_TYPE_FLOAT32);
  EXPECT_TRUE(rows.has_start_position());
  EXPECT_EQ(rows.start_position(), 0);
  float elements[12];
  ASSERT_EQ(rows.data().size(), sizeof elements);
  std::memcpy(elements, rows.data().data(), sizeof elements);
  // Correctly rounded values of sin and cos at 0, 1, 2 and 0, 0.01, 0.02.
  const float expected[12] = {0.0F,
                              1.0F,
                              0.0F,
                              1.0F,
                              0.8414709848078965F,
                              0.5403023058681398F,
                              0.009999833334166664F,
                              0.9999500004166653F,
                              0.9092974268256817F,
                              -0.4161468365471424F,
                              0.01999866669333308F,
                              0.9998000066665778F};
  EXPECT_EQ(std::memcmp(elements, expected, sizeof expected), 0);
}

TEST(GetRows, StartsAtZeroWhereAbsent) {
  RunningServer server;
  v1::GetRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(8);
  request.set_row_count(2);
  v1::Rows rows;
  ASSERT_TRUE(GetRows(&server, request, &rows).ok());
  EXPECT_TRUE(rows.has_start_position());
  ExpectSameRows(rows.data(), LocalRows(request.spec(), 0, 2));
}

// Whatever was read before: cold, warm, in part, across blocks.
TEST(GetRows, GivesTheSameRowsHoweverItIsAsked) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(512);
  for (const auto& [start, count] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {40, 1}, {0, 100}, {0, 100}, {-70, 200}, {31, 2}, {(1LL << 53) - 5, 6}}) {
    v1::Rows rows;
    const grpc::Status status =
        GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, start, count), &rows);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(rows.start_position(), start);
    EXPECT_EQ(rows.row_count(), count);
    ExpectSameRows(rows.data(), LocalRows(spec, start, count));
  }
}

TEST(GetRows, ServesLearnedTablesToTheirLastRow) {
  RunningServer server;
  const v1::TableSpec spec = LearnedProto(1'000'003, 33);
  v1::Rows rows;
  ASSERT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 1'000'000, 3), &rows).ok());
  ExpectSameRows(rows.data(), LocalRows(spec, 1'000'000, 3));
}

TEST(ReadRows, GivesARangeInMessagesOfWholeRows) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(512);  // 2 KiB rows
  std::vector<v1::Rows> messages;
  ASSERT_TRUE(
      ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(spec, -1000, 2000), &messages).ok());
  std::int64_t next = -1000;
  for (const v1::Rows& rows : messages) {
    EXPECT_EQ(rows.start_position(), next);
    EXPECT_LE(rows.data().size(), std::size_t{1} << 20);
    EXPECT_EQ(static_cast<std::int64_t>(rows.data().size()), rows.row_count() * 2048);
    next += rows.row_count();
  }
  EXPECT_EQ(next, 1000);
  EXPECT_EQ(messages.size(), 4u);
  ExpectSameRows(Joined(messages), LocalRows(spec, -1000, 2000));
}

// Those of the next message, which are made while one is sent, among them.
TEST(ReadRows, MakesEachBlockOnce) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(512);
  std::vector<v1::Rows> messages;
  ASSERT_TRUE(ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(spec, 16, 2000), &messages).ok());
  ExpectSameRows(Joined(messages), LocalRows(spec, 16, 2000));
  // 32 rows of 2 KiB a block; the range begins and ends within one.
  EXPECT_EQ(server.server().cache().blocks_made(), 63);
}

TEST(ReadRows, OfARangeLargerThanTheCachePutsNothingOut) {
  Options options = TestOptions();
  options.cache_bytes = 8 << 20;
  RunningServer server(options);
  v1::Rows hot;
  ASSERT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(512), 0, 1024), &hot).ok());
  BlockCache& cache = server.server().cache();
  const std::int64_t made = cache.blocks_made();

  v1::TableSpec spec = SinusoidalProto(510);
  spec.mutable_sinusoidal()->set_base(500);
  // Some of its rows are in the cache, in the middle of a message.
  v1::Rows some;
  ASSERT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 4000, 100), &some).ok());
  std::vector<v1::Rows> messages;
  ASSERT_TRUE(
      ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(spec, -10, 10'000), &messages).ok());
  ExpectSameRows(Joined(messages), LocalRows(spec, -10, 10'000));
  EXPECT_LE(cache.blocks_made(), made + 5);

  ASSERT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(512), 0, 1024), &hot).ok());
  EXPECT_LE(cache.blocks_made(), made + 5);
}

TEST(ReadRows, SendsARowThatIsAMessage) {
  RunningServer server;
  v1::TableSpec spec = SinusoidalProto(65536);
  spec.set_element_type(v1::ELEMENT_TYPE_FLOAT64);
  spec.mutable_sinusoidal()->set_layout(v1::LAYOUT_COS_SIN_DUPLICATED_PAIRS);  // 1 MiB a row
  std::vector<v1::Rows> messages;
  ASSERT_TRUE(ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(spec, 7, 3), &messages).ok());
  ASSERT_EQ(messages.size(), 3u);
  ExpectSameRows(Joined(messages), LocalRows(spec, 7, 3));
}

TEST(ReadRows, SendsOneMessageForZeroRows) {
  RunningServer server;
  for (std::int64_t start : {std::int64_t{0}, std::int64_t{40}}) {
    std::vector<v1::Rows> messages;
    ASSERT_TRUE(ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(LearnedProto(40, 8), start, 0),
                         &messages)
                    .ok());
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].row_count(), 0);
    EXPECT_EQ(messages[0].start_position(), start);
    EXPECT_EQ(messages[0].row_width(), 8);
    EXPECT_THAT(messages[0].data(), IsEmpty());
  }
}

v1::GatherRowsResponse Gather(RunningServer* server, const v1::GatherRowsRequest& request) {
  grpc::ClientContext context;
  v1::GatherRowsResponse response;
  const grpc::Status status = (*server)->GatherRows(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

TEST(GatherRows, GivesRowsInTheOrderAskedCachedOrNot) {
  RunningServer server;
  v1::GatherRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(64);
  std::string expected;
  for (std::int64_t position : {17, 4093, 88, 17, -5, 1 << 30, 18, 4094}) {
    request.add_positions(position);
    expected += LocalRows(request.spec(), position, 1);
  }
  ExpectSameRows(Gather(&server, request).rows().data(), expected);
  // Nothing of it came into the cache.
  v1::Rows rows;
  ASSERT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(request.spec(), 4000, 100), &rows).ok());
  const v1::GatherRowsResponse partly = Gather(&server, request);
  ExpectSameRows(partly.rows().data(), expected);
  EXPECT_EQ(partly.rows().row_count(), 8);
  EXPECT_FALSE(partly.rows().has_start_position());
  ASSERT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(request.spec(), 17, 1), &rows).ok());
  ASSERT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(request.spec(), -5, 1), &rows).ok());
  ASSERT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(request.spec(), 1 << 30, 1), &rows).ok());
  ExpectSameRows(Gather(&server, request).rows().data(), expected);
}

TEST(GatherRows, TakesRealPositionsExactly) {
  RunningServer server;
  v1::GatherRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(2);
  request.mutable_spec()->set_element_type(v1::ELEMENT_TYPE_FLOAT64);
  for (double position : {0.5, -2.25, 3.0}) request.add_real_positions(position);
  const v1::GatherRowsResponse response = Gather(&server, request);
  ASSERT_EQ(response.rows().data().size(), 6 * sizeof(double));
  double elements[6];
  std::memcpy(elements, response.rows().data().data(), sizeof elements);
  EXPECT_THAT(elements[0], DoubleEq(0.47942553860420300));
  EXPECT_THAT(elements[1], DoubleEq(0.87758256189037276));
  EXPECT_THAT(elements[2], DoubleEq(-0.77807319688792130));
  ExpectSameRows(response.rows().data().substr(32), LocalRows(request.spec(), 3, 1));
}

TEST(GatherRows, GivesMoreThanAStepsWorth) {
  RunningServer server;
  v1::GatherRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(512);
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t position = (i * 7919) % 3001;
    request.add_positions(position);
  }
  const std::string all = LocalRows(request.spec(), 0, 3001);
  for (std::int64_t position : request.positions()) {
    expected += all.substr(static_cast<std::size_t>(position) * 2048, 2048);
  }
  ExpectSameRows(Gather(&server, request).rows().data(), expected);
}

TEST(GatherRows, GivesNoRowsForNoPositions) {
  RunningServer server;
  v1::GatherRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(512);
  const v1::GatherRowsResponse response = Gather(&server, request);
  EXPECT_EQ(response.rows().row_count(), 0);
  EXPECT_EQ(response.rows().row_width(), 512);
}

v1::ShiftRowsRequest ShiftRequest(const v1::TableSpec& spec, std::string data, std::int64_t steps) {
  v1::ShiftRowsRequest request;
  *request.mutable_spec() = spec;
  request.set_data(std::move(data));
  request.set_steps(steps);
  return request;
}

TEST(ShiftRows, TurnsRowOneIntoRowTwo) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(4);
  grpc::ClientContext context;
  v1::ShiftRowsResponse response;
  const grpc::Status status =
      server->ShiftRows(&context, ShiftRequest(spec, LocalRows(spec, 1, 1), 1), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const std::string expected = LocalRows(spec, 2, 1);
  ASSERT_EQ(response.rows().data().size(), expected.size());
  for (std::size_t offset = 0; offset < expected.size(); offset += 4) {
    float got, want;
    std::memcpy(&got, response.rows().data().data() + offset, 4);
    std::memcpy(&want, expected.data() + offset, 4);
    EXPECT_NEAR(got, want, 0x1p-23);
  }
  EXPECT_EQ(response.rows().row_count(), 1);
  EXPECT_FALSE(response.rows().has_start_position());
}

TEST(ShiftRows, TurnsManyRowsAsCoreDoes) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(64);
  const std::string rows = LocalRows(spec, 100, 1000);
  v1::ShiftRowsRequest request = ShiftRequest(spec, rows, 0);
  request.set_fractional_steps(-2.5);
  grpc::ClientContext context;
  v1::ShiftRowsResponse response;
  ASSERT_TRUE(server->ShiftRows(&context, request, &response).ok());
  std::string expected(rows.size(), '\0');
  ASSERT_TRUE(phasor::ShiftRows(
                  SpecOf(spec), -2.5,
                  absl::MakeConstSpan(reinterpret_cast<const std::byte*>(rows.data()), rows.size()),
                  absl::MakeSpan(reinterpret_cast<std::byte*>(expected.data()), expected.size()))
                  .ok());
  ExpectSameRows(response.rows().data(), expected);
  EXPECT_EQ(response.rows().row_count(), 1000);
}

TEST(ShiftRows, NamesTheRowThatHoldsANaN) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(64);
  std::string rows = LocalRows(spec, 0, 1000);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(rows.data() + 777 * 256 + 5 * 4, &nan, 4);
  grpc::ClientContext context;
  v1::ShiftRowsResponse response;
  const grpc::Status status = server->ShiftRows(&context, ShiftRequest(spec, rows, 3), &response);
  ExpectError(status, grpc::INVALID_ARGUMENT, "data");
  EXPECT_THAT(status.error_message(), HasSubstr("row 777 column 5"));
}

TEST(ShiftRows, GivesNoRowsForNoData) {
  RunningServer server;
  grpc::ClientContext context;
  v1::ShiftRowsResponse response;
  ASSERT_TRUE(
      server->ShiftRows(&context, ShiftRequest(SinusoidalProto(64), "", 3), &response).ok());
  EXPECT_EQ(response.rows().row_count(), 0);
  EXPECT_EQ(response.rows().row_width(), 64);
}

TEST(ListTables, PagesThroughWhatIsHeld) {
  RunningServer server;
  std::vector<std::string> fingerprints;
  for (int i = 1; i <= 5; ++i) {
    v1::Rows rows;
    const v1::TableSpec spec = SinusoidalProto(64 * i);
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 0, 1), &rows).ok());
    }
    fingerprints.push_back(rows.fingerprint());
  }
  std::sort(fingerprints.begin(), fingerprints.end());
  std::vector<std::string> seen;
  v1::ListTablesRequest request;
  request.set_page_size(2);
  int pages = 0;
  do {
    grpc::ClientContext context;
    v1::ListTablesResponse page;
    ASSERT_TRUE(server->ListTables(&context, request, &page).ok());
    for (const v1::TableInfo& info : page.tables()) {
      seen.push_back(info.fingerprint());
      EXPECT_EQ(SpecOf(info.spec()).fingerprint(), info.fingerprint());
      EXPECT_EQ(info.cached_blocks(), 1);
      EXPECT_EQ(info.misses(), 1);
      EXPECT_EQ(info.hits(), 2);
      EXPECT_GT(info.cached_bytes(), 32 * 1024);
    }
    request.set_page_token(page.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(seen, fingerprints);
}

TEST(GetServerInfo, TellsVersionAndLimits) {
  Options options = TestOptions();
  options.cache_bytes = 1 << 20;
  options.max_message_bytes = 1 << 16;
  RunningServer server(options);
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(server->GetServerInfo(&context, v1::GetServerInfoRequest(), &info).ok());
  EXPECT_EQ(info.version(), PHASOR_VERSION);
  EXPECT_EQ(info.numerics_version(), 1);
  EXPECT_EQ(info.max_message_bytes(), 1 << 16);
  EXPECT_LT(info.max_chunk_bytes(), 1 << 16);
  EXPECT_EQ(info.cache_bytes(), 1 << 20);
  EXPECT_EQ(info.cached_bytes(), 0);
  EXPECT_EQ(info.max_width(), 65536);
}

TEST(GetServerInfo, CountsSettledElements) {
  RunningServer server;
  // Exact cases in every row: a power of two to each pair.
  v1::TableSpec spec;
  auto* frequencies = spec.mutable_sinusoidal()->mutable_explicit_()->mutable_frequencies();
  for (int i = 0; i < 64; ++i) frequencies->Add(std::ldexp(1.0, -i));
  spec.mutable_sinusoidal()->set_width(128);
  v1::Rows rows;
  ASSERT_TRUE(GetRows(&server, RangeRequest<v1::GetRowsRequest>(spec, 0, 128), &rows).ok());
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(server->GetServerInfo(&context, v1::GetServerInfoRequest(), &info).ok());
  const auto table = LocalTable::Create(SpecOf(spec));
  std::vector<std::byte> same(rows.data().size());
  ASSERT_TRUE(table->ReadInto(0, 128, absl::MakeSpan(same)).ok());
  ASSERT_GT(table->settled_elements(), 0);
  EXPECT_EQ(info.settled_elements(), table->settled_elements());
  EXPECT_EQ(info.costly_elements(), table->costly_elements());
}

TEST(Server, ServesOnAUnixSocketAndOnSeveralAddresses) {
  Options options = TestOptions();
  std::string directory = testing::TempDir() + "/phasorXXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  options.listen.push_back("unix:" + directory + "/s");
  RunningServer server(options);
  for (const std::string& address : server.server().addresses()) {
    auto stub = v1::PositionTableService::NewStub(
        grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    v1::GetServerInfoResponse info;
    const grpc::Status status = stub->GetServerInfo(&context, v1::GetServerInfoRequest(), &info);
    EXPECT_TRUE(status.ok()) << address << ": " << status.error_message();
  }
}

}  // namespace
}  // namespace phasor::server
