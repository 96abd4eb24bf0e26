// The client library against the real server, in this process.

#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "phasor/grpc.h"
#include "phasor/phasor.h"
#include "server/server.h"
#include "tests/client/oracle_rows.h"

namespace phasor {
namespace {

using server::Options;
using server::Server;
using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::Field;

// A server on a UNIX socket of its own, so that it comes back where it was.
class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "phasor-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    options_.listen = {"unix:" + directory_ + "/socket"};
    Start();
  }
  ~ServerTest() override {
    server_ = nullptr;
    std::filesystem::remove_all(directory_);
  }

  void Start() { server_ = Server::Start(options_).value(); }
  void Stop() { server_ = nullptr; }

  Client Connect(const ClientOptions& options = {}) {
    return *Client::Connect(options_.listen[0], options);
  }

  std::string directory_;
  Options options_;
  std::unique_ptr<Server> server_;
};

template <Element T>
void ExpectOracleRows(const Client& client, const Sinusoidal& spec, std::int64_t start,
                      std::int64_t count) {
  const absl::StatusOr<Table> table = client.Open({spec, ElementTypeOf<T>()});
  ASSERT_TRUE(table.ok()) << table.status();
  const absl::StatusOr<Rows> rows = table->Read(start, count);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(*rows->values<T>() == absl::MakeConstSpan(OracleRows<T>(spec, start, count)));
}

TEST_F(ServerTest, RowsAreTheOraclesInEveryTypeAndLayout) {
  const Client client = Connect();
  for (int layout = 0; layout <= static_cast<int>(Layout::kSinOnly); ++layout) {
    const Sinusoidal spec{.width = 6, .layout = static_cast<Layout>(layout)};
    ExpectOracleRows<float>(client, spec, 4093, 40);
    ExpectOracleRows<double>(client, spec, -7, 40);
    ExpectOracleRows<Float16>(client, spec, 1048575, 40);
    ExpectOracleRows<Bfloat16>(client, spec, kMaxPosition - 39, 40);
  }
  // fairseq's table with padding index 1.
  ExpectOracleRows<float>(
      client, {.width = 8, .ladder = InclusiveLadder{}, .position_offset = 2, .zero_row = 1}, -3,
      10);
}

TEST_F(ServerTest, RotaryRowsOfSeveralAxesAreTheLocalOnes) {
  const Rotary spec{.width = 128,
                    .base = 1e6,
                    .scaling = YarnScaling{.factor = 4, .original_max_position_embeddings = 32768},
                    .mrope_section = {16, 24, 24}};
  const Table table = *Connect().Open(spec);
  const Table local = *Client::Local().Open(spec);
  std::vector<std::int64_t> positions;
  for (std::int64_t k = 0; k < 30000; ++k) positions.push_back(k * k % 131072);  // several messages
  const absl::StatusOr<Rows> rows = table.GatherAxes(positions);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->row_count(), 10000);
  EXPECT_TRUE(*rows->values<float>() == *local.GatherAxes(positions)->values<float>());
  const std::vector<double> real(positions.begin(), positions.begin() + 30);
  EXPECT_TRUE(*table.GatherRealAxes(real)->values<float>() ==
              rows->values<float>()->subspan(0, 10 * 128));
  EXPECT_EQ(FieldOf(table.GatherAxes({1, 2}).status()), "positions");
  positions[20000] = kMaxPosition + 1;
  EXPECT_EQ(FieldOf(table.GatherAxes(positions).status()), "positions[20000]");
  EXPECT_EQ(*table.Frequencies(), *local.Frequencies());
}

TEST_F(ServerTest, EverySchemeHasTheLocalRows) {
  const Client client = Connect();
  for (const TableSpec& spec :
       {TableSpec(Timestep{.width = 9, .downscale_freq_shift = 0}, ElementType::kFloat64),
        TableSpec(Sinusoidal{
            .width = 9, .ladder = TimescaleLadder{2, 500}, .odd_column = OddColumn::kSine}),
        TableSpec(NoPosition{.width = 8}), TableSpec(NoPosition{.width = 7, .additive = true}),
        TableSpec(Alibi{.head_count = 12}, ElementType::kBfloat16), TableSpec(RelativeBuckets{})}) {
    const Table table = *client.Open(spec);
    const Table local = *Client::Local().Open(spec);
    EXPECT_EQ(table.fingerprint(), local.fingerprint());
    EXPECT_TRUE(table.Read(-2000, 5000)->bytes() == local.Read(-2000, 5000)->bytes());
    const std::vector<std::int64_t> positions = {5, -5, 5, 100000};
    EXPECT_TRUE(table.Gather(positions)->bytes() == local.Gather(positions)->bytes());
  }
}

