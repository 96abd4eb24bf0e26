#ifndef PHASOR_CLIENT_SRC_COUNTERS_H_
#define PHASOR_CLIENT_SRC_COUNTERS_H_

#include <atomic>
#include <cstdint>

namespace phasor::internal {

/// The numbers behind ClientCounters.
struct Counters {
  std::atomic<std::int64_t> rpcs{0};
  std::atomic<std::int64_t> retries{0};
  std::atomic<std::int64_t> local_fallbacks{0};
  std::atomic<std::int64_t> block_hits{0};
  std::atomic<std::int64_t> block_misses{0};
  std::atomic<std::int64_t> blocks_ahead{0};
  std::atomic<std::int64_t> stalls{0};
};

inline void Count(std::atomic<std::int64_t>& counter, std::int64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_COUNTERS_H_
