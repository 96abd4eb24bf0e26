#ifndef PHASOR_CLIENT_SRC_FALLBACK_CONNECTION_H_
#define PHASOR_CLIENT_SRC_FALLBACK_CONNECTION_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "client/src/connection.h"
#include "client/src/counters.h"
#include "client/src/local_connection.h"

namespace phasor::internal {

/// Asks `server`, and computes here what it does not answer: UNAVAILABLE at
/// once, DEADLINE_EXCEEDED after half of the time. From then on everything is
/// computed here, and the server is tried again when it is reachable, not
/// oftener than kFirstPause, then twice as long from failure to failure up to
/// kLongestPause. Only what is about tables has a second way.
class FallbackConnection final : public Connection {
 public:
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(100);
  static constexpr absl::Duration kLongestPause = absl::Seconds(10);

  FallbackConnection(std::unique_ptr<Connection> server, Counters* counters)
      : server_(std::move(server)), counters_(counters) {}

  absl::Status Open(const TableHandle& table, CallLimits limits) override;
  absl::Status Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                    absl::Span<std::byte> out, CallLimits limits) override;
  absl::Status Gather(const TableHandle& table, Positions positions, absl::Span<std::byte> out,
                      CallLimits limits) override;
  absl::Status Shift(const TableHandle& table, ShiftBy by, absl::Span<const std::byte> rows,
                     absl::Span<std::byte> out, CallLimits limits) override;
  absl::StatusOr<std::vector<double>> Frequencies(const TableHandle& table,
                                                  CallLimits limits) override;
  absl::StatusOr<std::vector<TableInfo>> ListTables(CallLimits limits) override;
  absl::StatusOr<ServerInfo> GetServerInfo(CallLimits limits) override;
  absl::StatusOr<ServingStatus> CheckHealth(absl::string_view service, CallLimits limits) override;
  bool Reachable() override { return true; }

 private:
  absl::Status Either(CallLimits limits,
                      absl::FunctionRef<absl::Status(Connection&, CallLimits)> call);
  bool ShouldAskServer();
  void Note(bool answered);

  std::unique_ptr<Connection> server_;
  LocalConnection local_;
  Counters* counters_;

  absl::Mutex mutex_;
  bool down_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time next_try_ ABSL_GUARDED_BY(mutex_);
  absl::Duration pause_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_FALLBACK_CONNECTION_H_
