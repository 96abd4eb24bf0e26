#ifndef PHASOR_TESTS_CLIENT_FAKE_CONNECTION_H_
#define PHASOR_TESTS_CLIENT_FAKE_CONNECTION_H_

#include <cstring>
#include <functional>
#include <memory>
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
  bool reads_ahead = true;

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

  bool ReadsAhead() override { return reads_ahead; }

  /// Answers at once where `hold` is not set; else in Land.
  void StartRead(std::shared_ptr<const TableHandle> table, std::int64_t start, std::int64_t count,
                 Parts parts, absl::Time deadline,
                 std::function<void(absl::Status)> done) override {
    {
      absl::MutexLock lock(&mutex_);
      ahead_.push_back({start, count, CallLimits{deadline}});
    }
    auto flight = [=, this, table = std::move(table), parts = std::move(parts),
                   done = std::move(done)](const absl::Status& status) {
      std::int64_t row = start;
      for (const absl::Span<std::byte> part : parts) {
        const std::int64_t rows =
            static_cast<std::int64_t>(part.size()) / table->spec().row_bytes();
        for (std::int64_t i = 0; i < rows && status.ok(); ++i) {
          WriteRow(*table, static_cast<double>(row + i), part, i);
        }
        row += rows;
      }
      EXPECT_EQ(row, start + count);
      done(status);
    };
    if (!hold) return flight(answer());
    absl::MutexLock lock(&mutex_);
    flights_.push_back(std::move(flight));
  }
  /// Whether background reads wait for Land.
  bool hold = false;
  /// Ends the background reads under way with `status`.
  void Land(const absl::Status& status = absl::OkStatus()) {
    std::vector<std::function<void(const absl::Status&)>> flights;
    {
      absl::MutexLock lock(&mutex_);
      flights.swap(flights_);
    }
    for (const auto& flight : flights) flight(status);
  }

  absl::Status Gather(absl::Span<const GatherJob> jobs, CallLimits limits) override {
    {
      absl::MutexLock lock(&mutex_);
      std::vector<std::size_t>& rows = gathers_.emplace_back();
      for (const GatherJob& job : jobs) {
        rows.push_back(std::visit([](auto span) { return span.size(); }, job.positions));
      }
    }
    if (absl::Status status = answer(); !status.ok()) return status;
    for (const GatherJob& job : jobs) {
      std::visit(
          [&](auto span) {
            for (std::size_t i = 0; i < span.size(); ++i) {
              WriteRow(*job.table, static_cast<double>(span[i]), job.out,
                       static_cast<std::int64_t>(i));
            }
          },
          job.positions);
    }
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

  /// Reads in the background.
  std::vector<Call> ahead() const {
    absl::MutexLock lock(&mutex_);
    return ahead_;
  }
  /// Of each gather, the number of rows of each job.
  std::vector<std::vector<std::size_t>> gathers() const {
    absl::MutexLock lock(&mutex_);
    return gathers_;
  }
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
  std::vector<Call> ahead_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<std::size_t>> gathers_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void(const absl::Status&)>> flights_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace phasor::internal

#endif  // PHASOR_TESTS_CLIENT_FAKE_CONNECTION_H_
