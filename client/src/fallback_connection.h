#ifndef PHASOR_CLIENT_SRC_FALLBACK_CONNECTION_H_
#define PHASOR_CLIENT_SRC_FALLBACK_CONNECTION_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "client/src/connection.h"
#include "client/src/counters.h"
#include "client/src/fork.h"
#include "client/src/local_connection.h"

namespace phasor::internal {

/// Asks `server`, and computes here what it does not answer: UNAVAILABLE at
/// once, DEADLINE_EXCEEDED after half of the time. From then on everything is
/// computed here, and the server is tried again when it is reachable, not
/// oftener than kFirstPause, then twice as long from failure to failure up to
/// kLongestPause. Only what is about tables that can be
/// computed has a second way.
class FallbackConnection final : public Connection {
 public:
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(100);
  static constexpr absl::Duration kLongestPause = absl::Seconds(10);

  /// `on_fallback` as in ClientOptions.
  FallbackConnection(std::unique_ptr<Connection> server,
                     std::function<void(const absl::Status&)> on_fallback, Counters* counters)
      : on_fallback_(std::move(on_fallback)), counters_(counters), server_(std::move(server)) {}

  absl::StatusOr<CanonicalSpec> Resolve(const LearnedTable& table, ElementType type,
                                        CallLimits limits) override;
  absl::Status Open(const TableHandle& table, CallLimits limits) override;
  absl::Status Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                    absl::Span<std::byte> out, CallLimits limits) override;
  bool ReadsAhead() override;
  void StartRead(std::shared_ptr<const TableHandle> table, std::int64_t start, std::int64_t count,
                 Parts parts, absl::Time deadline, std::function<void(absl::Status)> done) override;
  absl::Status Gather(absl::Span<const GatherJob> jobs, CallLimits limits) override;
  absl::Status Shift(const TableHandle& table, ShiftBy by, absl::Span<const std::byte> rows,
                     absl::Span<std::byte> out, CallLimits limits) override;
  absl::StatusOr<std::vector<double>> Frequencies(const TableHandle& table,
                                                  CallLimits limits) override;
  absl::StatusOr<std::vector<TableInfo>> ListTables(CallLimits limits) override;
  absl::StatusOr<ServerInfo> GetServerInfo(CallLimits limits) override;
  absl::StatusOr<ServingStatus> CheckHealth(absl::string_view service, CallLimits limits) override;
  bool Reachable() override { return true; }

 private:
  // Of tables `computed` here, or else by the server alone.
  absl::Status Either(bool computed, CallLimits limits,
                      absl::FunctionRef<absl::Status(Connection&, CallLimits)> call);
  bool ShouldAskServer();
  bool Note(const absl::Status& status);

  LocalConnection local_;
  const std::function<void(const absl::Status&)> on_fallback_;
  Counters* counters_;

  ForkMonitor mutex_;
  bool down_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time next_try_ ABSL_GUARDED_BY(mutex_);
  absl::Duration pause_ ABSL_GUARDED_BY(mutex_);

  // Last, so that it ends first: its calls in the background end in Note.
  std::unique_ptr<Connection> server_;
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_FALLBACK_CONNECTION_H_
