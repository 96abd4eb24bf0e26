#include "phasor/grpc.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "client/src/address.h"
#include "client/src/connect.h"
#include "client/src/fallback_connection.h"
#include "client/src/fork.h"
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

absl::StatusOr<Client> ConnectOver(internal::GrpcConnection::MakeChannels make,
                                   const ClientOptions& options) {
  absl::Status status = internal::CheckOptions(options);
  if (!status.ok()) return status;
  internal::WatchGrpcOverForks([] { return grpc_is_initialized() != 0; });
  const auto make_channels = [make = std::move(make)] {
    KeepGrpc();
    return make();
  };
  return internal::Session::MakeClient(
      options, [&](internal::Counters* counters) -> std::unique_ptr<internal::Connection> {
        auto server = std::make_unique<internal::GrpcConnection>(
            make_channels, internal::BackoffOf(options), counters);
        if (options.fallback == Fallback::kNone) return server;
        return std::make_unique<internal::FallbackConnection>(std::move(server),
                                                              options.on_fallback, counters);
      });
}

}  // namespace

namespace internal {

absl::StatusOr<Client> ConnectWith(
    absl::string_view address,
    std::function<std::shared_ptr<grpc::ChannelCredentials>()> credentials,
    const ClientOptions& options) {
  absl::StatusOr<std::string> target = TargetOf(address);
  if (!target.ok()) return target.status();
  return ConnectOver(
      [target = *std::move(target), credentials = std::move(credentials),
       connections = options.connections] {
        std::vector<std::shared_ptr<grpc::Channel>> channels;
        channels.reserve(static_cast<std::size_t>(connections));
        for (int i = 0; i < connections; ++i) {
          channels.push_back(
              grpc::CreateCustomChannel(target, credentials(), ChannelArgumentsFor(connections)));
        }
        return channels;
      },
      options);
}

}  // namespace internal

absl::StatusOr<Client> Connect(absl::string_view address,
                               const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                               const ClientOptions& options) {
  if (credentials == nullptr) {
    return FieldError(absl::StatusCode::kInvalidArgument, "credentials", "are null");
  }
  return internal::ConnectWith(
      address, [credentials] { return credentials; }, options);
}

absl::StatusOr<Client> Connect(std::shared_ptr<grpc::Channel> channel,
                               const ClientOptions& options) {
  if (channel == nullptr) {
    return FieldError(absl::StatusCode::kInvalidArgument, "channel", "is null");
  }
  if (options.connections != 1) {
    return FieldError(absl::StatusCode::kInvalidArgument, "connections",
                      "a channel given is one connection");
  }
  return ConnectOver([channel = std::move(channel)] { return std::vector{channel}; }, options);
}

}  // namespace phasor
