#include "server/listener.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"

namespace phasor::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using ListenerOr = absl::StatusOr<std::unique_ptr<Listener>>;

std::string TemporaryPath(const std::string& name) {
  std::string directory = testing::TempDir() + "/phasorXXXXXX";
  EXPECT_NE(mkdtemp(directory.data()), nullptr);
  return directory + "/" + name;
}

bool Exists(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

FileDescriptor ConnectUnix(const std::string& path) {
  const sockaddr_un address = UnixAddress(path);
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return fd;
}

FileDescriptor ConnectTcp(const std::string& address) {
  sockaddr_in target = {};
  target.sin_family = AF_INET;
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  target.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  FileDescriptor fd(socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&target), sizeof target), 0);
  return fd;
}

void ExpectRefused(const ListenerOr& listener, absl::StatusCode code, const std::string& text) {
  EXPECT_EQ(listener.status().code(), code) << listener.status();
  EXPECT_THAT(std::string(listener.status().message()), HasSubstr(text));
}

TEST(Listener, TellsTheRealPort) {
  ListenerOr listener = Listener::Open({"127.0.0.1:0"}, false);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_THAT((*listener)->addresses()[0], StartsWith("127.0.0.1:"));
  EXPECT_NE((*listener)->addresses()[0], "127.0.0.1:0");
}

TEST(Listener, RefusesATakenPortNamingIt) {
  ListenerOr first = Listener::Open({"127.0.0.1:0"}, false);
  ASSERT_TRUE(first.ok());
  const std::string address = (*first)->addresses()[0];
  ExpectRefused(Listener::Open({address}, false), absl::StatusCode::kUnavailable, address);
  first->reset();
  EXPECT_TRUE(Listener::Open({address}, false).ok());
}

TEST(Listener, RefusesTheNetworkUnlessTold) {
  ExpectRefused(Listener::Open({"0.0.0.0:0"}, false), absl::StatusCode::kInvalidArgument,
                "--insecure_network");
  ExpectRefused(Listener::Open({"[::]:0"}, false), absl::StatusCode::kInvalidArgument, "[::]:0");
  EXPECT_TRUE(Listener::Open({"0.0.0.0:0"}, true).ok());
  EXPECT_TRUE(Listener::Open({"127.9.9.9:0"}, false).ok());
  EXPECT_TRUE(Listener::Open({"localhost:0"}, false).ok());
}

TEST(Listener, RefusesWhatIsNoAddress) {
  for (const std::string address : {"", "127.0.0.1", ":50051", "127.0.0.1:", "127.0.0.1:65536",
                                    "127.0.0.1:-1", "127.0.0.1:0x10", "::1:50051", "unix:"}) {
    ExpectRefused(Listener::Open({address}, true), absl::StatusCode::kInvalidArgument,
                  absl::StrCat("cannot listen on ", address, ": "));
  }
}

TEST(Listener, TellsEveryFault) {
  ExpectRefused(Listener::Open({"a", "127.0.0.1:0", "b"}, false),
                absl::StatusCode::kInvalidArgument, "cannot listen on b: ");
}

TEST(Listener, ReplacesTheSocketOfAServerThatIsGone) {
  const std::string path = TemporaryPath("s");
  {
    const sockaddr_un address = UnixAddress(path);
    FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_TRUE(Exists(path));
  ListenerOr listener = Listener::Open({"unix:" + path}, false);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(ConnectUnix(path).valid());
  listener->reset();
  EXPECT_FALSE(Exists(path));
  EXPECT_FALSE(Exists(path + ".lock"));
}

TEST(Listener, LeavesThePathOfALiveServerAlone) {
  const std::string path = TemporaryPath("s");
  ListenerOr first = Listener::Open({"unix:" + path}, false);
  ASSERT_TRUE(first.ok());
  ExpectRefused(Listener::Open({"unix:" + path}, false), absl::StatusCode::kUnavailable, path);
  EXPECT_TRUE(ConnectUnix(path).valid());
}

TEST(Listener, LeavesThePathOfAServerThatDoesNotLockAlone) {
  const std::string path = TemporaryPath("s");
  const sockaddr_un address = UnixAddress(path);
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd.get(), 1), 0);
  ExpectRefused(Listener::Open({"unix:" + path}, false), absl::StatusCode::kUnavailable,
                "a live server holds it");
  EXPECT_TRUE(Exists(path));
}

TEST(Listener, LeavesAFileThatIsNoSocketAlone) {
  const std::string path = TemporaryPath("s");
  std::ofstream(path) << "precious";
  ExpectRefused(Listener::Open({"unix:" + path}, false), absl::StatusCode::kUnavailable,
                "not a socket");
  EXPECT_TRUE(Exists(path));
}

TEST(Listener, RemovesItsPathOnlyIfItIsStillItsOwn) {
  const std::string path = TemporaryPath("s");
  ListenerOr listener = Listener::Open({"unix:" + path}, false);
  ASSERT_TRUE(listener.ok());
  ASSERT_EQ(rename(path.c_str(), (path + ".moved").c_str()), 0);
  std::ofstream(path) << "another's";
  listener->reset();
  EXPECT_TRUE(Exists(path));
}

TEST(Listener, RefusesAPathThatIsTooLong) {
  ExpectRefused(Listener::Open({"unix:/tmp/" + std::string(200, 'x')}, false),
                absl::StatusCode::kInvalidArgument, "1 ... 107 bytes, this one 205");
}

TEST(Listener, GivesAPathToOneOfManyStarters) {
  const std::string path = TemporaryPath("s");
  constexpr int kStarters = 8;
  for (int round = 0; round < 20; ++round) {
    std::vector<ListenerOr> listeners;
    for (int i = 0; i < kStarters; ++i) listeners.push_back(absl::UnknownError(""));
    std::vector<std::thread> threads;
    for (ListenerOr& listener : listeners) {
      threads.emplace_back([&] { listener = Listener::Open({"unix:" + path}, false); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::count_if(listeners.begin(), listeners.end(),
                            [](const ListenerOr& listener) { return listener.ok(); }),
              1);
    EXPECT_TRUE(ConnectUnix(path).valid());
  }
}

TEST(Listener, AcceptsAgainAfterFileDescriptorsRanOut) {
  ListenerOr listener = Listener::Open({"127.0.0.1:0"}, false);
  ASSERT_TRUE(listener.ok());
  const std::string address = (*listener)->addresses()[0];
  std::atomic<int> accepted = 0;
  (*listener)->Start([&](int, int fd) {
    ++accepted;
    close(fd);
  });
  const FileDescriptor before = ConnectTcp(address);
  char byte;
  EXPECT_EQ(read(before.get(), &byte, 1), 0);  // closed by the callback

  // A connection made while no descriptor is free is taken when one is.
  FileDescriptor waiting(socket(AF_INET, SOCK_STREAM, 0));
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit none = limit;
  // The newest descriptor has the lowest free number: there is no other.
  none.rlim_cur = static_cast<rlim_t>(waiting.get()) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in target = {};
  target.sin_family = AF_INET;
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  target.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  EXPECT_EQ(connect(waiting.get(), reinterpret_cast<sockaddr*>(&target), sizeof target), 0);
  EXPECT_EQ(accepted, 1);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(read(waiting.get(), &byte, 1), 0);
  EXPECT_EQ(accepted, 2);
}

}  // namespace
}  // namespace phasor::server
