#ifndef PHASOR_CLIENT_SRC_CONNECT_H_
#define PHASOR_CLIENT_SRC_CONNECT_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/security/credentials.h"
#include "phasor/client.h"

namespace phasor::internal {

/// As Client::Connect, with credentials that are made when they are needed:
/// they start gRPC, after which a process cannot fork and go on (fork.h).
absl::StatusOr<Client> ConnectWith(
    absl::string_view address,
    std::function<std::shared_ptr<grpc::ChannelCredentials>()> credentials,
    const ClientOptions& options);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_CONNECT_H_
