#ifndef PHASOR_SERVER_SERVER_H_
#define PHASOR_SERVER_SERVER_H_

/// \file
/// phasord without its main: everything assembled.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/call.h"
#include "server/listener.h"
#include "server/options.h"
#include "server/position_table_service.h"

namespace phasor::server {

/// The name under which grpc.health.v1 tells of the service, beside "".
inline constexpr char kServiceName[] = "phasor.v1.PositionTableService";

/// A running server: the tables, health and reflection services on the
/// addresses of its options. Several may run in one process.
///
/// **Thread safety**: the accessors may be called from any thread, Drain from
/// one.
class Server {
 public:
  /// Starts to serve. `opener` opens tables that are computed.
  ///
  /// **Errors**: those of Listener::Open and LearnedTables::Reload; INTERNAL if
  /// gRPC does not start.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const Options& options, BlockCache::Opener opener = &LocalTable::Open);
  Server(const Server&) = delete;
  /// Ends what is in flight.
  ~Server();

  /// The addresses served on, with their real ports.
  const std::vector<std::string>& addresses() const { return listener_->addresses(); }

  /// Reports NOT_SERVING; after `delay` refuses new connections, and new calls
  /// too as soon as no stream is in flight, or half of `timeout` is over. Waits
  /// until the calls in flight are answered. Those that are not after `timeout`
  /// end UNAVAILABLE, with RetryInfo, at their next step or message; a second
  /// later connections are ended. Returns when there are no calls.
  void Drain(absl::Duration delay, absl::Duration timeout);

  /// Loads the learned tables anew. All of them are replaced, or none if one of
  /// them cannot be loaded; why is logged. Calls under way end with the rows that
  /// they began with. From one thread, the one that calls PollTables too.
  absl::Status ReloadTables();
  /// ReloadTables, if their files were replaced and are not being written.
  absl::Status PollTables();

  BlockCache& cache() { return backend_.cache; }
  const WorkPool& pool() const { return backend_.pool; }

 private:
  Server(const Options& options, BlockCache::Opener opener);

  // In this order: each uses those before it.
  Backend backend_;
  PositionTableService service_;
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_SERVER_H_
