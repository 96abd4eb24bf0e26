// The client library against a server that goes wrong.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "phasor/grpc.h"
#include "phasor/phasor.h"
#include "proto/status_codec.h"
#include "tests/client/faulty_server.h"

namespace phasor {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

constexpr std::int64_t kWidth = 128;  // 512 bytes a row: 128 rows a block
constexpr std::int64_t kLong = 2000;  // rows; more than one unary call takes

class WireTest : public testing::Test {
 protected:
  Client Connect(ClientOptions options = {}) {
    return *Client::Connect(server_.address(), options);
  }

  // A table of a client whose calls so far are not of interest.
  Table Open(const ClientOptions& options = {}) {
    client_ = std::make_unique<Client>(Connect(options));
    return *client_->Open(Sinusoidal{.width = kWidth});
  }

  static std::vector<float> Expected(std::int64_t start, std::int64_t count) {
    std::vector<float> rows(static_cast<std::size_t>(count * kWidth));
    static const auto* table = new std::shared_ptr<const LocalTable>(
        LocalTable::Create(*CanonicalSpec::Create(Sinusoidal{.width = kWidth})));
    EXPECT_TRUE((*table)->ReadInto(start, count, AsBytes(absl::MakeSpan(rows))).ok());
    return rows;
  }

  static void ExpectRows(const absl::StatusOr<Rows>& rows, std::int64_t start, std::int64_t count) {
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_EQ(rows->row_count(), count);
    EXPECT_TRUE(*rows->values<float>() == absl::MakeConstSpan(Expected(start, count)));
  }

  FaultyServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(WireTest, ReadsShortAndLongRanges) {
  const Table table = Open();
  ExpectRows(table.Read(5, 3), 5, 3);
  ExpectRows(table.Read(-70, 140), -70, 140);
  ExpectRows(table.Read(-100, kLong), -100, kLong);
  ExpectRows(table.Read(kMaxPosition - 2, 3), kMaxPosition - 2, 3);
  std::vector<float> out(kLong * kWidth);
  ASSERT_TRUE(table.ReadInto(1, kLong, absl::MakeSpan(out)).ok());
  EXPECT_EQ(out, Expected(1, kLong));
}

TEST_F(WireTest, ReadsNoRowsFromTheFirstPositionToOnePastTheLast) {
  const Table table = Open();
  for (const std::int64_t start : {-kMaxPosition, std::int64_t{0}, kMaxPosition + 1}) {
    const auto rows = table.Read(start, 0);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_EQ(rows->row_count(), 0);
    EXPECT_EQ(rows->row_width(), kWidth);
  }
}

TEST_F(WireTest, GathersShiftsAndGivesFrequencies) {
  const Table table = Open();
  std::vector<float> out(3 * kWidth);
  ASSERT_TRUE(table.Gather({17, 4093, 17}, absl::MakeSpan(out)).ok());
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> row = Expected(i == 1 ? 4093 : 17, 1);
    EXPECT_EQ(std::memcmp(row.data(), &out[i * kWidth], row.size() * 4), 0);
  }
  const auto real = table.GatherReal({17.0, -2.0});
  ASSERT_TRUE(real.ok()) << real.status();
  EXPECT_TRUE(*real->row<float>(1) == absl::MakeConstSpan(Expected(-2, 1)));
  const auto shifted = table.Shift(*table.Read(10, 2), 5);
  ASSERT_TRUE(shifted.ok()) << shifted.status();
  const std::vector<float> want = Expected(15, 2);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR((*shifted->values<float>())[i], want[i], 0x1p-22);
  }
  const auto frequencies = table.Frequencies();
  ASSERT_TRUE(frequencies.ok()) << frequencies.status();
  EXPECT_EQ(frequencies->size(), 64U);
  EXPECT_EQ((*frequencies)[0], 1);
  EXPECT_EQ((*frequencies)[32], 0.01);
}

TEST_F(WireTest, FractionsArriveWhole) {
  const Table table = Open();
  const auto rows = table.GatherReal({17.5, -0.25});
  ASSERT_TRUE(rows.ok()) << rows.status();
  const auto shifted = table.Shift(*table.Read(10, 2), 0.5);
  ASSERT_TRUE(shifted.ok()) << shifted.status();
  // Pair 0 makes one radian a position.
  EXPECT_NEAR((*rows->row<float>(0))[0], std::sin(17.5), 0x1p-23);
  EXPECT_NEAR((*rows->row<float>(1))[0], std::sin(-0.25), 0x1p-23);
  EXPECT_NEAR((*shifted->row<float>(0))[0], std::sin(10.5), 0x1p-22);
  EXPECT_NEAR((*shifted->row<float>(1))[1], std::cos(11.5), 0x1p-22);
}

