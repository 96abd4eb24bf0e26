#ifndef PHASOR_SERVER_BLOCK_CACHE_H_
#define PHASOR_SERVER_BLOCK_CACHE_H_

/// \file
/// Opened tables and blocks of their rows, bounded in bytes, each made once
/// however many ask for it at the same time.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "phasor/core/local_table.h"
#include "server/block_geometry.h"
#include "server/memory.h"

namespace phasor::server {

/// What the cache holds: either an OpenTable or a Block. Its bytes are counted
/// while it lives, whoever holds it.
class Resident {
 public:
  virtual ~Resident() = default;
  std::int64_t counted_bytes() const { return charge_.bytes(); }

 protected:
  explicit Resident(Charge charge) : charge_(std::move(charge)) {}

 private:
  friend class BlockCache;
  Charge charge_;
};

/// What settling cost all tables of a cache, those that are gone included: see
/// LocalTable. **Thread safety**: thread-safe.
struct SettledElements {
  std::atomic<std::int64_t> settled{0};
  std::atomic<std::int64_t> costly{0};
};

/// A table ready to make rows. **Thread safety**: thread-safe.
class OpenTable : public Resident {
 public:
  OpenTable(std::shared_ptr<const LocalTable> rows, std::shared_ptr<SettledElements> settled,
            Charge charge)
      : Resident(std::move(charge)),
        rows_(std::move(rows)),
        settled_(std::move(settled)),
        geometry_(rows_->spec()),
        fingerprint_(rows_->spec().fingerprint()) {}

  const CanonicalSpec& spec() const { return rows_->spec(); }
  const BlockGeometry& geometry() const { return geometry_; }
  const std::string& fingerprint() const { return fingerprint_; }

  /// Blocks held by the cache, and the bytes of this table and of those.
  std::int64_t cached_blocks() const { return cached_blocks_.load(std::memory_order_relaxed); }
  std::int64_t cached_bytes() const { return cached_bytes_.load(std::memory_order_relaxed); }
  /// Look-ups of blocks that found the block made or being made, and those
  /// that had to make it.
  std::int64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  std::int64_t misses() const { return misses_.load(std::memory_order_relaxed); }

  /// CPU time that a block took of late; longer than any for a table that has
  /// made none. What to expect of the next: of a stranger's spec nothing else
  /// tells it.
  absl::Duration block_time() const {
    return absl::Nanoseconds(block_nanoseconds_.load(std::memory_order_relaxed));
  }
  /// Make rows as those of LocalTable, and learn from it.
  absl::Status ReadInto(std::int64_t start, std::int64_t count, absl::Span<std::byte> out,
                        StopRequest stop) const;
  template <typename T>
  absl::Status GatherInto(absl::Span<const T> positions, absl::Span<std::byte> out,
                          StopRequest stop) const {
    absl::Status status = rows_->GatherInto(positions, out, stop);
    CountSettled();
    return status;
  }
  template <typename T>
  absl::Status GatherAxesInto(absl::Span<const T> positions, absl::Span<std::byte> out,
                              StopRequest stop) const {
    absl::Status status = rows_->GatherAxesInto(positions, out, stop);
    CountSettled();
    return status;
  }

 private:
  friend class BlockCache;

  // Adds to settled_ what is new.
  void CountSettled() const;

  const std::shared_ptr<const LocalTable> rows_;
  const std::shared_ptr<SettledElements> settled_;
  const BlockGeometry geometry_;
  const std::string fingerprint_;
  mutable std::atomic<std::int64_t> cached_blocks_{0};
  mutable std::atomic<std::int64_t> cached_bytes_{0};
  mutable std::atomic<std::int64_t> hits_{0};
  mutable std::atomic<std::int64_t> misses_{0};
  mutable std::atomic<std::int64_t> block_nanoseconds_{std::numeric_limits<std::int64_t>::max()};
  // What settled_ has of this table.
  mutable SettledElements counted_;
};

/// Consecutive rows of a table, immutable. **Thread safety**: thread-safe.
class Block : public Resident {
 public:
  Block(std::shared_ptr<const OpenTable> table, std::int64_t index, Charge charge);

  const OpenTable& table() const { return *table_; }
  std::int64_t begin() const { return begin_; }  ///< first position
  std::int64_t end() const { return end_; }      ///< one past the last
  /// Rows `first` ... `last`-1, which have to be in the block.
  absl::Span<const std::byte> Rows(std::int64_t first, std::int64_t last) const;

 private:
  friend class BlockCache;

  const std::shared_ptr<const OpenTable> table_;
  const std::int64_t begin_;
  const std::int64_t end_;
  AlignedBytes bytes_;
};

using TablePtr = std::shared_ptr<const OpenTable>;
using BlockPtr = std::shared_ptr<const Block>;

/// The cache. **Thread safety**: thread-safe; nothing is made or destroyed, and
/// nobody is called, under its lock.
class BlockCache {
 public:
  using Opener =
      std::function<absl::StatusOr<std::shared_ptr<const LocalTable>>(CanonicalSpec, StopRequest)>;
  template <typename T>
  using Result = absl::StatusOr<std::shared_ptr<const T>>;
  /// Receives what another thread made. Must not throw or block.
  template <typename T>
  using Waiter = std::function<void(Result<T>)>;

  struct Limits {
    /// Bound on what the cache holds, and on that together with what others
    /// hold of it. 0: nothing is kept.
    std::int64_t cache_bytes = std::int64_t{256} << 20;
    /// How far work in flight may go beyond that.
    std::int64_t working_bytes = std::int64_t{32} << 20;
  };

  explicit BlockCache(Limits limits, Opener opener = &LocalTable::Open);
  BlockCache(const BlockCache&) = delete;

