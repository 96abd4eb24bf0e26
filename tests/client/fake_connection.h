#ifndef PHASOR_TESTS_CLIENT_FAKE_CONNECTION_H_
#define PHASOR_TESTS_CLIENT_FAKE_CONNECTION_H_

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/src/connection.h"
#include "gtest/gtest.h"

namespace phasor::internal {

/// A connection whose rows tell where they stand: every element of row p is p,
/// as a double. Tables have to be FLOAT64.
class FakeConnection final : public Connection {
 public:
  struct Call {
    std::int64_t start;
    std::int64_t count;
    CallLimits limits;
  };
  /// What a call answers before it does anything; OK where not set.
  std::function<absl::Status()> answer = [] { return absl::OkStatus(); };
  bool reachable = true;

  absl::Status Open(const TableHandle& table, CallLimits limits) override { return answer(); }

  absl::Status Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                    absl::Span<std::byte> out, CallLimits limits) override {
    {
      absl::MutexLock lock(&mutex_);
      reads_.push_back({start, count, limits});
    }
    if (absl::Status status = answer(); !status.ok()) return status;
    for (std::int64_t i = 0; i < count; ++i) {
      WriteRow(table, static_cast<double>(start + i), out, i);
    }
    return absl::OkStatus();
  }

  absl::Status Gather(const TableHandle& table, Positions positions, absl::Span<std::byte> out,
                      CallLimits limits) override {
    if (absl::Status status = answer(); !status.ok()) return status;
    std::visit(
        [&](auto span) {
          for (std::size_t i = 0; i < span.size(); ++i) {
            WriteRow(table, static_cast<double>(span[i]), out, static_cast<std::int64_t>(i));
          }
        },
        positions);
    return absl::OkStatus();
  }

  absl::Status Shift(const TableHandle& table, ShiftBy by, absl::Span<const std::byte> rows,
                     absl::Span<std::byte> out, CallLimits limits) override {
    return answer();
  }
  absl::StatusOr<std::vector<double>> Frequencies(const TableHandle& table,
                                                  CallLimits limits) override {
    if (absl::Status status = answer(); !status.ok()) return status;
    return std::vector<double>{-1};
  }
  absl::StatusOr<std::vector<TableInfo>> ListTables(CallLimits limits) override { return answer(); }
  absl::StatusOr<ServerInfo> GetServerInfo(CallLimits limits) override { return answer(); }
  absl::StatusOr<ServingStatus> CheckHealth(absl::string_view service, CallLimits limits) override {
    return answer();
  }
  bool Reachable() override { return reachable; }

  std::vector<Call> reads() const {
    absl::MutexLock lock(&mutex_);
    return reads_;
  }

 private:
  static void WriteRow(const TableHandle& table, double value, absl::Span<std::byte> out,
                       std::int64_t row) {
    for (std::int64_t c = 0; c < table.spec().row_width(); ++c) {
      const std::size_t at =
          static_cast<std::size_t>(row * table.spec().row_bytes()) + sizeof value * c;
      ASSERT_LE(at + sizeof value, out.size());
      std::memcpy(out.data() + at, &value, sizeof value);
    }
  }

  mutable absl::Mutex mutex_;
  std::vector<Call> reads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace phasor::internal

#endif  // PHASOR_TESTS_CLIENT_FAKE_CONNECTION_H_
