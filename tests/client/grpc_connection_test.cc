// What a client tells of a server's answers, rows aside, and of calls cut into
// parts.

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "phasor/grpc.h"
#include "phasor/phasor.h"
#include "proto/spec_codec.h"
#include "proto/status_codec.h"
#include "tests/client/faulty_server.h"

namespace phasor {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kWidth = 128;  // 512 bytes a row

class GrpcConnectionTest : public testing::Test {
 protected:
  // A server that takes a thousand rows or so in a message.
  GrpcConnectionTest() : server_(1 << 19) {}

  Client Connect(const ClientOptions& options = {}) {
    return *Client::Connect(server_.address(), options);
  }
  Table Open() { return *Connect().Open(Sinusoidal{.width = kWidth}); }

  FaultyServer server_;
};

TEST_F(GrpcConnectionTest, TellsTheServersVersionAndEachLimit) {
  const auto info = Connect().GetServerInfo();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->version, "1.2.3");
  EXPECT_EQ(info->numerics_version, 2);
  EXPECT_EQ(info->max_message_bytes, 1 << 19);
  EXPECT_EQ(info->max_chunk_bytes, 3);
  EXPECT_EQ(info->cache_bytes, 4);
  EXPECT_EQ(info->cached_bytes, 5);
  EXPECT_EQ(info->max_width, 6);
}

TEST_F(GrpcConnectionTest, ListsTheTablesOfAllPages) {
  const TableSpec spec = Sinusoidal{.width = 6, .base = 500.0};
  for (int i = 0; i < 5; ++i) {
    v1::TableInfo& table = server_.tables.emplace_back();
    *table.mutable_spec() = CanonicalToProto(*CanonicalSpec::Create(spec));
    table.set_fingerprint(std::string(1, static_cast<char>('a' + i)));
    table.set_cached_bytes(10 + i);
    table.set_cached_blocks(20 + i);
    table.set_hits(30 + i);
    table.set_misses(40 + i);
  }
  server_.tables[1].clear_spec();                    // a large one
  server_.tables[2].mutable_spec()->clear_scheme();  // a scheme that is not known here
  const auto tables = Connect().ListTables();
  ASSERT_TRUE(tables.ok()) << tables.status();
  ASSERT_THAT(*tables, SizeIs(5));
  for (int i = 0; i < 5; ++i) {
    const TableInfo& table = (*tables)[static_cast<std::size_t>(i)];
    EXPECT_EQ(table.fingerprint, std::string(1, static_cast<char>('a' + i)));
    EXPECT_EQ(table.cached_bytes, 10 + i);
    EXPECT_EQ(table.cached_blocks, 20 + i);
    EXPECT_EQ(table.hits, 30 + i);
    EXPECT_EQ(table.misses, 40 + i);
    EXPECT_EQ(table.spec, i == 1 || i == 2 ? std::nullopt : std::optional(spec));
  }
  EXPECT_THAT(server_.calls("ListTables"), SizeIs(3));
}

TEST_F(GrpcConnectionTest, ListsNoTables) { EXPECT_TRUE(Connect().ListTables()->empty()); }

TEST_F(GrpcConnectionTest, PassesOnErrorsOfTheServerAboutItself) {
  server_.before = [](grpc::ServerContext*) {
    return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "not for you");
  };
  EXPECT_EQ(Connect().GetServerInfo().status(), absl::PermissionDeniedError("not for you"));
  EXPECT_EQ(Connect().ListTables().status(), absl::PermissionDeniedError("not for you"));
}

TEST_F(GrpcConnectionTest, ANewClientHasCountedNothing) {
  const ClientCounters counters = Connect().counters();
  EXPECT_EQ(counters.rpcs, 0);
  EXPECT_EQ(counters.retries, 0);
  EXPECT_EQ(counters.local_fallbacks, 0);
  EXPECT_EQ(counters.block_hits, 0);
  EXPECT_EQ(counters.block_misses, 0);
  EXPECT_EQ(counters.blocks_ahead, 0);
  EXPECT_EQ(counters.stalls, 0);
}

