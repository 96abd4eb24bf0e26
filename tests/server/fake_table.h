#ifndef PHASOR_TESTS_SERVER_FAKE_TABLE_H_
#define PHASOR_TESTS_SERVER_FAKE_TABLE_H_

// A table whose making can be watched, held up and made to fail. Byte b of row
// p is ByteOf(p, b).

#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"
#include "server/block_cache.h"

namespace phasor::server {

/// Takes so much of the calling thread's CPU time.
inline void UseProcessor(absl::Duration time) {
  const auto used = [] {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return absl::DurationFromTimespec(now);
  };
  for (const absl::Duration begin = used(); used() < begin + time;) {
  }
}

struct FakeMaking {
  std::atomic<int> opened = 0;
  std::atomic<int> reads = 0;
  std::int64_t table_bytes = 1000;
  std::atomic<std::int64_t> settled = 0;
  std::atomic<std::int64_t> costly = 0;
  std::function<void()> on_open = [] {};
  std::function<void(std::int64_t start)> on_read = [](std::int64_t) {};
  std::function<void()> on_close = [] {};
};

class FakeTable final : public LocalTable {
 public:
  FakeTable(CanonicalSpec spec, FakeMaking* making)
      : LocalTable(std::move(spec)), making_(*making) {}
  ~FakeTable() override { making_.on_close(); }

  static std::byte ByteOf(std::int64_t position, std::int64_t byte) {
    return static_cast<std::byte>(position * 31 + byte * 7);
  }

  static BlockCache::Opener Opener(FakeMaking* making) {
    return [making](CanonicalSpec spec, StopRequest) {
      ++making->opened;
      making->on_open();
      return std::make_shared<const FakeTable>(std::move(spec), making);
    };
  }

  std::int64_t memory_bytes() const override { return making_.table_bytes; }
  std::int64_t settled_elements() const override { return making_.settled; }
  std::int64_t costly_elements() const override { return making_.costly; }

 protected:
  void DoRead(std::int64_t start, std::int64_t count, std::byte* out, StopCheck&) const override {
    ++making_.reads;
    making_.on_read(start);
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int64_t b = 0; b < spec().row_bytes(); ++b) *out++ = ByteOf(start + row, b);
    }
  }
  void DoGather(absl::Span<const std::int64_t> positions, std::int64_t, std::byte* out,
                StopCheck&) const override {
    for (std::int64_t position : positions) {
      for (std::int64_t b = 0; b < spec().row_bytes(); ++b) *out++ = ByteOf(position, b);
    }
  }
  void DoGather(absl::Span<const double>, std::int64_t, std::byte*, StopCheck&) const override {}

 private:
  FakeMaking& making_;
};

}  // namespace phasor::server

#endif  // PHASOR_TESTS_SERVER_FAKE_TABLE_H_
