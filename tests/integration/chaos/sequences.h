#ifndef PHASOR_TESTS_INTEGRATION_CHAOS_SEQUENCES_H_
#define PHASOR_TESTS_INTEGRATION_CHAOS_SEQUENCES_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "phasor/phasor.h"
#include "tests/integration/chaos/walked_rows.h"

namespace phasor::chaos {

/// 64 sequences that decode, 16 a thread: in two threads each has a cursor, in
/// one each step is a gather, and in one of two tables at once. Each goes on
/// for a while and then begins elsewhere, as requests do. Every row is compared.
class Sequences {
 public:
  static constexpr int kThreads = 4;
  static constexpr int kInAThread = 16;

  Sequences(const Table& table, const Table& halves, const WalkedRows& rows, std::uint32_t seed,
            absl::Duration timeout);
  ~Sequences();

  /// Lets them end, and waits for it.
  void Stop();

  std::int64_t steps() const { return steps_; }
  absl::Duration longest_step() const;
  /// What went wrong; empty if nothing did.
  std::string fault() const;

 private:
  struct Walk;
  void RunCursors(std::uint32_t seed);
  void RunGathers(std::uint32_t seed, bool two_tables);
  bool Check(std::int64_t position, const float* row);
  bool CheckHalves(std::int64_t position, const float* row);
  bool Time(absl::Duration taken, const absl::Status& status, std::int64_t position);
  void Fail(const std::string& what);

  const Table table_;
  const Table halves_;
  const WalkedRows& rows_;
  const absl::Duration timeout_;
  std::atomic<bool> ends_{false};
  std::atomic<std::int64_t> steps_{0};
  mutable absl::Mutex mutex_;
  absl::Duration longest_ ABSL_GUARDED_BY(mutex_);
  std::string fault_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace phasor::chaos

#endif  // PHASOR_TESTS_INTEGRATION_CHAOS_SEQUENCES_H_