TEST_F(GrpcConnectionTest, WhatNobodySetIsNothing) {
  const ClientCounters counters;
  const TableInfo table;
  const ServerInfo server;
  for (const std::int64_t number :
       {counters.rpcs, counters.retries, counters.local_fallbacks, counters.block_hits,
        counters.block_misses, counters.blocks_ahead, counters.stalls, table.cached_bytes,
        table.cached_blocks, table.hits, table.misses, server.numerics_version,
        server.max_message_bytes, server.max_chunk_bytes, server.cache_bytes, server.cached_bytes,
        server.max_width}) {
    EXPECT_EQ(number, 0);
  }
}

TEST_F(GrpcConnectionTest, EveryCallIsCounted) {
  const Client client = Connect();
  const Table table = *client.Open(Sinusoidal{.width = kWidth});
  EXPECT_EQ(client.counters().rpcs, 1);
  ASSERT_TRUE(table.Frequencies().ok());
  EXPECT_EQ(client.counters().rpcs, 2);
  ASSERT_TRUE(table.Read(0, 2000).ok());
  EXPECT_EQ(client.counters().rpcs, 3);
  ASSERT_TRUE(table.GatherReal({0.5}).ok());
  EXPECT_EQ(client.counters().rpcs, 4);
  EXPECT_EQ(client.counters().retries, 0);
}

TEST_F(GrpcConnectionTest, OpenSaysHowTheServersTableDiffers) {
  const std::string mine = CanonicalSpec::Create(Sinusoidal{.width = kWidth})->fingerprint();
  const std::string theirs(32, 'f');
  const std::pair<std::function<void(v1::GetTableResponse*)>, std::vector<std::string>> lies[] = {
      {[&](auto* r) { r->set_fingerprint(theirs); }, {theirs, mine}},
      {[](auto* r) { r->mutable_spec()->mutable_sinusoidal()->set_base(500); },
       {"sinusoidal.base=407f400000000000", "sinusoidal.width=128"}},
      {[](auto* r) { r->mutable_spec()->mutable_sinusoidal()->set_width(7); }, {"width"}},
      {[](auto* r) { r->set_row_width(64); }, {"rows of 64 elements", "128"}},
      {[](auto* r) { r->set_row_width(256); }, {"rows of 256 elements", "128"}},
      {[](auto* r) { r->set_row_bytes(511); }, {"511 bytes", "512"}},
      {[](auto* r) { r->set_row_bytes(1024); }, {"1024 bytes", "512"}},
  };
  for (const auto& [lie, words] : lies) {
    server_.tamper_table = lie;
    const absl::Status status = Connect().Open(Sinusoidal{.width = kWidth}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_EQ(FieldOf(status), "spec");
    for (const std::string& word : words) {
      EXPECT_THAT(std::string(status.message()), HasSubstr(word));
    }
  }
}

TEST_F(GrpcConnectionTest, RefusesFrequenciesThatWereNotAskedFor) {
  const Table table = Open();
  server_.tamper_frequencies = [](auto* r) { r->set_fingerprint("0123"); };
  const absl::Status other = table.Frequencies().status();
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.message()),
              AllOf(HasSubstr("\"0123\""), HasSubstr(table.fingerprint())));
  server_.tamper_frequencies = [](auto* r) { r->mutable_frequencies()->RemoveLast(); };
  EXPECT_EQ(table.Frequencies().status(), absl::DataLossError("the server sent 63 frequencies"));
  server_.tamper_frequencies = [](auto* r) { r->add_frequencies(1); };
  EXPECT_EQ(table.Frequencies().status(), absl::DataLossError("the server sent 65 frequencies"));
}

// ---------------------------------------------------------------- calls in parts

