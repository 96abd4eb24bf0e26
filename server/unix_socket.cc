#include "server/unix_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace phasor::server {
namespace {

absl::Status Failure(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

absl::Status Taken() { return absl::UnavailableError("a live server holds it"); }

std::string LockPath(const std::string& path) { return absl::StrCat(path, ".lock"); }

bool IsSameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

absl::StatusOr<FileDescriptor> Lock(const std::string& path) {
  for (;;) {
    FileDescriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.valid()) return Failure(absl::StrCat("cannot make ", path), errno);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return Taken();
      return Failure(absl::StrCat("cannot lock ", path), errno);
    }
    // The one who held it may have removed the file between the two calls.
    struct stat held, named;
    if (fstat(lock.get(), &held) == 0 && stat(path.c_str(), &named) == 0 &&
        IsSameFile(held, named)) {
      return lock;
    }
  }
}

// Removes the socket of a server that is gone.
absl::Status RemoveStale(const std::string& path, const sockaddr_un& address) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? absl::OkStatus() : Failure("cannot be looked at", errno);
  }
  if (!S_ISSOCK(info.st_mode)) return absl::UnavailableError("it exists and is not a socket");
  FileDescriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.valid()) return Failure("cannot be probed", errno);
  // A full queue (EAGAIN) has somebody behind it as well.
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno == EAGAIN) {
    return Taken();
  }
  if (errno != ECONNREFUSED) return Failure("cannot be probed", errno);
  if (unlink(path.c_str()) != 0) return Failure("a stale socket cannot be removed", errno);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UnixSocketPath> UnixSocketPath::Listen(const std::string& path,
                                                      FileDescriptor* socket) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return absl::InvalidArgumentError(absl::StrCat("a path has 1 ... ", sizeof address.sun_path - 1,
                                                   " bytes, this one ", path.size()));
  }
  std::memcpy(address.sun_path, path.data(), path.size());

  absl::StatusOr<FileDescriptor> lock = Lock(LockPath(path));
  if (!lock.ok()) return lock.status();
  UnixSocketPath result(path, *std::move(lock));
  absl::Status status = RemoveStale(path, address);
  if (!status.ok()) return status;

  FileDescriptor listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  struct stat info;
  if (!listening.valid() ||
      bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Failure("cannot be bound", errno);
  }
  if (lstat(path.c_str(), &info) == 0) {
    result.bound_ = true;
    result.device_ = info.st_dev;
    result.inode_ = info.st_ino;
  }
  if (listen(listening.get(), SOMAXCONN) != 0) return Failure("cannot be listened on", errno);
  *socket = std::move(listening);
  return result;
}

UnixSocketPath::UnixSocketPath(UnixSocketPath&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      bound_(other.bound_),
      device_(other.device_),
      inode_(other.inode_) {}

UnixSocketPath::~UnixSocketPath() {
  if (path_.empty()) return;
  struct stat info;
  if (bound_ && lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ &&
      info.st_ino == inode_) {
    unlink(path_.c_str());
  }
  // Before the lock is given up, so that it is ours that is removed.
  unlink(LockPath(path_).c_str());
}

}  // namespace phasor::server