TEST_F(WireTest, EveryCallCarriesADeadline) {
  ClientOptions options;
  options.timeout = absl::Seconds(30);
  std::vector<absl::Duration> left;
  server_.before = [&](grpc::ServerContext* context) {
    left.push_back(absl::FromChrono(context->deadline()) - absl::Now());
    return grpc::Status::OK;
  };
  const Table table = Open(options);
  ASSERT_TRUE(table.Read(0, 1).ok());
  ASSERT_TRUE(table.Read(0, kLong).ok());
  EXPECT_THAT(left, AllOf(SizeIs(3), Each(AllOf(Gt(absl::ZeroDuration()), Le(absl::Seconds(31))))));
}

TEST_F(WireTest, EveryCallNamesTheTable) {
  const Table table = Open();
  ASSERT_TRUE(table.Read(0, 1).ok());
  ASSERT_TRUE(table.Read(0, kLong).ok());
  ASSERT_TRUE(table.Gather({4000}).ok());
  ASSERT_TRUE(table.Shift(*table.Read(0, 1), 1).ok());
  ASSERT_TRUE(table.Frequencies().ok());
  const auto calls = server_.calls();
  EXPECT_EQ(calls.size(), 6U);
  EXPECT_THAT(calls, Each(AllOf(Field(&FaultyServer::Call::fingerprint, table.fingerprint()),
                                Field(&FaultyServer::Call::table_metadata, table.fingerprint()))));
}

TEST_F(WireTest, OpenRefusesAServerThatMeansAnotherTable) {
  const std::function<void(v1::GetTableResponse*)> lies[] = {
      [](auto* r) { r->set_fingerprint(std::string(32, 'f')); },
      [](auto* r) { r->mutable_spec()->mutable_sinusoidal()->set_base(500); },
      [](auto* r) { r->clear_spec(); },
      [](auto* r) { r->set_row_width(kWidth / 2); },
      [](auto* r) { r->set_row_bytes(1); },
  };
  for (const auto& lie : lies) {
    server_.tamper_table = lie;
    const auto table = Connect().Open(Sinusoidal{.width = kWidth});
    EXPECT_EQ(table.status().code(), absl::StatusCode::kFailedPrecondition) << table.status();
    EXPECT_EQ(FieldOf(table.status()), "spec");
  }
}

TEST_F(WireTest, OpenChecksTheSpecBeforeAskingAnyone) {
  const auto table = Connect().Open(Sinusoidal{.width = 7});
  EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(table.status()), "spec.sinusoidal.width");
  EXPECT_TRUE(server_.calls().empty());
}

