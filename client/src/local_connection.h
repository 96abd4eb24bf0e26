#ifndef PHASOR_CLIENT_SRC_LOCAL_CONNECTION_H_
#define PHASOR_CLIENT_SRC_LOCAL_CONNECTION_H_

#include <functional>
#include <memory>
#include <vector>

#include "client/src/connection.h"

namespace phasor::internal {

/// Computes everything in this process. Deadlines mean nothing here.
class LocalConnection final : public Connection {
 public:
  absl::Status Open(const TableHandle& table, CallLimits limits) override;
  absl::Status Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                    absl::Span<std::byte> out, CallLimits limits) override;
  bool ReadsAhead() override { return false; }
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
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_LOCAL_CONNECTION_H_
