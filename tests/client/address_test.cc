#include "client/src/address.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "phasor/core/errors.h"

namespace phasor::internal {
namespace {

TEST(AddressTest, NamesTheTarget) {
  const std::pair<const char*, const char*> cases[] = {
      {"127.0.0.1:50051", "ipv4:127.0.0.1:50051"},
      {"10.0.0.1:1,10.0.0.2:65535", "ipv4:10.0.0.1:1,10.0.0.2:65535"},
      {"[::1]:50051", "ipv6:[::1]:50051"},
      {"positions:50051", "dns:///positions:50051"},
      {"dns:///positions.example.org:50051", "dns:///positions.example.org:50051"},
      {"dns://8.8.8.8/positions:50051", "dns://8.8.8.8/positions:50051"},
      {"unix:/run/phasor.sock", "unix:/run/phasor.sock"},
      {"unix-abstract:phasor", "unix-abstract:phasor"},
      {"ipv4:10.0.0.1:1", "ipv4:10.0.0.1:1"},
      {"ipv6:[::1]:1", "ipv6:[::1]:1"},
      {"[::1]:1,[fe80::2]:65535,[::3]:7", "ipv6:[::1]:1,[fe80::2]:65535,[::3]:7"},
      {"10.0.0.1:1,10.0.0.2:2,10.0.0.3:3", "ipv4:10.0.0.1:1,10.0.0.2:2,10.0.0.3:3"},
      {"dns:///10.0.0.1:1", "dns:///10.0.0.1:1"},
      {"dns:///[::1]:1", "dns:///[::1]:1"},
      {"a:1", "dns:///a:1"},
      {"a:9", "dns:///a:9"},
  };
  for (const auto& [address, target] : cases) {
    const absl::StatusOr<std::string> got = TargetOf(address);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*got, target);
  }
}

TEST(AddressTest, RefusesWhatIsNoAddress) {
  for (const char* address : {"",
                              "localhost",
                              "localhost:",
                              "localhost:0",
                              "localhost:65536",
                              "localhost:+1",
                              "localhost:http",
                              "ipv4:999.1.1.1:1",
                              "ipv4:10.0.0.1",
                              "ipv4:10.0.0.1:1,[::1]:1",
                              "ipv6:10.0.0.1:1",
                              "ipv6:[::1]",
                              "unix:",
                              "unix-abstract:",
                              ":50051",
                              "::1:50051",
                              "a b:50051",
                              "a:1\n",
                              "https://a:1",
                              "dns:///positions",
                              "dns://8.8.8.8/positions",
                              "dns:///a:1,b:2",
                              "a:1,b:2",
                              "a\x7f:1",
                              "[::1:1",
                              "::1]:1",
                              "[]:1",
                              "a:-1",
                              "a:1 ",
                              "a:1x",
                              "10.0.0.1",
                              "10.0.0.1:1,10.0.0.2",
                              "[::1]:1,10.0.0.1:1",
                              "10.0.0.1:1,b:2",
                              "10.0.0.1:1,[::1]:1",
                              "10.0.0.1:1,"}) {
    const absl::StatusOr<std::string> got = TargetOf(address);
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_EQ(FieldOf(got.status()), "address") << address;
    EXPECT_NE(got.status().message().find(std::string("\"") + address + "\""),
              absl::string_view::npos)
        << got.status();
  }
}

}  // namespace
}  // namespace phasor::internal