TEST_F(WireTest, RefusesRowsThatWereNotAskedFor) {
  const Table table = Open();
  const std::pair<absl::StatusCode, std::function<void(v1::Rows*)>> lies[] = {
      {absl::StatusCode::kFailedPrecondition, [](auto* r) { r->set_fingerprint("0123"); }},
      {absl::StatusCode::kDataLoss, [](auto* r) { r->set_row_count(r->row_count() + 1); }},
      {absl::StatusCode::kDataLoss, [](auto* r) { r->set_row_count(-1); }},
      {absl::StatusCode::kDataLoss, [](auto* r) { r->set_row_width(2 * kWidth); }},
      {absl::StatusCode::kDataLoss, [](auto* r) { r->set_element_type(v1::ELEMENT_TYPE_FLOAT64); }},
      {absl::StatusCode::kDataLoss, [](auto* r) { r->mutable_data()->pop_back(); }},
      {absl::StatusCode::kDataLoss, [](auto* r) { r->mutable_data()->resize(5 << 20); }},
      {absl::StatusCode::kDataLoss,
       [](auto* r) {
         r->set_row_count(0);
         r->clear_data();
       }},
      {absl::StatusCode::kDataLoss, [](auto* r) { r->Clear(); }},
  };
  const Rows rows = *table.Read(100000, 2);
  for (const auto& [code, lie] : lies) {
    server_.tamper = lie;
    const bool cleared = &lie == &lies[8].second;
    const absl::StatusCode want = cleared ? absl::StatusCode::kFailedPrecondition : code;
    EXPECT_EQ(table.Read(0, 1).status().code(), want);
    EXPECT_EQ(table.Read(0, kLong).status().code(), want);
    EXPECT_EQ(table.Gather({1, 2}).status().code(), want);
    EXPECT_EQ(table.Shift(rows, 1).status().code(), want);
    EXPECT_EQ(table.Decode().Next<float>().status().code(), want);
  }
  server_.tamper = [](auto* r) { r->set_start_position(r->start_position() + 1); };
  EXPECT_EQ(table.Read(0, 1).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(table.Read(0, kLong).status().code(), absl::StatusCode::kDataLoss);
  server_.tamper = nullptr;
  ExpectRows(table.Read(0, kLong), 0, kLong);
}

TEST_F(WireTest, RefusesStreamsThatAreTooShortOrTooLong) {
  const Table table = Open();
  server_.messages_too_many = 1;
  EXPECT_EQ(table.Read(0, kLong).status().code(), absl::StatusCode::kDataLoss);
  server_.messages_too_many = 0;
  int messages = 0;
  // A stream that ends well after fewer rows than asked for.
  server_.tamper = [&](v1::Rows* r) {
    if (++messages == 20) {
      r->set_row_count(r->row_count() - 1);
      r->mutable_data()->resize(r->data().size() - kWidth * 4);
    }
  };
  const auto rows = table.Read(0, kLong);
  EXPECT_EQ(rows.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(rows.status().message()), HasSubstr("1999 rows of 2000"));
}

TEST_F(WireTest, AStreamThatBreaksGoesOnWhereItBroke) {
  const Table table = Open();
  // Each of the first three streams gives two messages, then breaks.
  server_.before_message = [&](int number) {
    const bool breaks = number == 2 && server_.calls("ReadRows").size() <= 3;
    return breaks ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "drained") : grpc::Status::OK;
  };
  ExpectRows(table.Read(-1000, kLong), -1000, kLong);
  std::vector<std::int64_t> starts;
  for (const auto& call : server_.calls("ReadRows")) {
    starts.push_back(call.start);
    EXPECT_EQ(call.start + call.rows, -1000 + kLong);
  }
  EXPECT_THAT(starts, ElementsAre(-1000, -800, -600, -400));
  EXPECT_EQ(client_->counters().retries, 3);
}

TEST_F(WireTest, RepeatsAnUnavailableCallAfterTheDelayAskedFor) {
  const Table table = Open();
  int left = 3;
  server_.before = [&](grpc::ServerContext* context) {
    if (left-- <= 0) return grpc::Status::OK;
    context->AddTrailingMetadata("grpc-retry-pushback-ms", "70");
    return ToGrpcStatus(absl::UnavailableError("busy"));
  };
  const std::int64_t before = client_->counters().rpcs;
  const absl::Time begin = absl::Now();
  ExpectRows(table.Read(0, 1), 0, 1);
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(210));
  EXPECT_EQ(client_->counters().retries, 3);
  EXPECT_EQ(client_->counters().rpcs - before, 4);
}

TEST_F(WireTest, KeepsToTheDelayOfTheDetails) {
  ClientOptions options;
  options.initial_backoff = options.max_backoff = absl::Microseconds(1);
  const Table table = Open(options);
  int left = 1;
  server_.before = [&](grpc::ServerContext*) {
    return left-- <= 0 ? grpc::Status::OK : ToGrpcStatus(absl::UnavailableError("busy"));
  };
  const absl::Time begin = absl::Now();
  ExpectRows(table.Read(0, 1), 0, 1);
  EXPECT_GE(absl::Now() - begin, kRetryDelay);
}

TEST_F(WireTest, RepeatsACallThatTheServerCancelled) {
  const Table table = Open();
  int left = 2;
  server_.before = [&](grpc::ServerContext*) {
    return left-- > 0 ? grpc::Status(grpc::StatusCode::CANCELLED, "") : grpc::Status::OK;
  };
  ExpectRows(table.Read(0, 1), 0, 1);
  left = 2;
  ExpectRows(table.Read(0, kLong), 0, kLong);
  EXPECT_EQ(client_->counters().retries, 4);
}

