#include "server/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/number_text.h"

namespace phasor::server {
namespace {

// How long accepting pauses when there are no more file descriptors.
constexpr int kPauseMilliseconds = 100;

struct HostAndPort {
  std::string host;
  std::uint16_t port;
};

absl::StatusOr<HostAndPort> Split(absl::string_view address) {
  const std::size_t colon = address.rfind(':');
  const absl::string_view host = address.substr(0, colon);
  const bool bracketed = absl::StartsWith(host, "[") && absl::EndsWith(host, "]");
  if (colon == absl::string_view::npos || host.empty() ||
      (!bracketed && absl::StrContains(host, ':'))) {
    return absl::InvalidArgumentError("is none of host:port, [::1]:port, unix:PATH");
  }
  absl::StatusOr<std::int64_t> port = ParseInt64(address.substr(colon + 1));
  if (!port.ok() || *port < 0 || *port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("port \"", address.substr(colon + 1), "\" is not in 0 ... 65535"));
  }
  return HostAndPort{std::string(bracketed ? host.substr(1, host.size() - 2) : host),
                     static_cast<std::uint16_t>(*port)};
}

bool IsLoopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

std::uint16_t& PortOf(sockaddr* address) {
  return address->sa_family == AF_INET ? reinterpret_cast<sockaddr_in*>(address)->sin_port
                                       : reinterpret_cast<sockaddr_in6*>(address)->sin6_port;
}

// Listens on one resolved address, whose port becomes the real one. Returns
// errno, or 0.
int ListenOn(sockaddr* address, socklen_t length, FileDescriptor* out) {
  FileDescriptor fd(socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const int off = 0;
  // REUSEADDR: a restarted server gets its port although old connections are
  // still in TIME_WAIT. A port on which somebody listens stays taken.
  if (!fd.valid() || setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      (address->sa_family == AF_INET6 &&
       setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) ||
      bind(fd.get(), address, length) != 0 || listen(fd.get(), SOMAXCONN) != 0 ||
      getsockname(fd.get(), address, &length) != 0) {
    return errno;
  }
  *out = std::move(fd);
  return 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(const std::vector<std::string>& addresses,
                                                         bool insecure_network) {
  auto listener = std::unique_ptr<Listener>(new Listener);
  listener->stop_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  std::vector<std::string> faults;
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  for (const std::string& address : addresses) {
    absl::Status status = listener->Add(address, insecure_network);
    if (status.ok()) continue;
    if (absl::IsInvalidArgument(status)) code = status.code();
    faults.push_back(absl::StrCat("cannot listen on ", address, ": ", status.message()));
  }
  if (!faults.empty()) return absl::Status(code, absl::StrJoin(faults, "\n"));
  return listener;
}

absl::Status Listener::Add(const std::string& address, bool insecure_network) {
  absl::string_view path = address;
  if (!absl::ConsumePrefix(&path, "unix:")) return AddTcp(address, insecure_network);
  FileDescriptor socket;
  absl::StatusOr<UnixSocketPath> held = UnixSocketPath::Listen(std::string(path), &socket);
  if (!held.ok()) return held.status();
  paths_.push_back(*std::move(held));
  sockets_.push_back(std::move(socket));
  addresses_.push_back(address);
  return absl::OkStatus();
}

absl::Status Listener::AddTcp(const std::string& address, bool insecure_network) {
  absl::StatusOr<HostAndPort> parts = Split(address);
  if (!parts.ok()) return parts.status();
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int unknown = getaddrinfo(parts->host.c_str(), nullptr, &hints, &found);
  if (unknown != 0) return absl::UnavailableError(gai_strerror(unknown));
  const absl::Cleanup free_found = [found] { freeaddrinfo(found); };

  // A name may stand for several addresses; they get the same port.
  absl::Status failure;
  std::uint16_t port = htons(parts->port);
  bool listening = false;
  for (const addrinfo* item = found; item != nullptr; item = item->ai_next) {
    if (!insecure_network && !IsLoopback(item->ai_addr)) {
      return absl::InvalidArgumentError(
          "other machines reach it, and there is no TLS: say --insecure_network to serve there");
    }
    PortOf(item->ai_addr) = port;
    FileDescriptor fd;
    const int failed = ListenOn(item->ai_addr, item->ai_addrlen, &fd);
    if (failed != 0) {
      failure = absl::UnavailableError(std::strerror(failed));
      // A machine without IPv6 still knows its addresses by name.
      if (failed == EADDRNOTAVAIL || failed == EAFNOSUPPORT) continue;
      return failure;
    }
    port = PortOf(item->ai_addr);
    listening = true;
    sockets_.push_back(std::move(fd));
  }
  if (!listening) return failure;
  addresses_.push_back(
      absl::StrCat(absl::string_view(address).substr(0, address.rfind(':')), ":", ntohs(port)));
  return absl::OkStatus();
}

void Listener::Start(OnConnection on_connection) {
  thread_ = std::thread([this, accept = std::move(on_connection)] { Run(accept); });
}

void Listener::Stop() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    // An eventfd takes a small number always.
    [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
  sockets_.clear();
  paths_.clear();
}

void Listener::Remember(int connection_fd) {
  struct stat info;
  if (fstat(connection_fd, &info) != 0) return;
  absl::MutexLock lock(&mutex_);
  connections_[connection_fd] = info.st_ino;
}

void Listener::EndConnections() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [fd, inode] : connections_) {
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) && info.st_ino == inode) {
      shutdown(fd, SHUT_RDWR);
    }
  }
  connections_.clear();
}

void Listener::Run(const OnConnection& on_connection) {
  std::vector<pollfd> all = {{stop_.get(), POLLIN, 0}};
  for (const FileDescriptor& socket : sockets_) all.push_back({socket.get(), POLLIN, 0});
  bool pausing = false;
  for (;;) {
    poll(all.data(), pausing ? 1 : all.size(), pausing ? kPauseMilliseconds : -1);
    if ((all[0].revents & POLLIN) != 0) return;
    const bool was_pausing = std::exchange(pausing, false);
    for (const pollfd& item : all) {
      if (item.fd == stop_.get()) continue;
      const int fd = accept4(item.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        // Fails on UNIX sockets, which do not wait anyway.
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        Remember(fd);
        on_connection(item.fd, fd);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        if (!was_pausing) spdlog::warn("no connection can be accepted: {}", std::strerror(errno));
        pausing = true;
      }
    }
  }
}

}  // namespace phasor::server
