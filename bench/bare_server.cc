// What a callback server of gRPC costs that does nothing: it answers GetRows
// with one constant slice, and ReadRows with a number of them, each in memory of
// its own like the blocks of a table, as far as kMostBytes go.
//
//   phasor_bare SOCKET BYTES MESSAGES [deadlock_detection]

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "phasor/v1/position_table_service.grpc.pb.h"

namespace {

using phasor::v1::PositionTableService;

// Ends the process whatever becomes of the one that measures it.
constexpr unsigned kMostSeconds = 150;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

using Messages = std::vector<grpc::ByteBuffer>;

class Stream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  Stream(const Messages* messages, std::int64_t count) : messages_(*messages), count_(count) {
    Next();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    Next();
  }
  void OnDone() override { delete this; }

 private:
  void Next() {
    if (sent_ == count_) return Finish(grpc::Status::OK);
    StartWrite(&messages_[static_cast<std::size_t>(sent_++) % messages_.size()]);
  }

  const Messages& messages_;
  const std::int64_t count_;
  std::int64_t sent_ = 0;
};

class Bare final
    : public PositionTableService::WithRawCallbackMethod_GetRows<
          PositionTableService::WithRawCallbackMethod_ReadRows<PositionTableService::Service>> {
 public:
  Bare(std::size_t bytes, std::int64_t count) : count_(count) {
    const auto most = std::max<std::size_t>(1, kMostBytes / bytes);
    for (std::size_t i = 0; i < std::min(most, static_cast<std::size_t>(count)); ++i) {
      const grpc::Slice slice(std::string(bytes, 'x'));
      messages_.emplace_back(&slice, 1);
    }
  }

  grpc::ServerUnaryReactor* GetRows(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* /*request*/,
                                    grpc::ByteBuffer* response) override {
    *response = messages_[0];
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadRows(
      grpc::CallbackServerContext* /*context*/, const grpc::ByteBuffer* /*request*/) override {
    return new Stream(&messages_, count_);
  }

 private:
  Messages messages_;
  const std::int64_t count_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  alarm(kMostSeconds);
  if (argc < 5) absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  Bare service(std::stoull(argv[2]), std::stoll(argv[3]));
  grpc::ServerBuilder builder;
  int port = 0;
  const std::string path = std::string("unix:") + argv[1];
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.AddListeningPort(path, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::printf("bare ready on 127.0.0.1:%d\nbare ready on %s\n", port, path.c_str());
  std::fflush(stdout);
  server->Wait();
}