TEST_F(WireTest, DoesNotRepeatWhereTheServerSaysNotTo) {
  const Table table = Open();
  for (const char* pushback : {"-1", "soon"}) {
    server_.before = [&](grpc::ServerContext* context) {
      context->AddTrailingMetadata("grpc-retry-pushback-ms", pushback);
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "leave me alone");
    };
    const std::size_t calls = server_.calls().size();
    EXPECT_EQ(table.Gather({1}).status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(server_.calls().size(), calls + 1);
  }
}

TEST_F(WireTest, PassesOnTheServersErrorAndItsField) {
  const Table table = Open();
  server_.before = [](grpc::ServerContext*) {
    return ToGrpcStatus(FieldError(absl::StatusCode::kFailedPrecondition, "expected_fingerprint",
                                   "is not this table's"));
  };
  for (const absl::Status& status : {table.Read(0, 1).status(), table.Read(0, kLong).status(),
                                     table.Gather({1}).status(), table.Frequencies().status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(FieldOf(status), "expected_fingerprint");
    EXPECT_EQ(status.message(), "expected_fingerprint: is not this table's");
  }
  EXPECT_EQ(client_->counters().retries, 0);
}

TEST_F(WireTest, RefusesRowsThatDoNotExistWithoutAskingAnyone) {
  const Table table = Open();
  const std::size_t calls = server_.calls().size();
  const auto expect = [](const absl::Status& status, absl::StatusCode code, const char* field) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(FieldOf(status), field);
  };
  expect(table.Read(0, -1).status(), absl::StatusCode::kInvalidArgument, "row_count");
  expect(table.Read(-kMaxPosition - 1, 1).status(), absl::StatusCode::kOutOfRange,
         "start_position");
  EXPECT_EQ(table.Read(kMaxPosition, 2).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(table.Read(1, std::numeric_limits<std::int64_t>::max()).status().code(),
            absl::StatusCode::kOutOfRange);
  expect(table.Gather({0, 1, kMaxPosition + 1}).status(), absl::StatusCode::kOutOfRange,
         "positions[2]");
  expect(table.Read(-kMaxPosition, 2 * kMaxPosition).status(), absl::StatusCode::kResourceExhausted,
         "row_count");
  std::vector<float> out(kWidth);
  expect(table.ReadInto(0, 2, absl::MakeSpan(out)), absl::StatusCode::kInvalidArgument, "out");
  expect(table.Gather({1, 2}, absl::MakeSpan(out)), absl::StatusCode::kInvalidArgument, "out");
  std::vector<double> wrong(kWidth);
  expect(table.ReadInto(0, 1, absl::MakeSpan(wrong)), absl::StatusCode::kInvalidArgument, "out");
  expect(table.Shift(absl::MakeConstSpan(out).subspan(1), 1, absl::MakeSpan(out)),
         absl::StatusCode::kInvalidArgument, "data");
  EXPECT_EQ(server_.calls().size(), calls);
}

TEST_F(WireTest, LargeGathersAndShiftsAreCutIntoMessagesTheServerTakes) {
  const FaultyServer server(1 << 19);
  const Table table = *Client::Connect(server.address())->Open(Sinusoidal{.width = kWidth});
  constexpr std::int64_t kCount = 3000;
  std::vector<std::int64_t> positions(kCount);
  for (std::int64_t i = 0; i < kCount; ++i) positions[i] = -5 - i;
  const auto rows = table.Gather(positions);
  ASSERT_TRUE(rows.ok()) << rows.status();
  const std::vector<float> want = Expected(-5 - kCount + 1, kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(
        std::memcmp(rows->row<float>(i)->data(), &want[(kCount - 1 - i) * kWidth], kWidth * 4), 0);
  }
  const auto shifted = table.Shift(*rows, 0);
  ASSERT_TRUE(shifted.ok()) << shifted.status();
  EXPECT_TRUE(shifted->bytes() == rows->bytes());
  EXPECT_EQ(server.calls("GetServerInfo").size(), 1U);
  for (const char* method : {"GatherRows", "ShiftRows"}) {
    EXPECT_EQ(server.calls(method).size(), 3U);
    EXPECT_THAT(server.calls(method),
                Each(AllOf(Field(&FaultyServer::Call::request_bytes, Le(1 << 19)),
                           Field(&FaultyServer::Call::rows, Le((1 << 19) / kWidth / 4)))));
  }
}

TEST_F(WireTest, ReadsPastAServersLimitAsAStream) {
  const Table table = Open();
  server_.before = [&](grpc::ServerContext*) {
    return server_.calls().back().method == "GetRows"
               ? grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "use ReadRows")
               : grpc::Status::OK;
  };
  ExpectRows(table.Read(3, 5), 3, 5);
}

