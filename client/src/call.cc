#include "client/src/call.h"

#include <map>

#include "absl/strings/numbers.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "proto/status_codec.h"

namespace phasor::internal {
namespace {

constexpr char kFingerprintKey[] = "x-phasor-table";
constexpr char kPushbackKey[] = "grpc-retry-pushback-ms";

// The queue of one call, polled by the thread that makes the call: no thread
// of gRPC's stands between. Empty and shut down when it goes.
class CallQueue {
 public:
  CallQueue() = default;
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  ~CallQueue() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  grpc::CompletionQueue* get() { return &queue_; }
  void* tag() { return this; }

  // Waits for the one operation that was started; whether it worked.
  bool Wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

 private:
  grpc::CompletionQueue queue_;
};

}  // namespace

void PrepareContext(const CallHead& head, grpc::ClientContext& context) {
  context.set_deadline(absl::ToChronoTime(head.deadline));
  if (!head.fingerprint.empty()) context.AddMetadata(kFingerprintKey, head.fingerprint);
}

Attempt FailedAttempt(const grpc::Status& status, const grpc::ClientContext& context) {
  Attempt attempt{.status = FromGrpcStatus(status)};
  // Whoever cancels here does not ask how it ended; else it is a server that ends.
  if (absl::IsCancelled(attempt.status)) {
    attempt.status = absl::UnavailableError("the server ended the call");
  }
  const auto& trailers = context.GetServerTrailingMetadata();
  if (auto found = trailers.find(kPushbackKey); found != trailers.end()) {
    // What is not a number means no retry, as a negative one does.
    std::int64_t milliseconds = -1;
    const absl::string_view text(found->second.data(), found->second.size());
    if (!absl::SimpleAtoi(text, &milliseconds)) milliseconds = -1;
    attempt.pushback = absl::Milliseconds(milliseconds);
  } else {
    attempt.pushback = RetryDelayOf(status);
  }
  return attempt;
}

Attempt CallUnary(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                  const grpc::ByteBuffer& request, OnMessage on_response) {
  grpc::ClientContext context;
  PrepareContext(head, context);
  CallQueue queue;
  grpc::GenericStub stub(channel);
  const auto call = stub.PrepareUnaryCall(&context, head.method, request, queue.get());
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, queue.tag());
  queue.Wait();
  if (!status.ok()) return FailedAttempt(status, context);
  return Attempt{.status = on_response(&response)};
}

Attempt CallStreaming(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                      const grpc::ByteBuffer& request, OnMessage on_response) {
  grpc::ClientContext context;
  PrepareContext(head, context);
  CallQueue queue;
  grpc::GenericStub stub(channel);
  const auto call = stub.PrepareCall(&context, head.method, queue.get());
  call->StartCall(queue.tag());
  bool ok = queue.Wait();
  if (ok) {
    call->Write(request, grpc::WriteOptions().set_last_message(), queue.tag());
    ok = queue.Wait();
  }
  absl::Status refused;
  while (ok && refused.ok()) {
    grpc::ByteBuffer response;
    call->Read(&response, queue.tag());
    ok = queue.Wait();
    if (ok) refused = on_response(&response);
  }
  if (!refused.ok()) context.TryCancel();
  grpc::Status status;
  call->Finish(&status, queue.tag());
  queue.Wait();
  if (!refused.ok()) return Attempt{.status = refused};
  if (!status.ok()) return FailedAttempt(status, context);
  return Attempt{};
}

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status ParseResponse(grpc::ByteBuffer* response, google::protobuf::MessageLite* message) {
  grpc::ProtoBufferReader reader(response);
  if (!reader.status().ok() || !message->ParseFromZeroCopyStream(&reader)) {
    return absl::DataLossError("the server's response is not a " + message->GetTypeName());
  }
  return absl::OkStatus();
}

}  // namespace phasor::internal