// Where the part begins that the message says to be refused; -1 if it says none.
std::int64_t PartNamed(const absl::Status& status) {
  static constexpr absl::string_view kWords = "in the part of the call that begins at its row ";
  const std::size_t at = status.message().find(kWords);
  if (at == absl::string_view::npos) return -1;
  std::int64_t row = -1;
  const absl::string_view rest = status.message().substr(at + kWords.size());
  EXPECT_TRUE(absl::SimpleAtoi(rest.substr(0, rest.find(')')), &row)) << status;
  return row;
}

TEST_F(GrpcConnectionTest, AnErrorInAPartSaysWhereThePartBegins) {
  const Table table = Open();
  const Rows rows = *table.Read(0, 2500);
  std::vector<double> positions(2500);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i) + 0.5;
  const std::function<absl::Status()> ways[] = {
      [&] { return table.Shift(rows, 1).status(); },
      [&] { return table.GatherReal(positions).status(); }};
  for (const auto& call : ways) {
    // Two parts of as many rows as fit, and a third one of what is left.
    std::atomic<std::int64_t> rows_of_full = 0;
    server_.before_call = [&](const FaultyServer::Call& part) {
      rows_of_full = std::max<std::int64_t>(rows_of_full, part.rows);
      return grpc::Status::OK;
    };
    ASSERT_TRUE(call().ok());
    ASSERT_GT(rows_of_full, 1000);
    ASSERT_LT(2 * rows_of_full, 2500);
    const std::int64_t rest = 2500 - 2 * rows_of_full;
    server_.before_call = [&](const FaultyServer::Call& part) {
      return part.rows != rest ? grpc::Status::OK
                               : ToGrpcStatus(FieldError(absl::StatusCode::kOutOfRange,
                                                         "real_positions[7]", "is not there"));
    };
    const absl::Status last = call();
    EXPECT_EQ(last.code(), absl::StatusCode::kOutOfRange) << last;
    EXPECT_EQ(FieldOf(last), "real_positions[7]");
    EXPECT_THAT(std::string(last.message()), HasSubstr("real_positions[7]: is not there"));
    EXPECT_EQ(PartNamed(last), 2 * rows_of_full) << last;
    // Of the first part nothing needs to be said: its rows are the call's.
    server_.before_call = [&](const FaultyServer::Call& part) {
      return part.rows == rest ? grpc::Status::OK : ToGrpcStatus(absl::OutOfRangeError("no"));
    };
    EXPECT_EQ(call(), absl::OutOfRangeError("no"));
  }
}

// A step of two tables: a call each, at the same time.
class StepTest : public GrpcConnectionTest {
 protected:
  StepTest() {
    ClientOptions options;
    options.initial_backoff = options.max_backoff = absl::Microseconds(1);
    options.block_cache_bytes = 0;  // nothing is read in the background
    client_ = std::make_unique<Client>(Connect(options));
    for (const double base : {500.0, 600.0}) {
      tables_.push_back(*client_->Open(Sinusoidal{.width = kWidth, .base = base}));
    }
  }
  absl::Status Gather() {
    return Table::Gather({{tables_[0], position_, absl::MakeSpan(out_).subspan(0, kWidth)},
                          {tables_[1], position_, absl::MakeSpan(out_).subspan(kWidth)}});
  }

  const std::vector<std::int64_t> position_ = {5};
  std::vector<float> out_ = std::vector<float>(2 * kWidth);
  std::unique_ptr<Client> client_;
  std::vector<Table> tables_;
};

TEST_F(StepTest, EndsWithWhatCannotBeMended) {
  for (const Table& busy : tables_) {
    server_.before_call = [&](const FaultyServer::Call& call) {
      return ToGrpcStatus(call.fingerprint == busy.fingerprint()
                              ? absl::UnavailableError("busy")
                              : absl::InvalidArgumentError("wrong"));
    };
    EXPECT_EQ(Gather(), absl::InvalidArgumentError("wrong"));
  }
  EXPECT_EQ(client_->counters().retries, 0);
}

