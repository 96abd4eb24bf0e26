#include "client/src/fallback_connection.h"

#include <algorithm>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/clock.h"

namespace phasor::internal {
namespace {

bool IsComputed(const TableHandle& table) {
  return !std::holds_alternative<LearnedTable>(table.spec().spec().scheme);
}

}  // namespace

// Whether to ask the server. While it is down one caller a pause may try; the
// others are answered here, so that a server that hangs delays one call.
bool FallbackConnection::ShouldAskServer() {
  {
    ForkMonitorLock lock(&mutex_);
    if (!down_) return true;
  }
  if (!server_->Reachable()) return false;
  const absl::Time now = absl::Now();
  ForkMonitorLock lock(&mutex_);
  if (!down_) return true;
  if (now < next_try_) return false;
  next_try_ = absl::InfiniteFuture();
  return true;
}

// Whether the server answered, in whatever way.
bool FallbackConnection::Note(const absl::Status& status) {
  const bool answered = !absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status);
  {
    ForkMonitorLock lock(&mutex_);
    if (answered) {
      down_ = false;
      return true;
    }
    pause_ = down_ ? std::min(pause_ * 2, kLongestPause) : kFirstPause;
    next_try_ = absl::Now() + pause_;
    if (down_) return false;
    down_ = true;
  }
  if (on_fallback_) on_fallback_(status);
  return false;
}

absl::Status FallbackConnection::Either(
    bool computed, CallLimits limits,
    absl::FunctionRef<absl::Status(Connection&, CallLimits)> call) {
  if (!computed) return call(*server_, limits);
  if (ShouldAskServer()) {
    const absl::Time now = absl::Now();
    absl::Status status =
        call(*server_, CallLimits{now + (limits.deadline - now) / 2, /*retry=*/false});
    if (Note(status)) return status;
  }
  Count(counters_->local_fallbacks);
  return call(local_, limits);
}

// Computing takes less time than what would be hidden by doing it ahead.
bool FallbackConnection::ReadsAhead() {
  {
    ForkMonitorLock lock(&mutex_);
    if (down_) return false;
  }
  return server_->ReadsAhead();
}

void FallbackConnection::StartRead(std::shared_ptr<const TableHandle> table, std::int64_t start,
                                   std::int64_t count, Parts parts, absl::Time deadline,
                                   std::function<void(absl::Status)> done) {
  server_->StartRead(std::move(table), start, count, std::move(parts), deadline,
                     [this, done = std::move(done)](const absl::Status& status) {
                       // Success says less than failure: it may have begun long ago.
                       if (!status.ok()) Note(status);
                       done(status);
                     });
}

absl::StatusOr<CanonicalSpec> FallbackConnection::Resolve(const LearnedTable& table,
                                                          ElementType type, CallLimits limits) {
  return server_->Resolve(table, type, limits);
}

absl::Status FallbackConnection::Open(const TableHandle& table, CallLimits limits) {
  return Either(IsComputed(table), limits,
                [&](Connection& c, CallLimits l) { return c.Open(table, l); });
}

absl::Status FallbackConnection::Read(const TableHandle& table, std::int64_t start,
                                      std::int64_t count, absl::Span<std::byte> out,
                                      CallLimits limits) {
  return Either(IsComputed(table), limits,
                [&](Connection& c, CallLimits l) { return c.Read(table, start, count, out, l); });
}

absl::Status FallbackConnection::Gather(absl::Span<const GatherJob> jobs, CallLimits limits) {
  const bool computed = std::all_of(jobs.begin(), jobs.end(),
                                    [](const GatherJob& job) { return IsComputed(*job.table); });
  return Either(computed, limits, [&](Connection& c, CallLimits l) { return c.Gather(jobs, l); });
}

absl::Status FallbackConnection::Shift(const TableHandle& table, ShiftBy by,
                                       absl::Span<const std::byte> rows, absl::Span<std::byte> out,
                                       CallLimits limits) {
  return Either(IsComputed(table), limits,
                [&](Connection& c, CallLimits l) { return c.Shift(table, by, rows, out, l); });
}

absl::StatusOr<std::vector<double>> FallbackConnection::Frequencies(const TableHandle& table,
                                                                    CallLimits limits) {
  absl::StatusOr<std::vector<double>> frequencies;
  const absl::Status status = Either(IsComputed(table), limits, [&](Connection& c, CallLimits l) {
    frequencies = c.Frequencies(table, l);
    return frequencies.status();
  });
  if (!status.ok()) return status;
  return frequencies;
}

absl::StatusOr<std::vector<TableInfo>> FallbackConnection::ListTables(CallLimits limits) {
  return server_->ListTables(limits);
}

absl::StatusOr<ServerInfo> FallbackConnection::GetServerInfo(CallLimits limits) {
  return server_->GetServerInfo(limits);
}

absl::StatusOr<ServingStatus> FallbackConnection::CheckHealth(absl::string_view service,
                                                              CallLimits limits) {
  return server_->CheckHealth(service, limits);
}

}  // namespace phasor::internal
