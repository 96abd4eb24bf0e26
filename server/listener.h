#ifndef PHASOR_SERVER_LISTENER_H_
#define PHASOR_SERVER_LISTENER_H_

/// \file
/// The sockets that the server listens on, owned here and not by gRPC: gRPC
/// 1.51 shares a taken port or path silently, and never accepts again once a
/// process has run out of file descriptors (CVE-2023-4785).

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/unix_socket.h"

namespace phasor::server {

/// Listening sockets. **Thread safety**: one thread at a time.
class Listener {
 public:
  /// Takes a connected, non-blocking socket, with the one that it came from.
  using OnConnection = std::function<void(int listening_fd, int connection_fd)>;

  /// Listens on `addresses`: host:port, [::1]:port, unix:PATH; port 0 for any.
  ///
  /// **Errors**, a line for each address: INVALID_ARGUMENT for one that cannot
  /// be read, or that other machines reach, without `insecure_network`;
  /// UNAVAILABLE for one that is taken or cannot be had. Nothing is then held.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const std::vector<std::string>& addresses,
                                                        bool insecure_network);
  Listener(const Listener&) = delete;
  ~Listener() { Stop(); }

  /// The addresses as given, with the real ports.
  const std::vector<std::string>& addresses() const { return addresses_; }

  /// Accepts connections on an own thread until Stop.
  void Start(OnConnection on_connection);
  /// Ends accepting and closes the sockets. Connections live on.
  void Stop();
  /// Ends the connections that are still open, also those that gRPC does not:
  /// it waits for ever until a peer that does not read takes what is written.
  void EndConnections() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Listener() = default;
  absl::Status Add(const std::string& address, bool insecure_network);
  absl::Status AddTcp(const std::string& address, bool insecure_network);
  void Run(const OnConnection& on_connection) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remember(int connection_fd) ABSL_LOCKS_EXCLUDED(mutex_);

  std::vector<std::string> addresses_;
  std::vector<FileDescriptor> sockets_;
  std::vector<UnixSocketPath> paths_;
  FileDescriptor stop_;  // an eventfd
  std::thread thread_;

  absl::Mutex mutex_;
  // The latest connection of each descriptor, known again by its inode: gRPC
  // owns and closes them.
  absl::flat_hash_map<int, ino_t> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_LISTENER_H_