TEST_F(StepTest, IsNotRepeatedWhereTheServerWantsThatOfOneOfItsCalls) {
  for (const Table& unwilling : tables_) {
    server_.before = [&](grpc::ServerContext* context) {
      const auto table = context->client_metadata().find("x-phasor-table")->second;
      const bool is = std::string(table.data(), table.size()) == unwilling.fingerprint();
      context->AddTrailingMetadata("grpc-retry-pushback-ms", is ? "-1" : "1");
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "busy");
    };
    EXPECT_EQ(Gather().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_EQ(client_->counters().retries, 0);
}

TEST_F(StepTest, WaitsAsLongAsAnyOfItsCallsIsAskedTo) {
  for (const Table& slow : tables_) {
    std::atomic<int> left{2};
    server_.before = [&](grpc::ServerContext* context) {
      if (left-- <= 0) return grpc::Status::OK;
      const auto table = context->client_metadata().find("x-phasor-table")->second;
      const bool is = std::string(table.data(), table.size()) == slow.fingerprint();
      context->AddTrailingMetadata("grpc-retry-pushback-ms", is ? "80" : "1");
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "busy");
    };
    const absl::Time begin = absl::Now();
    EXPECT_TRUE(Gather().ok());
    EXPECT_GE(absl::Now() - begin, absl::Milliseconds(80));
  }
}

TEST_F(GrpcConnectionTest, AGatherOfManyPartsIsWhole) {
  const Table table = Open();
  std::vector<double> positions(40000);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i) + 0.5;
  std::atomic<int> calls{0};
  // Now and then one is to be repeated.
  server_.before = [&](grpc::ServerContext*) {
    return ++calls % 5 == 0 ? ToGrpcStatus(absl::UnavailableError("busy")) : grpc::Status::OK;
  };
  const auto rows = table.GatherReal(positions);
  ASSERT_TRUE(rows.ok()) << rows.status();
  const Rows want = *Client::Local().Open(Sinusoidal{.width = kWidth})->GatherReal(positions);
  EXPECT_TRUE(rows->bytes() == want.bytes());
}

// ---------------------------------------------------------------- streams

TEST_F(GrpcConnectionTest, AStreamThatBreaksAfterItsLastRowIsWhole) {
  const Client client = Connect();
  const Table table = *client.Open(Sinusoidal{.width = kWidth});
  const Rows want = *Client::Local().Open(Sinusoidal{.width = kWidth})->Read(0, 2000);
  for (const auto code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::DEADLINE_EXCEEDED}) {
    server_.after_stream = [code] { return grpc::Status(code, "gone"); };
    const auto rows = table.Read(0, 2000);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_TRUE(rows->bytes() == want.bytes());
  }
  EXPECT_EQ(client.counters().retries, 0);
  server_.after_stream = [] { return grpc::Status(grpc::StatusCode::INTERNAL, "lost"); };
  EXPECT_EQ(table.Read(0, 2000).status(), absl::InternalError("lost"));
}

TEST_F(GrpcConnectionTest, TakesMessagesOfAnySizeOfAStream) {
  const Table table = Open();
  server_.rows_per_message = 20000;  // 10 MiB
  const auto rows = table.Read(0, 20000);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(rows->bytes() ==
              Client::Local().Open(Sinusoidal{.width = kWidth})->Read(0, 20000)->bytes());
}

// ---------------------------------------------------------------- answers by the byte

// Answers every call with the same bytes, or an error.
class RawServer final : public grpc::CallbackGenericService {
 public:
  RawServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~RawServer() override { server_->Shutdown(); }

  Client Connect() const { return *Client::Connect("127.0.0.1:" + std::to_string(port_)); }
  void Answer(const std::string& bytes, const grpc::Status& status = grpc::Status::OK) {
    absl::MutexLock lock(&mutex_);
    answer_ = bytes;
    status_ = status;
  }
  // Method and message of the last call.
  std::pair<std::string, std::string> asked() const {
    absl::MutexLock lock(&mutex_);
    return {method_, request_};
  }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor(RawServer* server, std::string method) : server_(server), method_(std::move(method)) {
      StartRead(&request_);
    }
    void OnReadDone(bool /*ok*/) override {
      std::vector<grpc::Slice> slices;
      static_cast<void>(request_.Dump(&slices));
      std::string bytes;
      for (const grpc::Slice& slice : slices) {
        bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
      }
      absl::MutexLock lock(&server_->mutex_);
      server_->method_ = method_;
      server_->request_ = bytes;
      const grpc::Slice answer(server_->answer_);
      response_ = grpc::ByteBuffer(&answer, 1);
      if (server_->status_.ok()) {
        StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
      } else {
        Finish(server_->status_);
      }
    }
    void OnDone() override { delete this; }

