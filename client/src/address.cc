#include "client/src/address.h"

#include <arpa/inet.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "phasor/core/errors.h"

namespace phasor::internal {
namespace {

absl::Status Bad(absl::string_view address, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, "address",
                    absl::StrCat("\"", address, "\" ", what));
}

struct HostPort {
  std::string host;  // without brackets
  bool ok = false;
};

HostPort Split(absl::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return {};
  absl::string_view host = address.substr(0, colon);
  const absl::string_view port = address.substr(colon + 1);
  std::uint32_t number = 0;
  if (port.empty() || !absl::ascii_isdigit(port[0]) || !absl::SimpleAtoi(port, &number) ||
      number == 0 || number > 65535) {
    return {};
  }
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  } else if (absl::StrContains(host, ":")) {
    return {};
  }
  return HostPort{std::string(host), !host.empty()};
}

bool IsNumerical(int family, const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(family, host.c_str(), bytes) == 1;
}

}  // namespace

absl::StatusOr<std::string> TargetOf(absl::string_view address) {
  if (address.empty()) return Bad(address, "is empty; write host:port or unix:PATH");
  for (const char c : address) {
    if (absl::ascii_isspace(c) || absl::ascii_iscntrl(c)) return Bad(address, "holds a space");
  }
  for (const absl::string_view scheme : {"unix:", "unix-abstract:"}) {
    if (address == scheme) return Bad(address, "names no socket; write unix:PATH");
    if (absl::StartsWith(address, scheme)) return std::string(address);
  }
  for (const auto& [scheme, family] : {std::pair("ipv4:", AF_INET), std::pair("ipv6:", AF_INET6)}) {
    if (!absl::StartsWith(address, scheme)) continue;
    for (const absl::string_view part : absl::StrSplit(absl::StripPrefix(address, scheme), ',')) {
      const HostPort host_port = Split(part);
      if (!host_port.ok || !IsNumerical(family, host_port.host)) {
        return Bad(address, absl::StrCat("is not numerical addresses and ports behind ", scheme));
      }
    }
    return std::string(address);
  }
  absl::string_view name = address;
  if (absl::StrContains(address, "://")) {
    if (!absl::StartsWith(address, "dns://")) {
      return Bad(address, "has an unknown scheme; write dns:///name:port");
    }
    name = address.substr(address.rfind('/') + 1);
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(name, ',');
  int numerical4 = 0;
  int numerical6 = 0;
  for (const absl::string_view part : parts) {
    const HostPort host_port = Split(part);
    if (!host_port.ok) return Bad(address, "is not host:port, with a port from 1 to 65535");
    numerical4 += IsNumerical(AF_INET, host_port.host) ? 1 : 0;
    numerical6 += IsNumerical(AF_INET6, host_port.host) ? 1 : 0;
  }
  const int count = static_cast<int>(parts.size());
  if (name == address && numerical4 == count) return absl::StrCat("ipv4:", address);
  if (name == address && numerical6 == count) return absl::StrCat("ipv6:", address);
  if (count > 1) {
    return Bad(address,
               "lists several servers that are not all IPv4 or all IPv6 addresses; use one name "
               "that resolves to all of them");
  }
  return name == address ? absl::StrCat("dns:///", address) : std::string(address);
}

}  // namespace phasor::internal
