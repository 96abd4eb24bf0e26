#include "phasor/grpc.h"

#include <string>
#include <utility>

#include "client/src/address.h"
#include "client/src/fallback_connection.h"
#include "client/src/grpc_connection.h"
#include "client/src/session.h"
#include "grpc/grpc.h"
#include "grpcpp/create_channel.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

// Holds gRPC for as long as the process lives. Its shutdown, when the last
// client goes, waits up to 10 s for a thread that polls for a write to end.
void KeepGrpc() {
  static const bool kept = (grpc_init(), true);
  static_cast<void>(kept);
}

}  // namespace

absl::StatusOr<Client> Connect(absl::string_view address,
                               const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                               const ClientOptions& options) {
  absl::StatusOr<std::string> target = internal::TargetOf(address);
  if (!target.ok()) return target.status();
  if (credentials == nullptr) {
    return FieldError(absl::StatusCode::kInvalidArgument, "credentials", "are null");
  }
  return Connect(grpc::CreateCustomChannel(*target, credentials, internal::ChannelArgumentsFor()),
                 options);
}

absl::StatusOr<Client> Connect(std::shared_ptr<grpc::Channel> channel,
                               const ClientOptions& options) {
  if (channel == nullptr) {
    return FieldError(absl::StatusCode::kInvalidArgument, "channel", "is null");
  }
  absl::Status status = internal::CheckOptions(options);
  if (!status.ok()) return status;
  KeepGrpc();
  return internal::Session::MakeClient(
      options, [&](internal::Counters* counters) -> std::unique_ptr<internal::Connection> {
        auto server = std::make_unique<internal::GrpcConnection>(
            std::move(channel), internal::BackoffOf(options), counters);
        if (options.fallback == Fallback::kNone) return server;
        return std::make_unique<internal::FallbackConnection>(std::move(server), counters);
      });
}

}  // namespace phasor