   private:
    RawServer* const server_;
    const std::string method_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer response_;
  };
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Reactor(this, context->method());
  }

  mutable absl::Mutex mutex_;
  std::string answer_ ABSL_GUARDED_BY(mutex_);
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
  std::string method_ ABSL_GUARDED_BY(mutex_);
  std::string request_ ABSL_GUARDED_BY(mutex_);
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// grpc.health.v1: HealthCheckRequest{string service = 1},
// HealthCheckResponse{ServingStatus status = 1}; UNKNOWN 0, SERVING 1,
// NOT_SERVING 2, SERVICE_UNKNOWN 3.
TEST(HealthTest, TellsWhatTheServerSays) {
  RawServer server;
  const Client client = server.Connect();
  const auto says = [&](const std::string& bytes) {
    server.Answer(bytes);
    return client.CheckHealth();
  };
  EXPECT_EQ(*says("\x08\x01"), ServingStatus::kServing);
  EXPECT_EQ(*says("\x08\x02"), ServingStatus::kNotServing);
  EXPECT_EQ(*says(""), ServingStatus::kUnknown);
  EXPECT_EQ(*says(std::string("\x08\x00", 2)), ServingStatus::kUnknown);
  EXPECT_EQ(*says("\x08\x03"), ServingStatus::kUnknown);
  // A field that is not known is no error, before or after the known one.
  EXPECT_EQ(*says("\x1a\x02hi\x08\x01"), ServingStatus::kServing);
  EXPECT_EQ(*says("\x08\x01\x1a\x02hi"), ServingStatus::kServing);
  // The field as something else than a number is not it.
  EXPECT_EQ(*says("\x0a\x01\x01"), ServingStatus::kUnknown);
}

TEST(HealthTest, AsksForTheServiceNamed) {
  RawServer server;
  const Client client = server.Connect();
  server.Answer("\x08\x01");
  ASSERT_TRUE(client.CheckHealth("a.Service").ok());
  EXPECT_EQ(server.asked(),
            std::pair(std::string("/grpc.health.v1.Health/Check"), std::string("\x0a\x09"
                                                                               "a.Service")));
}

TEST(HealthTest, RefusesAnAnswerThatIsNotOneAboutHealth) {
  RawServer server;
  const Client client = server.Connect();
  for (const char* bytes : {"\x08", "\x08\xff", "\x1a\x05hi", "\x08\x01\x1a\x05hi"}) {
    server.Answer(bytes);
    EXPECT_EQ(client.CheckHealth().status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(HealthTest, NamesAServiceThatTheServerDoesNotKnow) {
  RawServer server;
  const Client client = server.Connect();
  server.Answer("", grpc::Status(grpc::StatusCode::NOT_FOUND, "what?"));
  const absl::Status unknown = client.CheckHealth("a.Service").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FieldOf(unknown), "service");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("a.Service"));
  server.Answer("", grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no health here"));
  EXPECT_EQ(client.CheckHealth().status(), absl::UnimplementedError("no health here"));
}

TEST(RawAnswersTest, WhatIsNoMessageOfTheProtocolIsDataLoss) {
  RawServer server;
  const Client client = server.Connect();
  server.Answer("\x0a\xff");
  for (const absl::Status& status : {client.GetServerInfo().status(), client.ListTables().status(),
                                     client.Open(Sinusoidal{.width = 4}).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("phasor.v1."));
  }
}

}  // namespace
}  // namespace phasor