TEST_F(WireTest, AChannelWithDefaultSettingsReads4MiB) {
  const auto channel = grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials());
  const auto client = phasor::Connect(channel);
  ASSERT_TRUE(client.ok()) << client.status();
  server_.rows_per_message = 2048;
  ExpectRows(client->Open(Sinusoidal{.width = 128})->Read(0, 8192), 0, 8192);
}

TEST_F(WireTest, AnAddressWhereNobodyListensIsUnavailableWithinTheTimeout) {
  server_.Stop();
  ClientOptions options;
  options.timeout = absl::Milliseconds(300);
  const absl::Time begin = absl::Now();
  const auto table = Connect(options).Open(Sinusoidal{.width = kWidth});
  EXPECT_EQ(table.status().code(), absl::StatusCode::kUnavailable) << table.status();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(3));
}

TEST_F(WireTest, ADecodeSurvivesTheServersRestart) {
  const Table table = Open();
  Cursor cursor = table.Decode(1000);
  for (std::int64_t p = 1000; p < 3000; ++p) {
    if (p % 500 == 100) {
      server_.Stop();
      server_.Start();
    }
    const auto row = cursor.Next<float>();
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_TRUE(*row == absl::MakeConstSpan(Expected(p, 1))) << p;
  }
}

TEST_F(WireTest, AGatherIsOneCallForAllThatIsNotInMemory) {
  const Table table = Open();
  ASSERT_TRUE(table.Read(1000, 1).ok());
  const std::vector<std::int64_t> positions = {7, 1001, 5000, 7, -1};
  for (int step = 0; step < 3; ++step) {
    const auto rows = table.Gather(positions);
    ASSERT_TRUE(rows.ok()) << rows.status();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      EXPECT_TRUE(*rows->row<float>(static_cast<std::int64_t>(i)) ==
                  absl::MakeConstSpan(Expected(positions[i], 1)));
    }
  }
  ASSERT_GE(server_.calls("GatherRows").size(), 2U);
  EXPECT_EQ(server_.calls("GatherRows")[0].rows, 4);
}

TEST_F(WireTest, SeveralTablesOfAStepAreAskedForAtTheSameTime) {
  const Table a = Open();
  const Table b = *client_->Open(Sinusoidal{.width = kWidth, .base = 500.0});
  // No call is answered before both are there.
  std::atomic<int> there{0};
  server_.before = [&](grpc::ServerContext*) {
    ++there;
    while (there < 2) std::this_thread::yield();
    return grpc::Status::OK;
  };
  std::vector<float> out_a(2 * kWidth);
  std::vector<float> out_b(kWidth);
  const std::int64_t of_a[] = {5, 4000};
  const std::int64_t of_b[] = {-3};
  const absl::Status status =
      Table::Gather({{a, of_a, absl::MakeSpan(out_a)}, {b, of_b, absl::MakeSpan(out_b)}});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(absl::MakeConstSpan(out_a).subspan(kWidth) == absl::MakeConstSpan(Expected(4000, 1)));
  EXPECT_FLOAT_EQ(out_b[0], static_cast<float>(std::sin(-3.0)));
}

TEST_F(WireTest, OfSeveralCallsOfAStepThoseThatFailedAreRepeated) {
  const Table a = Open();
  const Table b = *client_->Open(Sinusoidal{.width = kWidth, .base = 500.0});
  std::atomic<int> calls{0};
  server_.before = [&](grpc::ServerContext*) {
    return ++calls % 2 == 1 ? ToGrpcStatus(absl::UnavailableError("busy")) : grpc::Status::OK;
  };
  std::vector<float> out(2 * kWidth);
  const std::int64_t position[] = {5};
  ASSERT_TRUE(Table::Gather({{a, position, absl::MakeSpan(out).subspan(0, kWidth)},
                             {b, position, absl::MakeSpan(out).subspan(kWidth)}})
                  .ok());
  EXPECT_EQ(calls, 4);  // two, of which one failed, which failed again
  EXPECT_EQ(client_->counters().retries, 2);
}