TEST_F(ServerTest, BucketsAreIntegers) {
  const Table table = *Connect().Open(RelativeBuckets{});
  const Rows rows = *table.Read(-2, 4);
  EXPECT_THAT(*rows.values<std::int32_t>(), ElementsAre(2, 1, 0, 17));
  EXPECT_EQ(FieldOf(rows.values<float>().status()), "T");
  EXPECT_EQ(FieldOf(table.GatherReal({1.0}).status()), "real_positions");
  EXPECT_EQ(FieldOf(table.Frequencies().status()), "spec");
}

TEST_F(ServerTest, BiasesEndBeforeTheFirstInfinity) {
  const Table table = *Connect().Open({Alibi{.head_count = 8}, ElementType::kFloat16});
  Cursor cursor = table.Decode(131038);
  EXPECT_TRUE(cursor.Next<Float16>().ok());
  EXPECT_TRUE(cursor.Next<Float16>().ok());
  EXPECT_EQ(cursor.Next<Float16>().status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(table.Read(131039, 2).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(ServerTest, OpensAModelsTableByItsConfiguration) {
  const Client client = Connect();
  const std::string config = R"({"model_type": "gemma3_text", "head_dim": 64,
      "rope_scaling": {"rope_type": "linear", "factor": 8}})";
  const auto opened = client.OpenModel(config, "full_attention");
  ASSERT_TRUE(opened.ok()) << opened.status();
  const Table wanted = *client.Open(Rotary{.width = 64, .base = 1e6, .scaling = LinearScaling{8}});
  EXPECT_EQ(opened->fingerprint(), wanted.fingerprint());
  EXPECT_TRUE(*opened->Read(70, 2)->values<float>() == *wanted.Read(70, 2)->values<float>());
  EXPECT_EQ(FieldOf(client.OpenModel(config).status()), "table");
  EXPECT_EQ(FieldOf(client.OpenModel("{}").status()), "config_json.model_type");
}

TEST_F(ServerTest, TheWorkedExample) {
  const Table table = *Connect().Open(Sinusoidal{.width = 4});
  EXPECT_THAT(*table.Frequencies(), ElementsAre(1, 0.01));
  const Rows rows = *table.Read(0, 3);
  const float want[3][4] = {{0, 1, 0, 1},
                            {0.841471F, 0.540302F, 0.010000F, 0.999950F},
                            {0.909297F, -0.416147F, 0.019999F, 0.999800F}};
  for (int p = 0; p < 3; ++p) {
    for (int c = 0; c < 4; ++c) EXPECT_NEAR((*rows.row<float>(p))[c], want[p][c], 6e-7F);
  }
  const Rows shifted = *table.Shift(*table.Read(1, 1), 1);
  for (int c = 0; c < 4; ++c) {
    EXPECT_NEAR((*shifted.row<float>(0))[c], (*rows.row<float>(2))[c], 0x1p-23F);
  }
}

TEST_F(ServerTest, EveryWayToReadGivesTheSameRows) {
  const Client client = Connect();
  const TableSpec specs[] = {Sinusoidal{.width = 64},
                             TableSpec(LearnedInit{.max_positions = 5000, .width = 63, .seed = 42},
                                       ElementType::kFloat32)};
  for (const TableSpec& spec : specs) {
    const Table table = *client.Open(spec);
    // Read as a stream, from another process's place: nothing shared with the rest.
    const Rows whole = *Connect().Open(spec)->Read(0, 5000);
    const Rows local = *Client::Local().Open(spec)->Read(0, 5000);
    EXPECT_TRUE(whole.bytes() == local.bytes());
    const std::vector<std::int64_t> positions = {0, 4999, 17, 1024, 17, 255, 256};
    const Rows gathered = *table.Gather(positions);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const absl::Span<const float> row = *whole.row<float>(positions[i]);
      EXPECT_TRUE(*gathered.row<float>(static_cast<std::int64_t>(i)) == row);
      EXPECT_TRUE(*table.Read(positions[i], 1)->row<float>(0) == row);
      Cursor cursor = table.Decode(positions[i]);
      EXPECT_TRUE(*cursor.Next<float>() == row);
    }
    Cursor cursor = table.Decode(3000);
    for (std::int64_t p = 3000; p < 5000; ++p) {
      ASSERT_TRUE(*cursor.Next<float>() == *whole.row<float>(p)) << p;
    }
  }
}

TEST_F(ServerTest, DecodesTwoThousandRowsInAFewCalls) {
  const Client client = Connect();
  Cursor cursor = client.Open(Sinusoidal{.width = 64})->Decode(1000);
  const std::int64_t before = client.counters().rpcs;
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(cursor.Next<float>().ok());
  EXPECT_LE(client.counters().rpcs - before, 9);
}

