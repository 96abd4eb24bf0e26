#ifndef PHASOR_GRPC_H_
#define PHASOR_GRPC_H_

/// \file
/// Clients over a connection that the caller makes. The only public header
/// that needs gRPC's.

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/credentials.h"
#include "phasor/client.h"
#include "phasor/core/export.h"

namespace phasor {

/// As Client::Connect, with credentials: TLS, tokens.
///
/// **Errors**: as Client::Connect; INVALID_ARGUMENT (credentials) if null.
PHASOR_EXPORT absl::StatusOr<Client> Connect(
    absl::string_view address, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const ClientOptions& options = {});

/// A client over an existing channel, whose arguments stay as they are: with
/// gRPC's defaults a message of more than 4 MiB is refused, and reading long
/// ranges takes about twice the time.
///
/// **Errors**: INVALID_ARGUMENT (channel) if null.
PHASOR_EXPORT absl::StatusOr<Client> Connect(std::shared_ptr<grpc::Channel> channel,
                                             const ClientOptions& options = {});

}  // namespace phasor

#endif  // PHASOR_GRPC_H_
