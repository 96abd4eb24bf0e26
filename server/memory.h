#ifndef PHASOR_SERVER_MEMORY_H_
#define PHASOR_SERVER_MEMORY_H_

/// \file
/// Memory that is counted from birth to destruction, wherever it is held:
/// by the cache, by a call at work, or by the network for a slow reader.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/types/span.h"

namespace phasor::server {

/// How many counted bytes are alive. **Thread safety**: thread-safe.
class MemoryAccount {
 public:
  std::int64_t live_bytes() const { return live_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class Charge;
  std::atomic<std::int64_t> live_bytes_{0};
};

/// Bytes in an account, for as long as this object lives. Shares the account:
/// the network may give rows back after everything else is gone.
class Charge {
 public:
  Charge(std::shared_ptr<MemoryAccount> account, std::int64_t bytes)
      : account_(std::move(account)), bytes_(0) {
    Add(bytes);
  }
  Charge(Charge&& other) noexcept
      : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&&) = delete;
  ~Charge() { Add(-bytes_); }

  std::int64_t bytes() const { return bytes_; }
  void Add(std::int64_t bytes) {
    if (bytes == 0) return;
    account_->live_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    bytes_ += bytes;
  }

 private:
  std::shared_ptr<MemoryAccount> account_;
  std::int64_t bytes_;
};

/// Uninitialised memory, aligned to 64 bytes. The constructor throws
/// std::bad_alloc when there is none.
///
/// From half a block on it is whole pages, whose memory goes back to the system
/// or to the next who wants as much: so the process is as large as what is
/// counted. An allocator's heap keeps what is given back between what is not,
/// and glibc's does not find it again for aligned memory.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::int64_t size);
  AlignedBytes(const AlignedBytes&) = delete;
  ~AlignedBytes();

  /// What `size` bytes of it take in fact.
  static std::int64_t Footprint(std::int64_t size);

  absl::Span<std::byte> span() const {
    return absl::MakeSpan(data_, static_cast<std::size_t>(size_));
  }

 private:
  const std::int64_t size_;
  void* const memory_;
  std::byte* const data_;
};

/// A counted piece of memory for rows that are not cached.
class RowBuffer {
 public:
  RowBuffer(Charge charge, std::int64_t size) : charge_(std::move(charge)), bytes_(size) {}

  absl::Span<std::byte> data() { return bytes_.span(); }
  absl::Span<const std::byte> data() const { return bytes_.span(); }

 private:
  Charge charge_;
  AlignedBytes bytes_;
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_MEMORY_H_