TEST_F(ServerTest, ALearnedTableEndsAtItsEnd) {
  const Table table = *Connect().Open(LearnedInit{.max_positions = 1000, .width = 8});
  Cursor cursor = table.Decode(990);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(cursor.Next<float>().ok());
  EXPECT_EQ(cursor.Next<float>().status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(FieldOf(table.Read(999, 2).status()), "row_count");
  EXPECT_EQ(FieldOf(table.Gather({1000}).status()), "positions[0]");
}

TEST_F(ServerTest, ReadsAnyLengthWithAnyLimitOfMessages) {
  Stop();
  options_.max_message_bytes = 64 << 10;
  Start();
  const Table table = *Connect().Open(Sinusoidal{.width = 128});
  const Rows local = *Client::Local().Open(Sinusoidal{.width = 128})->Read(-3, 8192);
  for (const std::int64_t count : {1, 127, 200, 1000, 8192}) {
    const auto rows = table.Read(-3, count);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_TRUE(rows->bytes() == local.bytes().subspan(0, rows->bytes().size())) << count;
  }
  std::vector<std::int64_t> positions(1000);
  for (int i = 0; i < 1000; ++i) positions[i] = i - 3;
  const auto gathered = table.Gather(positions);
  ASSERT_TRUE(gathered.ok()) << gathered.status();
  EXPECT_TRUE(gathered->bytes() == local.bytes().subspan(0, gathered->bytes().size()));
}

TEST_F(ServerTest, FourMebibytesReachAChannelWithDefaultSettings) {
  const auto channel = grpc::CreateChannel(options_.listen[0], grpc::InsecureChannelCredentials());
  const auto rows = phasor::Connect(channel)->Open(Sinusoidal{.width = 128})->Read(0, 8192);
  ASSERT_TRUE(rows.ok()) << rows.status();
  const Rows local = *Client::Local().Open(Sinusoidal{.width = 128})->Read(0, 8192);
  EXPECT_TRUE(rows->bytes() == local.bytes());
}

TEST_F(ServerTest, ErrorsOfTheServerNameTheirField) {
  const Table seeded = *Connect().Open(LearnedInit{.max_positions = 10, .width = 4});
  const auto expect = [](const absl::Status& status, absl::StatusCode code,
                         const std::string& field) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(FieldOf(status), field) << status;
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  expect(seeded.Frequencies().status(), kInvalid, "spec");
  expect(seeded.Shift(*seeded.Read(0, 1), 1).status(), kInvalid, "spec");
  const Table table = *Connect().Open(Sinusoidal{.width = 4});
  std::vector<float> rows(8);
  rows[5] = std::numeric_limits<float>::quiet_NaN();
  expect(table.Shift(absl::MakeConstSpan(rows), 1, absl::MakeSpan(rows)), kInvalid, "data");
  expect(table.Shift(*table.Read(0, 1), std::numeric_limits<double>::infinity()).status(), kInvalid,
         "by");
  // And the next request is served.
  EXPECT_TRUE(table.Read(0, 1).ok());
}

TEST_F(ServerTest, RestartsInTheMiddleOfADecodeCostTimeAlone) {
  ClientOptions options;
  options.timeout = absl::Minutes(1);
  const Table table = *Connect(options).Open(Sinusoidal{.width = 128});
  const Rows want = *Client::Local().Open(Sinusoidal{.width = 128})->Read(0, 40000);
  std::atomic<std::int64_t> decoded{0};
  std::thread restarts([&] {
    for (std::int64_t next = 700; next < 10000; next += 1000) {
      while (decoded < next) std::this_thread::yield();
      Stop();
      Start();
    }
  });
  absl::Cleanup end = [&] {
    decoded = 10000;
    restarts.join();
  };
  Cursor cursor = table.Decode();
  for (std::int64_t p = 0; p < 10000; ++p) {
    const auto row = cursor.Next<float>();
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_TRUE(*row == *want.row<float>(p)) << p;
    decoded = p;
  }
  std::move(end).Invoke();

  std::thread restart([&] {
    for (int i = 0; i < 3; ++i) {
      Stop();
      Start();
    }
  });
  absl::Cleanup join = [&] { restart.join(); };
  for (int i = 0; i < 10; ++i) {
    const auto rows = table.Read(0, 40000);
    ASSERT_TRUE(rows.ok()) << rows.status();
    ASSERT_TRUE(rows->bytes() == want.bytes());
  }
}

TEST_F(ServerTest, FallbackGivesTheServersBits) {
  ClientOptions options;
  options.fallback = Fallback::kComputeLocally;
  options.block_cache_bytes = 0;
  const TableSpec specs[] = {
      TableSpec(Sinusoidal{.width = 64, .base = 500000.0}, ElementType::kBfloat16),
      TableSpec(LearnedInit{.max_positions = 5000, .width = 64, .seed = 7})};
  for (const TableSpec& spec : specs) {
    Client client = Connect(options);
    const Table table = *client.Open(spec);
    const Rows served = *table.Read(100, 3000);
    const Rows gathered = *table.Gather({7, 8, 4000});
    EXPECT_EQ(client.counters().local_fallbacks, 0);
    Stop();
    EXPECT_TRUE(table.Read(100, 3000)->bytes() == served.bytes());
    EXPECT_TRUE(table.Gather({7, 8, 4000})->bytes() == gathered.bytes());
    EXPECT_EQ(client.counters().local_fallbacks, 2);
    Start();
    const std::int64_t rpcs = client.counters().rpcs;
    const absl::Time limit = absl::Now() + absl::Seconds(30);
    std::int64_t fallbacks = 0;
    do {
      fallbacks = client.counters().local_fallbacks;
      ASSERT_TRUE(table.Read(100, 3)->bytes() == served.bytes().subspan(0, 3 * table.row_bytes()));
      ASSERT_LT(absl::Now(), limit);
    } while (client.counters().local_fallbacks != fallbacks);
    EXPECT_GT(client.counters().rpcs, rpcs);
  }
}

TEST_F(ServerTest, ManyThreadsOnOneClient) {
  const Client client = Connect();
  const Table table = *client.Open(Sinusoidal{.width = 128});
  const Rows want = *Client::Local().Open(Sinusoidal{.width = 128})->Read(0, 4096);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Cursor cursor = table.Decode(t * 100);
      for (std::int64_t i = 0; i < 400; ++i) {
        ASSERT_TRUE(*cursor.Next<float>() == *want.row<float>(t * 100 + i));
      }
      for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(table.Read(t, 2048)->bytes() ==
                    want.bytes().subspan(t * table.row_bytes(), 2048 * table.row_bytes()));
        const Rows step = *table.Gather({t, 4095 - t, i});
        ASSERT_TRUE(*step.row<float>(1) == *want.row<float>(4095 - t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ServerTest, TellsOfItselfAndItsTables) {
  const Client client = Connect();
  const auto info = client.GetServerInfo();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->max_message_bytes, 4 << 20);
  EXPECT_EQ(info->max_width, 65536);
  EXPECT_EQ(info->cache_bytes, options_.cache_bytes);
  const Table table = *client.Open(Sinusoidal{.width = 4, .base = 500.0});
  ASSERT_TRUE(table.Read(0, 1).ok());
  const auto tables = client.ListTables();
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_THAT(*tables, ElementsAre(AllOf(Field(&TableInfo::fingerprint, table.fingerprint()),
                                         Field(&TableInfo::spec, table.spec().spec()))));
  EXPECT_EQ(*client.CheckHealth(), ServingStatus::kServing);
  EXPECT_EQ(*client.CheckHealth("phasor.v1.PositionTableService"), ServingStatus::kServing);
  const auto unknown = client.CheckHealth("no.such.Service");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FieldOf(unknown.status()), "service");
}

TEST(ServerOnTcpTest, ServesOnAFreePort) {
  Options options;
  options.listen = {"127.0.0.1:0"};
  const auto server = Server::Start(options).value();
  const auto table = Client::Connect(server->addresses()[0])->Open(Sinusoidal{.width = 6});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(*table->Read(5, 2)->values<float>(),
              ElementsAreArray(OracleRows<float>({.width = 6}, 5, 2)));
}

TEST(ServerOnTcpTest, SeveralAddressesAreUsedInTurn) {
  Options options;
  options.listen = {"127.0.0.1:0"};
  const auto a = Server::Start(options).value();
  auto b = Server::Start(options).value();
  ClientOptions client_options;
  client_options.block_cache_bytes = 0;
  const Client client =
      *Client::Connect(a->addresses()[0] + "," + b->addresses()[0], client_options);
  const Table table = *client.Open(Sinusoidal{.width = 6});
  const auto both_asked = [&] {
    for (const auto& server : {a.get(), b.get()}) {
      const auto tables = Client::Connect(server->addresses()[0])->ListTables();
      if (tables->empty()) return false;
    }
    return true;
  };
  const absl::Time limit = absl::Now() + absl::Seconds(30);
  while (!both_asked()) {
    ASSERT_TRUE(table.Read(0, 1).ok());
    ASSERT_LT(absl::Now(), limit);
  }
  b = nullptr;
  for (int i = 0; i < 20; ++i) {
    const auto rows = table.Read(i, 1);
    ASSERT_TRUE(rows.ok()) << rows.status();
  }
}

}  // namespace
}  // namespace phasor
