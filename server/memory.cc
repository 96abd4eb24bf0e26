#include "server/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace phasor::server {
namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kLeastPaged = std::int64_t{32} << 10;
// Most memory kept for the next who wants as much, and most of it in one piece.
constexpr std::int64_t kMostKept = std::int64_t{8} << 20;
constexpr std::int64_t kMostKeptPiece = std::int64_t{1} << 20;

// Pages of the system's, some of them kept for a while after their use: what it
// takes to have a page anew is about what rows in it cost.
//
// **Thread safety**: thread-safe.
class Pages {
 public:
  Pages() { kept_.reserve(kMostKept / kLeastPaged + 2); }

  void* Take(std::int64_t size) ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      absl::MutexLock lock(&mutex_);
      const auto same = std::find_if(kept_.rbegin(), kept_.rend(),
                                     [size](const Piece& piece) { return piece.size == size; });
      if (same != kept_.rend()) {
        void* const memory = same->memory;
        kept_.erase(std::next(same).base());
        kept_bytes_ -= size;
        return memory;
      }
    }
    void* const memory = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return memory;
  }

  void Give(void* memory, std::int64_t size) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (size > kMostKeptPiece) return Unmap({memory, size});
    Keep({memory, size});
    while (const std::optional<Piece> surplus = Surplus()) Unmap(*surplus);
  }

 private:
  struct Piece {
    void* memory;
    std::int64_t size;
  };

  static void Unmap(const Piece& piece) {
    const auto size = static_cast<std::size_t>(piece.size);
    // The system limits how many pieces the address space may fall into.
    if (munmap(piece.memory, size) != 0) madvise(piece.memory, size, MADV_DONTNEED);
  }
  void Keep(const Piece& piece) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    kept_.push_back(piece);
    kept_bytes_ += piece.size;
  }
  // The piece longest unused, if there is too much.
  std::optional<Piece> Surplus() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (kept_bytes_ <= kMostKept) return std::nullopt;
    const Piece oldest = kept_.front();
    kept_.erase(kept_.begin());
    kept_bytes_ -= oldest.size;
    return oldest;
  }

  absl::Mutex mutex_;
  // Latest last.
  std::vector<Piece> kept_ ABSL_GUARDED_BY(mutex_);
  std::int64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

Pages& ThePages() {
  // Never destroyed: rows may outlive everything else.
  static auto* const pages = new Pages;
  return *pages;
}

void* Allocate(std::int64_t size) {
  const std::int64_t bytes = AlignedBytes::Footprint(size);
  if (size >= kLeastPaged) return ThePages().Take(bytes);
  void* const memory = std::malloc(static_cast<std::size_t>(bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

std::byte* Align(void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return static_cast<std::byte*>(memory) + (-address & (kAlignment - 1));
}

}  // namespace

std::int64_t AlignedBytes::Footprint(std::int64_t size) {
  if (size < kLeastPaged) return size + kAlignment;
  return (size + kPageBytes - 1) / kPageBytes * kPageBytes;
}

AlignedBytes::AlignedBytes(std::int64_t size)
    : size_(size), memory_(Allocate(size)), data_(Align(memory_)) {}

AlignedBytes::~AlignedBytes() {
  if (size_ >= kLeastPaged) {
    ThePages().Give(memory_, Footprint(size_));
  } else {
    std::free(memory_);
  }
}

}  // namespace phasor::server
