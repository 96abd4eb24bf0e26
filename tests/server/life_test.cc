// Start, health, reflection, drain and end; some of it of the real binary.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/protobuf/empty.pb.h"
#include "google/protobuf/unknown_field_set.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "server/file_descriptor.h"
#include "tests/server/fake_table.h"
#include "tests/server/running_server.h"

namespace phasor::server {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// A phasord with its standard error read line by line.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments) {
    int error[2], output[2];
    EXPECT_EQ(pipe2(error, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(output, O_CLOEXEC), 0);
    std::vector<std::string> words = {PHASORD};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, error[1], 2);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    EXPECT_EQ(posix_spawn(&pid_, PHASORD, &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(error[1]);
    close(output[1]);
    error_ = FileDescriptor(error[0]);
    output_ = FileDescriptor(output[0]);
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      Wait();
    }
  }

  // The next line of standard error; empty at its end.
  std::string Line() { return ReadLine(error_.get()); }
  std::string OutputLine() { return ReadLine(output_.get()); }

  // The address of the next "phasord ready on" line.
  std::string ReadyAddress() {
    for (;;) {
      const std::string line = Line();
      absl::string_view address = line;
      if (line.empty() || absl::ConsumePrefix(&address, "phasord ready on ")) {
        return std::string(address);
      }
    }
  }

  void Signal(int number) { kill(pid_, number); }

  // Exit status, or minus the signal that killed it.
  int Wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  static std::string ReadLine(int fd) {
    std::string line;
    char c;
    while (read(fd, &c, 1) == 1 && c != '\n') line += c;
    return line;
  }

  pid_t pid_ = -1;
  FileDescriptor error_;
  FileDescriptor output_;
};

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

bool Answers(const std::string& address) {
  auto stub = v1::PositionTableService::NewStub(ConnectTo(address));
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  return stub->GetServerInfo(&context, v1::GetServerInfoRequest(), &info).ok();
}

grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const google::protobuf::MessageLite& request,
                  google::protobuf::MessageLite* response) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  auto call = stub.PrepareUnaryCall(&context, method, Encode(request), &queue);
  call->StartCall();
  grpc::Status status;
  grpc::ByteBuffer bytes;
  call->Finish(&bytes, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  grpc::ProtoBufferReader reader(&bytes);
  EXPECT_TRUE(!status.ok() || response->ParseFromZeroCopyStream(&reader));
  return status;
}

grpc::Status Health(const std::shared_ptr<grpc::Channel>& channel, const std::string& service,
                    HealthCheckResponse* response) {
  HealthCheckRequest request;
  request.set_service(service);
  return Call(channel, "/grpc.health.v1.Health/Check", request, response);
}

TEST(Health, TellsOfTheServerAndTheService) {
  RunningServer server;
  HealthCheckResponse response;
  for (const std::string service : {"", "phasor.v1.PositionTableService"}) {
    ASSERT_TRUE(Health(server.channel(), service, &response).ok());
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << service;
  }
  EXPECT_EQ(Health(server.channel(), "other", &response).error_code(), grpc::NOT_FOUND);
}

TEST(Health, ReportsNotServingWhileDrainingAndCallsAreStillAnswered) {
  RunningServer server;
  // Connected before the drain; the channel is used from it on.
  ASSERT_TRUE(Answers(server.address()));
  std::thread drain([&] { server.server().Drain(absl::Seconds(2), absl::Seconds(10)); });
  HealthCheckResponse response;
  do {
    ASSERT_TRUE(Health(server.channel(), kServiceName, &response).ok());
  } while (response.status() == HealthCheckResponse::SERVING);
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  ASSERT_TRUE(Health(server.channel(), "", &response).ok());
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  v1::Rows rows;
  EXPECT_TRUE(
      GetRows(&server, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1), &rows).ok());
  drain.join();
  EXPECT_FALSE(Answers(server.address()));
}

// Asks the reflection service, whose messages gRPC keeps to itself: field
// `number` of a request is a string, and the whole answer is searched.
std::string Reflect(const std::shared_ptr<grpc::Channel>& channel, int number,
                    const std::string& argument, bool* is_error) {
  google::protobuf::Empty request;
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(number, argument);
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  auto stream = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  const auto wait = [&] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  stream->StartCall(nullptr);
  EXPECT_TRUE(wait());
  stream->Write(Encode(request), nullptr);
  EXPECT_TRUE(wait());
  grpc::ByteBuffer bytes;
  stream->Read(&bytes, nullptr);
  EXPECT_TRUE(wait());
  stream->WritesDone(nullptr);
  EXPECT_TRUE(wait());
  grpc::Status status;
  stream->Finish(&status, nullptr);
  EXPECT_TRUE(wait());
  google::protobuf::Empty response;
  grpc::ProtoBufferReader reader(&bytes);
  EXPECT_TRUE(response.ParseFromZeroCopyStream(&reader));
  const auto& fields = response.GetReflection()->GetUnknownFields(response);
  *is_error = false;
  for (int i = 0; i < fields.field_count(); ++i) {
    if (fields.field(i).number() == 7) *is_error = true;  // error_response
  }
  return response.SerializeAsString();
}