  /// The opened table of `spec`, or null. Never opens one.
  TablePtr FindTable(const CanonicalSpec& spec) ABSL_LOCKS_EXCLUDED(mutex_);
  /// Blocks `first` ... `last` of `table` if all of them are held; otherwise
  /// empty. Never makes one.
  std::vector<BlockPtr> FindBlocks(const OpenTable& table, std::int64_t first, std::int64_t last)
      ABSL_LOCKS_EXCLUDED(mutex_);

  /// The opened table of `spec`. If it is not held, opens it on this thread;
  /// if another thread is at that, returns nothing and `waiter` is called once
  /// with the outcome, on that thread, possibly before this returns.
  ///
  /// **Errors**: UNAVAILABLE when there is no memory for it; what making it
  /// threw; CANCELLED once `stop` says so, or for `waiter` the other call's
  /// `stop` did. A failure leaves nothing behind: the next call tries again.
  std::optional<Result<OpenTable>> Open(const CanonicalSpec& spec, Waiter<OpenTable> waiter,
                                        StopRequest stop = NeverStop) ABSL_LOCKS_EXCLUDED(mutex_);
  /// The block `index` of `table`, in the same way; without a `waiter` nobody is
  /// called.
  std::optional<Result<Block>> Get(const TablePtr& table, std::int64_t index, Waiter<Block> waiter,
                                   StopRequest stop = NeverStop) ABSL_LOCKS_EXCLUDED(mutex_);

  /// The block of each of `positions` of `table`, or null where it is not held.
  /// Never makes one.
  std::vector<BlockPtr> FindBlocksOf(const OpenTable& table,
                                     absl::Span<const std::int64_t> positions)
      ABSL_LOCKS_EXCLUDED(mutex_);

  /// Counts memory that a call needs.
  ///
  /// **Errors**: UNAVAILABLE when there is none.
  absl::StatusOr<Charge> Reserve(std::int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  /// Counted memory for rows that are not cached. **Errors**: as Reserve.
  absl::StatusOr<std::shared_ptr<RowBuffer>> Allocate(std::int64_t bytes)
      ABSL_LOCKS_EXCLUDED(mutex_);

  /// Up to `max_count` opened tables in order of fingerprint, from the first
  /// after `after`: 16 bytes, or empty to begin.
  std::vector<TablePtr> Tables(absl::Span<const std::uint8_t> after, std::size_t max_count)
      ABSL_LOCKS_EXCLUDED(mutex_);

  /// Lets go of the table of `spec` and its blocks, which nobody will ask for
  /// again. What others hold of them, or are making, lives on with them.
  void Forget(const CanonicalSpec& spec) ABSL_LOCKS_EXCLUDED(mutex_);

  const Limits& limits() const { return limits_; }
  /// Bytes alive: held by the cache, by calls, and by the network.
  std::int64_t live_bytes() const { return account_->live_bytes(); }
  /// What settling cost so far.
  const SettledElements& settled() const { return *settled_; }
  /// Blocks made so far.
  std::int64_t blocks_made() const { return blocks_made_.load(std::memory_order_relaxed); }

 private:
  using Digest = std::array<std::uint8_t, 32>;
  // A table by its digest, or a block by its table and index.
  struct Key {
    Digest digest = {};
    const OpenTable* table = nullptr;
    std::int64_t index = 0;

    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      std::uint64_t digest_head;
      std::memcpy(&digest_head, key.digest.data(), sizeof digest_head);
      return H::combine(std::move(state), digest_head, key.table, key.index);
    }
  };
  struct Entry {
    Key key;
    std::shared_ptr<const Resident> resident;
    bool used = false;  // since it was at the end of the list
  };
  using Made = absl::StatusOr<std::shared_ptr<const Resident>>;

  std::optional<Made> GetOrMake(const Key& key, std::int64_t bytes, const OpenTable* table,
                                absl::FunctionRef<Made(Charge)> make,
                                std::function<void(Made)> waiter) ABSL_LOCKS_EXCLUDED(mutex_);
  Made MakeTable(const CanonicalSpec& spec, Charge charge, StopRequest stop)
      ABSL_LOCKS_EXCLUDED(mutex_);
  Made MakeBlock(const TablePtr& table, std::int64_t index, Charge charge, StopRequest stop);
  void Land(const Key& key, const Made& made) ABSL_LOCKS_EXCLUDED(mutex_);
  void KeepLocked(const Key& key, std::shared_ptr<const Resident> resident)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The entry, which counts as used, or null.
  Entry* FindLocked(const Key& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Room for `bytes` more, as long as the lock is held. Frees it meanwhile: what
  // was looked up before has to be looked up again.
  absl::Status MakeRoomLocked(std::int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Puts out entries until, without them, no more than `live_bound` bytes live,
  // or `looks` entries were looked at.
  std::list<Entry> EvictLocked(std::int64_t live_bound, std::size_t looks)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void CountHeld(const Entry& entry, int sign);

  const Limits limits_;
  const Opener opener_;
  const std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>();
  const std::shared_ptr<SettledElements> settled_ = std::make_shared<SettledElements>();
  std::atomic<std::int64_t> blocks_made_{0};

  absl::Mutex mutex_;
  // In the order in which they will be looked at to be put out, the last first.
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Key, std::list<Entry>::iterator> index_ ABSL_GUARDED_BY(mutex_);
  // The tables of those.
  absl::btree_map<Digest, std::list<Entry>::iterator> tables_ ABSL_GUARDED_BY(mutex_);
  // What is being made, and who waits for it.
  absl::flat_hash_map<Key, std::vector<std::function<void(Made)>>> flights_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_BLOCK_CACHE_H_