// Read-ahead is what calls ReadRows here: a block is less than a stream's worth.
TEST_F(WireTest, ACursorReadsAheadInStreamsThatItDoesNotWaitFor) {
  const Table table = Open();
  server_.rows_per_message = 37;  // not whole blocks
  Cursor cursor = table.Decode(1000);
  for (std::int64_t p = 1000; p < 5000; ++p) {
    const auto row = cursor.Next<float>();
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_TRUE(*row == absl::MakeConstSpan(Expected(p, 1))) << p;
  }
  EXPECT_EQ(server_.calls("GetRows").size(), 1U);
  std::int64_t next = server_.calls("GetRows")[0].start + server_.calls("GetRows")[0].rows;
  for (const auto& call : server_.calls("ReadRows")) {
    EXPECT_EQ(call.start, next);
    EXPECT_EQ(call.fingerprint, table.fingerprint());
    EXPECT_EQ(call.table_metadata, table.fingerprint());
    next += call.rows;
  }
  EXPECT_GE(next, 5000);
}

TEST_F(WireTest, AClientEndsWithReadAheadUnderWay) {
  std::atomic<int> waiting{0};
  std::atomic<int> cancelled{0};
  server_.before_message = [&](int) {
    ++waiting;
    while (cancelled < waiting) std::this_thread::yield();
    return grpc::Status::OK;
  };
  {
    const Table table = Open();
    ASSERT_TRUE(table.Decode(0).Next<float>().ok());
    while (waiting == 0) std::this_thread::yield();
    client_ = nullptr;
    // The last of the client ends with its table, here, within no call's time.
  }
  cancelled = 1000;
  server_.Stop();  // its hooks use what ends here
}

TEST_F(WireTest, WrongRowsReadAheadAreThrownAway) {
  const Table table = Open();
  std::atomic<int> tampered{0};
  server_.tamper = [&](v1::Rows* rows) {
    if (tampered++ % 2 == 1) rows->set_fingerprint(std::string(32, 'a'));
  };
  Cursor cursor = table.Decode(0);
  int refused = 0;
  for (std::int64_t p = 0; p < 2000;) {
    const auto row = cursor.Next<float>();
    if (row.ok()) {
      ASSERT_TRUE(*row == absl::MakeConstSpan(Expected(p, 1))) << p;
      ++p;
    } else {
      ASSERT_EQ(row.status().code(), absl::StatusCode::kFailedPrecondition);
      ASSERT_LT(++refused, 100);
    }
  }
  server_.Stop();  // its hooks use what ends here
}

TEST_F(WireTest, ReadAheadKeepsAwayForAsLongAsTheServerAsks) {
  const Table table = Open();
  server_.before_stream = [&](grpc::ServerContext* context) {
    context->AddTrailingMetadata("grpc-retry-pushback-ms", "3600000");
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "overloaded");
  };
  Cursor cursor = table.Decode(0);
  const auto streams_of_a_jump = [&] {
    const std::size_t before = server_.calls("ReadRows").size();
    cursor.Seek(cursor.position() + 1000);
    EXPECT_TRUE(cursor.Next<float>().ok());
    return server_.calls("ReadRows").size() - before;
  };
  // The answer arrives at some time, and then nothing more is asked.
  const absl::Time limit = absl::Now() + absl::Seconds(30);
  int quiet = 0;
  while (quiet < 20) {
    ASSERT_LT(absl::Now(), limit);
    quiet = streams_of_a_jump() == 0 ? quiet + 1 : 0;
  }
  EXPECT_GE(server_.calls("ReadRows").size(), 1U);
  server_.Stop();  // its hooks use what ends here
}

TEST_F(WireTest, ConnectionsAreUsedInTurn) {
  ClientOptions options;
  options.connections = 3;
  options.block_cache_bytes = 0;
  absl::Mutex mutex;
  std::set<std::string> peers;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&server_);
  const auto tcp = builder.BuildAndStart();
  server_.before = [&](grpc::ServerContext* context) {
    absl::MutexLock lock(&mutex);
    peers.insert(context->peer());
    return grpc::Status::OK;
  };
  const Client client = *Client::Connect("127.0.0.1:" + std::to_string(port), options);
  const Table table = *client.Open(Sinusoidal{.width = kWidth});
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(table.Read(i, 1).ok());
  EXPECT_EQ(peers.size(), 3U);
  tcp->Shutdown();
}