TEST(Reflection, ListsAndDescribesWhatIsServed) {
  constexpr int kFileContainingSymbol = 4;
  constexpr int kListServices = 7;
  RunningServer server;
  bool is_error = true;
  const std::string services = Reflect(server.channel(), kListServices, "", &is_error);
  EXPECT_FALSE(is_error);
  EXPECT_THAT(services, AllOf(HasSubstr("phasor.v1.PositionTableService"),
                              HasSubstr("grpc.health.v1.Health")));
  for (const std::string symbol :
       {"phasor.v1.PositionTableService", "phasor.v1.TableSpec", "grpc.health.v1.Health"}) {
    Reflect(server.channel(), kFileContainingSymbol, symbol, &is_error);
    EXPECT_FALSE(is_error) << symbol;
  }
  Reflect(server.channel(), kFileContainingSymbol, "no.Such", &is_error);
  EXPECT_TRUE(is_error);
}

TEST(Drain, AnswersWhatIsInFlight) {
  RunningServer server;
  const v1::TableSpec spec = SinusoidalProto(512);
  grpc::ClientContext context;
  auto reader = server->ReadRows(&context, RangeRequest<v1::ReadRowsRequest>(spec, 0, 20'000));
  v1::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  std::string data = response.rows().data();
  std::thread drain([&] { server.server().Drain(absl::ZeroDuration(), absl::Seconds(60)); });
  // Until the drain has begun, which is seen from new connections being refused.
  while (Answers(server.address())) {
  }
  while (reader->Read(&response)) data += response.rows().data();
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  ExpectSameRows(data, LocalRows(spec, 0, 20'000));
  drain.join();
}

// An end that is the server's own, and says when to come back.
void ExpectToldToComeBack(const grpc::Status& status, const grpc::ClientContext& context) {
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr("the server is ending"));
  EXPECT_EQ(RetryDelayOf(status), kRetryDelay);
  EXPECT_EQ(context.GetServerTrailingMetadata().count("grpc-retry-pushback-ms"), 1u);
}

TEST(Drain, TellsCallsThatTakeTooLongToComeBack) {
  absl::Notification making, release;
  FakeMaking fake;
  fake.on_read = [&](std::int64_t start) {
    if (start != 0) return;
    making.Notify();
    release.WaitForNotification();
  };
  Options options = TestOptions();
  options.threads = 2;
  RunningServer server(options, FakeTable::Opener(&fake));
  // Of two blocks: the call is in the first one when its time is over.
  grpc::ClientContext unary_context;
  grpc::Status unary;
  std::thread unary_call([&] {
    v1::GetRowsResponse response;
    unary = server->GetRows(
        &unary_context, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(512), 0, 64), &response);
  });
  making.WaitForNotification();
  grpc::ClientContext context;
  auto reader = server->ReadRows(
      &context, RangeRequest<v1::ReadRowsRequest>(SinusoidalProto(512), 1'000'000, 1'000'000'000));
  v1::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  std::thread drain([&] { server.server().Drain(absl::ZeroDuration(), absl::ZeroDuration()); });
  while (reader->Read(&response)) {
  }
  ExpectToldToComeBack(reader->Finish(), context);
  release.Notify();
  unary_call.join();
  ExpectToldToComeBack(unary, unary_context);
  drain.join();
}

TEST(Drain, EndsWithoutAClientThatDoesNotRead) {
  RunningServer server;
  grpc::ClientContext context;
  auto reader = server->ReadRows(
      &context, RangeRequest<v1::ReadRowsRequest>(SinusoidalProto(512), 0, 10'000'000));
  v1::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  server.server().Drain(absl::ZeroDuration(), absl::Milliseconds(50));
  while (reader->Read(&response)) {
  }
  // The code to retry, though nothing but the connection's end can say it.
  EXPECT_EQ(reader->Finish().error_code(), grpc::UNAVAILABLE);
}

TEST(Phasord, ServesUntilItIsTold) {
  for (int number : {SIGTERM, SIGINT}) {
    Process phasord({"--listen=127.0.0.1:0"});
    EXPECT_TRUE(Answers(phasord.ReadyAddress()));
    phasord.Signal(number);
    EXPECT_EQ(phasord.Wait(), 0);
  }
}

TEST(Phasord, TellsEachAddressOnALine) {
  std::string directory = testing::TempDir() + "/phasorXXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const std::string path = "unix:" + directory + "/s";
  Process phasord({"--listen=127.0.0.1:0," + path});
  EXPECT_THAT(phasord.ReadyAddress(), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(phasord.ReadyAddress(), path);
  EXPECT_TRUE(Answers(path));
}

TEST(Phasord, EndsWheneverItIsTold) {
  for (int i = 0; i < 30; ++i) {
    Process phasord({"--listen=127.0.0.1:0"});
    // At each point of its start, by busy waiting: sleeping is too coarse.
    const absl::Time until = absl::Now() + i * absl::Milliseconds(1);
    while (absl::Now() < until) {
    }
    phasord.Signal(i % 2 == 0 ? SIGTERM : SIGINT);
    // Before main the signal kills the process, as it does any.
    EXPECT_THAT(phasord.Wait(), AnyOf(0, -SIGTERM, -SIGINT));
  }
}

TEST(Phasord, FinishesAStreamInFlightBeforeItEnds) {
  Process phasord({"--listen=127.0.0.1:0"});
  auto stub = v1::PositionTableService::NewStub(ConnectTo(phasord.ReadyAddress()));
  const v1::TableSpec spec = SinusoidalProto(512);
  grpc::ClientContext context;
  auto reader = stub->ReadRows(&context, RangeRequest<v1::ReadRowsRequest>(spec, 0, 20'000));
  v1::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  std::string data = response.rows().data();
  phasord.Signal(SIGTERM);
  while (reader->Read(&response)) data += response.rows().data();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(data.size(), 20'000u * 2048);
  EXPECT_EQ(phasord.Wait(), 0);
}

// A stream that is not read keeps a drain waiting.
class StalledStream {
 public:
  explicit StalledStream(const std::string& address)
      : stub_(v1::PositionTableService::NewStub(ConnectTo(address))),
        reader_(stub_->ReadRows(
            &context_, RangeRequest<v1::ReadRowsRequest>(SinusoidalProto(512), 0, 10'000'000))) {
    EXPECT_TRUE(reader_->Read(&response_));
  }
  ~StalledStream() {
    context_.TryCancel();
    reader_->Finish();
  }

 private:
  std::unique_ptr<v1::PositionTableService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::ReadRowsResponse>> reader_;
  v1::ReadRowsResponse response_;
};

TEST(Phasord, EndsAfterItsDrainTimeout) {
  Process phasord({"--listen=127.0.0.1:0", "--drain_timeout=100ms"});
  const StalledStream stream(phasord.ReadyAddress());
  phasord.Signal(SIGTERM);
  EXPECT_EQ(phasord.Wait(), 0);
}

TEST(Phasord, EndsAtOnceAtTheSecondSignal) {
  Process phasord({"--listen=127.0.0.1:0", "--drain_timeout=1h"});
  const StalledStream stream(phasord.ReadyAddress());
  phasord.Signal(SIGTERM);
  while (!absl::StrContains(phasord.Line(), "draining")) {
  }
  phasord.Signal(SIGTERM);
  EXPECT_EQ(phasord.Wait(), 128 + SIGTERM);
}

TEST(Phasord, FailsAtOnceWhenItsPortIsTaken) {
  Process first({"--listen=127.0.0.1:0"});
  const std::string address = first.ReadyAddress();
  Process second({"--listen=" + address, "--log_level=off"});
  EXPECT_THAT(second.Line(), AllOf(HasSubstr("phasord: "), HasSubstr(address)));
  EXPECT_EQ(second.Line(), "");
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_TRUE(Answers(address));
}

TEST(Phasord, ExitsWithTwoForFlagsThatAreWrong) {
  for (const std::string flag :
       {"--cache_bytes=1e9", "--bogus", "--listen=0.0.0.0:0", "--listen=nonsense"}) {
    Process phasord({flag, "--log_level=off"});
    const std::string value = flag.substr(flag.find('=') + 1);
    EXPECT_THAT(phasord.Line(), AllOf(HasSubstr("phasord: "), HasSubstr(value)));
    EXPECT_EQ(phasord.Line(), "");
    EXPECT_EQ(phasord.Wait(), 2);
  }
}

TEST(Phasord, AnswersHelpAndVersionOnStandardOutput) {
  Process version({"--version"});
  EXPECT_EQ(version.OutputLine(), "phasord " PHASOR_VERSION);
  EXPECT_EQ(version.Wait(), 0);
  Process help({"--help"});
  EXPECT_NE(help.OutputLine(), "");
  EXPECT_EQ(help.Wait(), 0);
}

}  // namespace
}  // namespace phasor::server
