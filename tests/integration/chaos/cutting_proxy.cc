#include "tests/integration/chaos/cutting_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace phasor::chaos {
namespace {

bool SendAll(int to, const char* data, std::int64_t size) {
  while (size > 0) {
    const ssize_t sent = send(to, data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= sent;
  }
  return true;
}

// Ends with a reset: nothing that is in the buffers arrives.
void Reset(int socket) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(socket);
}

}  // namespace

CuttingProxy::CuttingProxy(std::string server_path, std::uint32_t seed, std::uint32_t mean_bytes)
    : server_path_(std::move(server_path)), mean_bytes_(mean_bytes), random_(seed) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { Serve(); });
}

CuttingProxy::~CuttingProxy() {
  ends_ = true;
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

void CuttingProxy::Serve() {
  std::vector<std::thread> connections;
  std::uniform_int_distribution<std::int64_t> budget(1024, 2 * std::int64_t{mean_bytes_});
  while (!ends_) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) break;
    connections.emplace_back([this, client, bytes = budget(random_)] { Forward(client, bytes); });
  }
  for (std::thread& connection : connections) connection.join();
}

void CuttingProxy::Forward(int client, std::int64_t budget) {
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, server_path_.c_str(), sizeof address.sun_path - 1);
  bool open = connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  std::array<char, 16384> buffer;
  while (open && budget > 0 && !ends_) {
    pollfd both[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (poll(both, 2, /*timeout=*/100) < 0) break;
    if (both[0].revents != 0) {
      const ssize_t got = recv(client, buffer.data(), buffer.size(), 0);
      open = got > 0 && SendAll(server, buffer.data(), got);
    }
    if (open && both[1].revents != 0) {
      const ssize_t got = recv(server, buffer.data(), buffer.size(), 0);
      open = got > 0 && SendAll(client, buffer.data(), std::min<std::int64_t>(got, budget));
      budget -= got;
    }
  }
  if (budget <= 0) ++cuts_;
  Reset(client);
  Reset(server);
}

}  // namespace phasor::chaos
