#include <fcntl.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/version_info.h>
#include <malloc.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/options.h"
#include "server/server.h"
#include "server/version.h"

namespace phasor::server {
namespace {

// gRPC before 1.65 has a log of its own.
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 65
void LogGrpc(gpr_log_func_args* line) {
  const auto level = line->severity == GPR_LOG_SEVERITY_ERROR  ? spdlog::level::warn
                     : line->severity == GPR_LOG_SEVERITY_INFO ? spdlog::level::info
                                                               : spdlog::level::debug;
  spdlog::log(level, "grpc: {}", line->message);
}
void RouteGrpcLog() { gpr_set_log_function(&LogGrpc); }
#else
void RouteGrpcLog() {}
#endif

// Of what strangers send, which is refused anyway.
void LogProtobuf(google::protobuf::LogLevel, const char*, int, const std::string& message) {
  spdlog::debug("protobuf: {}", message);
}

void StartLogging(const std::string& level) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "phasord", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  spdlog::set_level(level == "error" ? spdlog::level::err : spdlog::level::from_str(level));
  RouteGrpcLog();
  google::protobuf::SetLogHandler(&LogProtobuf);
}

// A connection is a file descriptor, and usual limits are low.
void RaiseOpenFilesLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  spdlog::info("open files, connections among them: at most {}", limit.rlim_cur);
}

// Signals as events. Of SIGTERM and SIGINT the first asks the server to end, the
// second ends the process at once. SIGHUP asks for tables to be loaded anew;
// where there are none it ends the process, as ever. To be made before any other
// thread.
class Signals {
 public:
  enum class Event { kStop, kHangup, kTimeout };

  explicit Signals(bool hangup) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    if (hangup) sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([this, signals] {
      for (;;) {
        int number = 0;
        sigwait(&signals, &number);
        absl::MutexLock lock(&mutex_);
        if (number != SIGHUP && stop_) _exit(128 + number);
        (number == SIGHUP ? hangup_ : stop_) = true;
      }
    }).detach();
  }

  // The next event; stopping is never over.
  Event Wait(absl::Duration timeout) {
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(this, &Signals::HasEvent), timeout);
    if (stop_) return Event::kStop;
    return std::exchange(hangup_, false) ? Event::kHangup : Event::kTimeout;
  }

 private:
  bool HasEvent() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || hangup_; }

  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool hangup_ ABSL_GUARDED_BY(mutex_) = false;
};

// Sees to it that no socket or file gets the number of a standard stream that
// the caller closed: what is logged would reach a client. Reading and writing these fail all the
// same.
__attribute__((no_sanitize("address", "undefined"))) void HoldStandardStreams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() gives the lowest free number, which is this one.
    if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor) _exit(1);
  }
}

// Before main, and before the constructors of libraries: libgrpc's opens a
// descriptor. So early there is no sanitizer yet.
__attribute__((section(".preinit_array"),
               used)) void (*g_hold_standard_streams)() = &HoldStandardStreams;

// Prints an answer; the exit status.
int Print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  std::fprintf(stderr, "phasord: cannot write stdout: %s\n", std::strerror(errno));
  return 1;
}

int Run(const std::vector<std::string>& arguments) {
  absl::StatusOr<CommandLine> line = ParseCommandLine(arguments);
  if (!line.ok()) {
    std::fprintf(stderr, "phasord: %s\n", std::string(line.status().message()).c_str());
    return 2;
  }
  if (!line->text.empty()) return Print(line->text);
  const Options& options = line->options;
  signal(SIGPIPE, SIG_IGN);
  // Never destroyed: its thread lives as long as the process.
  static auto* const signals = new Signals(/*hangup=*/!options.tables.empty());
  StartLogging(options.log_level);
  // Without a shutdown to match: the last one waits up to ten seconds for a
  // poller of gRPC's own.
  grpc_init();
  RaiseOpenFilesLimit();

  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
  if (!server.ok()) {
    std::fprintf(stderr, "phasord: %s\n", std::string(server.status().message()).c_str());
    return absl::IsInvalidArgument(server.status()) ? 2 : 1;
  }
  for (const std::string& address : (*server)->addresses()) {
    std::fprintf(stderr, "phasord ready on %s\n", address.c_str());
  }
  const absl::Duration poll = options.tables.empty() || options.table_poll == absl::ZeroDuration()
                                  ? absl::InfiniteDuration()
                                  : options.table_poll;
  for (;;) {
    const Signals::Event event = signals->Wait(poll);
    if (event == Signals::Event::kStop) break;
    // What fails is logged, and tried again when the files change.
    if (event == Signals::Event::kHangup) static_cast<void>((*server)->ReloadTables());
    if (event == Signals::Event::kTimeout) static_cast<void>((*server)->PollTables());
  }
  spdlog::info("draining");
  (*server)->Drain(options.drain_delay, options.drain_timeout);
  server->reset();
  spdlog::info("drained");
  return 0;
}

}  // namespace
}  // namespace phasor::server

int main(int argc, char** argv) {
#ifdef NDEBUG
  // Debian's Abseil looks for lock-order inversions at every lock, and aborts.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
#ifdef __GLIBC__
  // Left to itself, glibc moves this bound up with every large array that is
  // freed, and keeps in its heaps, of which each thread has one, what tables
  // leave behind.
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_ARENA_MAX, 2);
#endif
  return phasor::server::Run(std::vector<std::string>(argv + 1, argv + argc));
}