TEST_F(WireTest, FallbackComputesTheSameBitsAndReturnsToTheServer) {
  ClientOptions options;
  options.fallback = Fallback::kComputeLocally;
  options.block_cache_bytes = 0;
  const Table table = Open(options);
  ExpectRows(table.Read(0, 1), 0, 1);
  EXPECT_EQ(client_->counters().local_fallbacks, 0);

  server_.Stop();
  ExpectRows(table.Read(0, 1), 0, 1);
  ExpectRows(table.Read(7, kLong), 7, kLong);
  EXPECT_TRUE(*table.Gather({99})->row<float>(0) == absl::MakeConstSpan(Expected(99, 1)));
  EXPECT_TRUE(client_->Open(Sinusoidal{.width = 64}).ok());
  EXPECT_EQ(client_->counters().local_fallbacks, 4);

  server_.Start();
  const std::size_t calls = server_.calls().size();
  const absl::Time limit = absl::Now() + absl::Seconds(30);
  while (server_.calls().size() == calls) {
    ASSERT_LT(absl::Now(), limit);
    ExpectRows(table.Read(0, 1), 0, 1);
  }
}

// A socket that takes connections and never says a word.
class BlackHole {
 public:
  BlackHole() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  ~BlackHole() { close(socket_); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
};

TEST(BlackHoleTest, EndsWithinTheTimeout) {
  const BlackHole hole;
  ClientOptions options;
  options.timeout = absl::Milliseconds(300);
  const absl::Time begin = absl::Now();
  const auto table = Client::Connect(hole.address(), options)->Open(Sinusoidal{.width = 4});
  EXPECT_TRUE(absl::IsDeadlineExceeded(table.status()) || absl::IsUnavailable(table.status()))
      << table.status();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(3));
}

TEST(BlackHoleTest, FallbackHelpsAgainstIt) {
  const BlackHole hole;
  ClientOptions options;
  options.timeout = absl::Milliseconds(300);
  options.fallback = Fallback::kComputeLocally;
  const Client client = *Client::Connect(hole.address(), options);
  const auto table = client.Open(Sinusoidal{.width = 4});
  ASSERT_TRUE(table.ok()) << table.status();
  const auto row = table->Decode(1).Next<float>();
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_THAT(*row, ElementsAre(0x1.aed548p-1F, 0x1.14a28p-1F, 0x1.47acaep-7F, 0x1.fff972p-1F));
  EXPECT_GE(client.counters().local_fallbacks, 1);
}

TEST(ProxyTest, TheEnvironmentsProxyIsPassedBy) {
  const BlackHole hole;
  for (const char* name : {"http_proxy", "grpc_proxy", "https_proxy", "HTTP_PROXY"}) {
    setenv(name, ("http://" + hole.address()).c_str(), 1);
  }
  unsetenv("no_proxy");
  unsetenv("no_grpc_proxy");
  grpc::ServerBuilder builder;
  FaultyServer server;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&server);
  const auto tcp = builder.BuildAndStart();
  for (const char* host : {"127.0.0.1", "dns:///127.0.0.1"}) {
    const auto table = Client::Connect(std::string(host) + ":" + std::to_string(port))
                           ->Open(Sinusoidal{.width = 4});
    EXPECT_TRUE(table.ok()) << table.status();
  }
  for (const char* name : {"http_proxy", "grpc_proxy", "https_proxy", "HTTP_PROXY"}) unsetenv(name);
  tcp->Shutdown();
}

TEST(ConnectTest, RefusesWhatCannotWork) {
  const auto expect = [](const absl::Status& status, const char* field) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldOf(status), field);
  };
  const auto with = [](auto member, auto value) {
    ClientOptions options;
    options.*member = value;
    return Client::Connect("localhost:1", options).status();
  };
  expect(Client::Connect("localhost").status(), "address");
  expect(with(&ClientOptions::timeout, absl::ZeroDuration()), "timeout");
  expect(with(&ClientOptions::block_cache_bytes, -1), "block_cache_bytes");
  expect(with(&ClientOptions::initial_backoff, absl::ZeroDuration()), "initial_backoff");
  expect(with(&ClientOptions::max_backoff, absl::Milliseconds(1)), "max_backoff");
  expect(with(&ClientOptions::connections, 0), "connections");
  expect(with(&ClientOptions::connections, 65), "connections");
  expect(Connect("localhost:1", nullptr).status(), "credentials");
  expect(Connect(std::shared_ptr<grpc::Channel>()).status(), "channel");
}

}  // namespace
}  // namespace phasor
