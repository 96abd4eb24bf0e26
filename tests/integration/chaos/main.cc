// phasor_chaos PHASORD SECONDS [SEED]: 64 sequences decode while what stands
// between them and their rows breaks, SECONDS of each kind of fault and until
// the sequences have made enough steps. Exit status 0: every row was there in
// time and right, and memory did not grow.

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "phasor/phasor.h"
#include "tests/integration/chaos/cutting_proxy.h"
#include "tests/integration/chaos/sequences.h"
#include "tests/integration/chaos/server_process.h"
#include "tests/integration/chaos/walked_rows.h"

namespace phasor::chaos {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(10);
// Less than what is walked, so that there is always something to be fetched.
constexpr std::int64_t kCacheBytes = 16 << 20;
constexpr std::int64_t kMaxGrowth = 48 << 20;

std::int64_t ResidentBytes() {
  std::int64_t total = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

class Chaos {
 public:
  Chaos(std::string phasord, absl::Duration length, std::uint32_t seed)
      : phasord_(std::move(phasord)), length_(length), seed_(seed), random_(seed) {
    std::string pattern = (std::filesystem::temp_directory_path() / "phasor-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  Chaos(const Chaos&) = delete;
  Chaos& operator=(const Chaos&) = delete;
  ~Chaos() { std::filesystem::remove_all(directory_); }

  bool Run() { return KilledServer() && RolledReplicas() && FrozenReplica() && CuttingWay(); }

 private:
  std::string SocketPath() const { return directory_ + "/socket"; }

  // Sequences on `address`, and `fault` again and again meanwhile.
  bool Decode(const char* name, const std::string& address, const std::function<void()>& fault) {
    ClientOptions options;
    options.timeout = kTimeout;
    options.block_cache_bytes = kCacheBytes;
    const Client client = Client::Connect(address, options).value();
    const Sinusoidal spec{.width = WalkedRows::kWidth};
    Sinusoidal halves = spec;
    halves.layout = Layout::kSinCosHalves;
    Sequences sequences(client.Open(spec).value(), client.Open(halves).value(), rows_, seed_,
                        kTimeout);
    const absl::Time begin = absl::Now();
    std::int64_t warm = 0;
    int faults = 0;
    while (absl::Now() < begin + length_ && sequences.fault().empty()) {
      fault();
      ++faults;
      if (warm == 0 && absl::Now() > begin + length_ / 3) warm = ResidentBytes();
    }
    sequences.Stop();
    const std::int64_t grown = warm == 0 ? 0 : ResidentBytes() - warm;
    const ClientCounters counters = client.counters();
    std::printf(
        "%s: %lld steps, %d faults, longest step %s; %lld calls, %lld retries, %lld blocks ahead, "
        "%lld stalls; memory %+lld KiB\n",
        name, static_cast<long long>(sequences.steps()), faults,
        absl::FormatDuration(sequences.longest_step()).c_str(),
        static_cast<long long>(counters.rpcs), static_cast<long long>(counters.retries),
        static_cast<long long>(counters.blocks_ahead), static_cast<long long>(counters.stalls),
        static_cast<long long>(grown / 1024));
    std::fflush(stdout);
    std::string wrong = sequences.fault();
    if (wrong.empty() && grown > kMaxGrowth) wrong = "memory grows";
    if (wrong.empty() && sequences.steps() == 0) wrong = "no step was made";
    if (wrong.empty()) return true;
    std::printf("%s: %s (seed %u)\n", name, wrong.c_str(), seed_);
    return false;
  }

  // Sleeps, as a fault does between its happenings.
  void Pause(absl::Duration mean) {
    absl::SleepFor(mean * std::uniform_real_distribution<double>(0.5, 1.5)(random_));
  }

  bool KilledServer() {
    ServerProcess server(phasord_, "unix:" + SocketPath());
    return Decode("killed server", server.address(), [&] {
      absl::SleepFor(absl::Seconds(2));
      server.Kill();
      Pause(absl::Milliseconds(100));
      server.Start();
    });
  }

  // Three servers on one address of the loopback network, on ports of their own.
  struct Replicas {
    explicit Replicas(const std::string& phasord) {
      for (int i = 0; i < 3; ++i) {
        servers.push_back(std::make_unique<ServerProcess>(phasord, "127.0.0.1:0"));
        absl::StrAppend(&address, i == 0 ? "" : ",", servers.back()->address());
      }
    }
    std::vector<std::unique_ptr<ServerProcess>> servers;
    std::string address;
  };

  bool RolledReplicas() {
    Replicas replicas(phasord_);
    std::size_t next = 0;
    return Decode("rolled replicas", replicas.address, [&] {
      Pause(absl::Milliseconds(500));
      ServerProcess& server = *replicas.servers[next++ % 3];
      if (next % 2 == 0) {
        server.Kill();
      } else {
        server.Terminate();
      }
      Pause(absl::Milliseconds(200));
      server.Start();
    });
  }

  bool FrozenReplica() {
    Replicas replicas(phasord_);
    std::size_t next = 0;
    return Decode("frozen replica", replicas.address, [&] {
      Pause(absl::Milliseconds(500));
      ServerProcess& server = *replicas.servers[next++ % 3];
      server.Freeze();
      Pause(absl::Seconds(6));  // a try has 5 s of 10
      server.Thaw();
    });
  }

  bool CuttingWay() {
    ServerProcess server(phasord_, "unix:" + SocketPath());
    CuttingProxy proxy(SocketPath(), seed_, /*mean_bytes=*/3 << 20);
    const bool ok =
        Decode("cutting proxy", proxy.address(), [&] { absl::SleepFor(absl::Milliseconds(100)); });
    std::printf("cutting proxy: %d connections cut\n", proxy.cuts());
    return ok;
  }

  const std::string phasord_;
  const absl::Duration length_;
  const std::uint32_t seed_;
  std::mt19937 random_;
  std::string directory_;
  WalkedRows rows_;
};

}  // namespace
}  // namespace phasor::chaos

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4 || std::atof(argv[2]) <= 0) {
    std::fprintf(stderr, "usage: phasor_chaos PHASORD SECONDS [SEED]\n");
    return 2;
  }
  const std::uint32_t seed = argc == 4
                                 ? static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10))
                                 : std::random_device()();
  std::printf("seed %u\n", seed);
  std::fflush(stdout);
  return phasor::chaos::Chaos(argv[1], absl::Seconds(std::atof(argv[2])), seed).Run() ? 0 : 1;
}
