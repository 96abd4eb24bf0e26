// Processes that fork while they use the client.

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "phasor/phasor.h"
#include "server/server.h"

namespace phasor {
namespace {

// Runs `body` in a child, which has ten seconds; whether it came back true.
bool InChild(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A server in a process of its own, so that gRPC has not begun in this one.
class ForkTest : public testing::Test {
 protected:
  ForkTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "phasor-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    server_ = fork();
    if (server_ == 0) {
      server::Options options;
      options.listen = {address()};
      const auto server = server::Server::Start(options);
      if (server.ok() && write(ready[1], "!", 1) == 1) {
        while (true) pause();
      }
      _exit(1);
    }
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
  }
  ~ForkTest() override {
    kill(server_, SIGKILL);
    waitpid(server_, nullptr, 0);
    std::filesystem::remove_all(directory_);
  }

  std::string address() const { return "unix:" + directory_ + "/socket"; }

  std::string directory_;
  pid_t server_ = 0;
};

bool IsRow(const Table& table, std::int64_t position, absl::Span<const float> row) {
  static const Client* local = new Client(Client::Local());
  const Rows want = *local->Open(table.spec().spec())->Read(position, 1);
  return *want.row<float>(0) == row;
}

// With exit(), which runs what libraries do at the end.
TEST_F(ForkTest, AProcessEndsWithReadAheadUnderWay) {
  for (const bool with_client : {true, false}) {
    EXPECT_TRUE(InChild([&] {
      auto client = std::make_unique<Client>(*Client::Connect(address()));
      auto table = std::make_unique<Table>(*client->Open(Sinusoidal{.width = 64}));
      auto cursor = std::make_unique<Cursor>(table->Decode());
      if (!cursor->Next<float>().ok()) return false;
      while (client->counters().blocks_ahead < 1) std::this_thread::yield();
      // The next run is asked for, and nobody answers.
      kill(server_, SIGSTOP);
      for (int i = 0; i < 300; ++i) {
        if (!cursor->Next<float>().ok()) return false;
      }
      if (!with_client) {
        // Never read, and still to be seen by the leak sanitizer: volatile.
        static const void* volatile kept[] = {client.release(), table.release(), cursor.release()};
        static_cast<void>(kept[0]);
      }
      client = nullptr;
      table = nullptr;
      cursor = nullptr;
      std::exit(0);
    }));
    kill(server_, SIGCONT);
  }
}

// One test, since gRPC begins once in a process.
TEST_F(ForkTest, BeforeTheFirstCallAndAfterIt) {
  ClientOptions options;
  options.timeout = absl::Minutes(1);
  Client client = *Client::Connect(address(), options);
  const auto works = [&client] {
    const auto table = client.Open(Sinusoidal{.width = 64});
    if (!table.ok()) return false;
    Cursor cursor = table->Decode(5);
    for (std::int64_t p = 5; p < 3000; ++p) {
      const auto row = cursor.Next<float>();
      if (!row.ok() || !IsRow(*table, p, *row)) return false;
    }
    return true;
  };
  // Before the first call every process has its own connection.
  EXPECT_TRUE(InChild(works));
  EXPECT_TRUE(InChild(works));
  ASSERT_TRUE(works());
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the rest: AddressSanitizer's allocator may be locked in a child for ever";
#endif

  options.fallback = Fallback::kComputeLocally;
  const Client bridged = *Client::Connect(address(), options);
  const Table table = *client.Open(Sinusoidal{.width = 64});
  const Table bridged_table = *bridged.Open(Sinusoidal{.width = 64});
  Cursor cursor = table.Decode(5);
  ASSERT_TRUE(cursor.Next<float>().ok());

  // After it, a child has the blocks that there were, and no server; with
  // other threads in the midst of whatever they do.
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Cursor walk = table.Decode(t * 1000000);
      for (std::int64_t p = t * 1000000; !stop; ++p) {
        const auto row = walk.Next<float>();
        ASSERT_TRUE(row.ok()) << row.status();
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(InChild([&] {
      for (std::int64_t p = 6; p < 100; ++p) {
        const auto row = cursor.Next<float>();
        if (!row.ok() || !IsRow(table, p, *row)) return false;
      }
      const absl::Time begin = absl::Now();
      const absl::Status far = table.Decode(-777777).Next<float>().status();
      if (!absl::IsUnavailable(far) || absl::Now() - begin > absl::Seconds(5)) return false;
      const auto computed = bridged_table.Decode(-777777).Next<float>();
      if (!computed.ok() || !IsRow(table, -777777, *computed)) return false;
      return bridged.counters().local_fallbacks == 1;
    }));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  // What a child ends, it ends without waiting for what the parent began.
  EXPECT_TRUE(InChild([&] {
    const auto gone = std::make_unique<std::pair<Client, Table>>(std::move(client), table);
    Cursor over = std::move(cursor);
    return true;
  }));
  EXPECT_TRUE(works());  // and the parent is none the worse
}

}  // namespace
}  // namespace phasor
