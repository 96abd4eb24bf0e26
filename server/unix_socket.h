#ifndef PHASOR_SERVER_UNIX_SOCKET_H_
#define PHASOR_SERVER_UNIX_SOCKET_H_

/// \file
/// A UNIX socket's path, which one server at a time holds.

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "server/file_descriptor.h"

namespace phasor::server {

/// A path on which this process listens. At the end the path is removed, if it
/// is still the socket that was bound here.
///
/// Beside it stands PATH.lock, locked for as long as this object lives, so that
/// of two servers that start at the same time only one gets the path.
class UnixSocketPath {
 public:
  /// Binds and listens; the socket is moved to `socket`. What a server left
  /// behind that is gone is replaced.
  ///
  /// **Errors**: INVALID_ARGUMENT for a path that is too long; UNAVAILABLE for
  /// one that a live server holds, or that is something else than a socket, or
  /// that cannot be made. Messages do not name the path.
  static absl::StatusOr<UnixSocketPath> Listen(const std::string& path, FileDescriptor* socket);

  UnixSocketPath(UnixSocketPath&& other) noexcept;
  UnixSocketPath& operator=(UnixSocketPath&&) = delete;
  ~UnixSocketPath();

 private:
  UnixSocketPath(std::string path, FileDescriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;  // empty: moved from
  FileDescriptor lock_;
  bool bound_ = false;
  dev_t device_ = 0;  // of the socket in the file system
  ino_t inode_ = 0;
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_UNIX_SOCKET_H_
