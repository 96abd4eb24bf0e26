#ifndef PHASOR_SERVER_OPTIONS_H_
#define PHASOR_SERVER_OPTIONS_H_

/// \file
/// The flags of phasord.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/learned_tables.h"

namespace phasor::server {

/// Smallest and largest of what can be set.
inline constexpr std::int64_t kMinMaxMessageBytes = std::int64_t{64} << 10;
inline constexpr std::int64_t kMaxMaxMessageBytes = std::int64_t{1} << 30;
inline constexpr std::int64_t kMaxCacheBytes = std::int64_t{1} << 50;
inline constexpr std::int64_t kMaxThreads = 1024;
inline constexpr std::int64_t kMaxQueuedRequests = 1'000'000;
inline constexpr absl::Duration kMaxDrain = absl::Hours(24);

struct Options {
  /// host:port, [::1]:port or unix:PATH each.
  std::vector<std::string> listen = {"127.0.0.1:50051"};
  std::int64_t cache_bytes = std::int64_t{256} << 20;
  std::int64_t max_message_bytes = std::int64_t{4} << 20;
  /// Threads that make rows; 0: one for each core.
  std::int64_t threads = 0;
  std::int64_t max_queued_requests = 1024;
  bool insecure_network = false;
  absl::Duration drain_delay = absl::ZeroDuration();
  absl::Duration drain_timeout = absl::Seconds(30);
  /// Learned tables to load.
  TableSources tables;
  /// How often their files are looked at; 0: never.
  absl::Duration table_poll = absl::Seconds(10);
  /// trace, debug, info, warn, error or off.
  std::string log_level = "info";
};

/// What a command line asks for: to serve, or a text to print.
struct CommandLine {
  Options options;
  /// The answer to --help or --version; empty to serve.
  std::string text;
};

/// Reads the arguments after the program's name.
///
/// **Errors**: INVALID_ARGUMENT; the message has one line for each fault, which
/// names flag and value. All faults are told at once.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_OPTIONS_H_
