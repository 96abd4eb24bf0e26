// What a callback server of gRPC costs that does nothing: it answers GetRows
// with one constant slice, and ReadRows with the same a number of times.
//
//   phasor_bare SOCKET BYTES MESSAGES [deadlock_detection]

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/synchronization/mutex.h"
#include "phasor/v1/position_table_service.grpc.pb.h"

namespace {

using phasor::v1::PositionTableService;

// Ends the process whatever becomes of the one that measures it.
constexpr unsigned kMostSeconds = 150;

class Repeat final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  Repeat(const grpc::ByteBuffer* message, std::int64_t count) : message_(*message), left_(count) {
    Next();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    Next();
  }
  void OnDone() override { delete this; }

 private:
  void Next() {
    if (left_-- == 0) return Finish(grpc::Status::OK);
    StartWrite(&message_);
  }

  const grpc::ByteBuffer message_;
  std::int64_t left_;
};

class Bare final
    : public PositionTableService::WithRawCallbackMethod_GetRows<
          PositionTableService::WithRawCallbackMethod_ReadRows<PositionTableService::Service>> {
 public:
  Bare(std::size_t bytes, std::int64_t messages) : messages_(messages) {
    // One slice of memory of its own, like a block of rows.
    const grpc::Slice slice(std::string(bytes, 'x'));
    answer_ = grpc::ByteBuffer(&slice, 1);
  }

  grpc::ServerUnaryReactor* GetRows(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* /*request*/,
                                    grpc::ByteBuffer* response) override {
    *response = answer_;
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadRows(
      grpc::CallbackServerContext* /*context*/, const grpc::ByteBuffer* /*request*/) override {
    return new Repeat(&answer_, messages_);
  }

 private:
  grpc::ByteBuffer answer_;
  const std::int64_t messages_;
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
