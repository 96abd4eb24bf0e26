#ifndef PHASOR_CLIENT_SRC_CALL_H_
#define PHASOR_CLIENT_SRC_CALL_H_

/// \file
/// One try of one RPC, in bytes: neither stubs nor generated service code.

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/src/retry.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"

namespace phasor::internal {

/// What every try of a call says.
struct CallHead {
  std::string method;       // "/phasor.v1.PositionTableService/GetRows"
  std::string fingerprint;  // for proxies, as metadata; may be empty
  absl::Time deadline;
};

/// Does something with a message received; an error ends the call.
using OnMessage = absl::FunctionRef<absl::Status(grpc::ByteBuffer*)>;

/// A call that has one response.
struct UnaryCall {
  std::shared_ptr<grpc::Channel> channel;
  CallHead head;
  grpc::ByteBuffer request;
  std::function<absl::Status(grpc::ByteBuffer*)> on_response;
  Attempt attempt = {};  // what it came to
};

/// Makes `calls` at the same time, and handles their responses here.
void CallUnary(absl::Span<UnaryCall> calls);
/// One alone.
Attempt CallUnary(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                  const grpc::ByteBuffer& request, OnMessage on_response);

/// A call that has a stream of responses.
Attempt CallStreaming(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                      const grpc::ByteBuffer& request, OnMessage on_response);

/// Waits that long, and keeps the channels at work meanwhile. Without a call
/// under way nobody does: a connection that is being made would not be before
/// gRPC looks after it, every five seconds.
void SleepConnecting(absl::Span<const std::shared_ptr<grpc::Channel>> channels,
                     absl::Duration duration);

/// Says in `context`, of a call not started yet, what `head` does.
void PrepareContext(const CallHead& head, grpc::ClientContext& context);

/// What a call came to that ended with `status`, which is not OK.
Attempt FailedAttempt(const grpc::Status& status, const grpc::ClientContext& context);

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message);

/// Parses a whole response of the server; DATA_LOSS if it is none.
absl::Status ParseResponse(grpc::ByteBuffer* response, google::protobuf::MessageLite* message);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_CALL_H_
