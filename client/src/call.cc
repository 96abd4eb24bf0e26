#include "client/src/call.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
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

  // Waits for an operation that was started; its tag, and whether it worked.
  void* Wait(bool* ok) {
    void* tag = nullptr;
    queue_.Next(&tag, ok);
    return tag;
  }
  void* Wait() {
    bool ok = false;
    return Wait(&ok);
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

void CallUnary(absl::Span<UnaryCall> calls) {
  struct Flight {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
    grpc::ByteBuffer response;
    grpc::Status status;
  };
  std::vector<Flight> flights(calls.size());
  CallQueue queue;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    PrepareContext(calls[i].head, flights[i].context);
    grpc::GenericStub stub(calls[i].channel);
    flights[i].reader = stub.PrepareUnaryCall(&flights[i].context, calls[i].head.method,
                                              calls[i].request, queue.get());
    flights[i].reader->StartCall();
    flights[i].reader->Finish(&flights[i].response, &flights[i].status, &flights[i]);
  }
  for (std::size_t left = calls.size(); left > 0; --left) {
    auto* const flight = static_cast<Flight*>(queue.Wait());
    UnaryCall& call = calls[static_cast<std::size_t>(flight - flights.data())];
    call.attempt = flight->status.ok() ? Attempt{.status = call.on_response(&flight->response)}
                                       : FailedAttempt(flight->status, flight->context);
    flight->response.Clear();
  }
}

Attempt CallUnary(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                  const grpc::ByteBuffer& request, OnMessage on_response) {
  UnaryCall call{channel, head, request, on_response};
  CallUnary(absl::MakeSpan(&call, 1));
  return call.attempt;
}

Attempt CallStreaming(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                      const grpc::ByteBuffer& request, OnMessage on_response) {
  grpc::ClientContext context;
  PrepareContext(head, context);
  CallQueue queue;
  grpc::GenericStub stub(channel);
  const auto call = stub.PrepareCall(&context, head.method, queue.get());
  call->StartCall(queue.tag());
  bool ok = false;
  queue.Wait(&ok);
  if (ok) {
    call->Write(request, grpc::WriteOptions().set_last_message(), queue.tag());
    queue.Wait(&ok);
  }
  absl::Status refused;
  while (ok && refused.ok()) {
    grpc::ByteBuffer response;
    call->Read(&response, queue.tag());
    queue.Wait(&ok);
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

void SleepConnecting(absl::Span<const std::shared_ptr<grpc::Channel>> channels,
                     absl::Duration duration) {
  const auto end = absl::ToChronoTime(absl::Now() + duration);
  CallQueue queue;
  const auto watch = [&](grpc::Channel* channel) {
    channel->NotifyOnStateChange(channel->GetState(/*try_to_connect=*/true), end, queue.get(),
                                 channel);
  };
  for (const std::shared_ptr<grpc::Channel>& channel : channels) watch(channel.get());
  for (std::size_t left = channels.size(); left > 0;) {
    bool changed = false;
    auto* const channel = static_cast<grpc::Channel*>(queue.Wait(&changed));
    // Until the time is over, however often it changes.
    if (changed) {
      watch(channel);
    } else {
      --left;
    }
  }
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
