#ifndef PHASOR_CLIENT_SRC_BLOCK_STORE_H_
#define PHASOR_CLIENT_SRC_BLOCK_STORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/src/counters.h"
#include "client/src/fork.h"

namespace phasor::internal {

/// Consecutive rows of a table. Immutable once stored.
struct Block {
  std::int64_t first_position = 0;
  std::int64_t row_count = 0;
  std::size_t size = 0;  // bytes
  /// Blocks in the run that it was fetched in; the run after it is longer.
  std::int64_t run_length = 1;
  std::unique_ptr<std::byte[]> data;
};

using TableDigest = std::array<std::uint8_t, 32>;

struct BlockKey {
  TableDigest digest;
  std::int64_t index;  // of the block within the table

  bool operator==(const BlockKey&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const BlockKey& key) {
    // The digest is a hash already.
    return H::combine(H::combine_contiguous(std::move(h), key.digest.data(), 8), key.index);
  }
};

/// Blocks `first` ... of one table that are on the way together.
struct BlockRun {
  TableDigest digest;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t reserved = 0;  // bytes of the store's, a block

  // Guarded by the store:
  bool background = false;
  bool done = false;
  absl::Status status;
  std::vector<std::shared_ptr<const Block>> blocks;  // once done and OK
};

/// The blocks of rows that a client keeps; one that was not asked for lately is
/// given up first (CLOCK; what was fetched ahead is passed oftener). Blocks in use elsewhere live
/// on and are not counted.
///
/// **Thread safety**: all methods may be called concurrently. None waits for
/// anybody but Get. In a forked child the store holds what it held, and what
/// was on the way is not.
class BlockStore {
 public:
  /// Keeps at most `capacity` bytes of rows, those on the way ahead included.
  BlockStore(std::int64_t capacity, Counters* counters)
      : capacity_(capacity < 0 ? 0 : static_cast<std::size_t>(capacity)), counters_(counters) {}

  using BlockOr = absl::StatusOr<std::shared_ptr<const Block>>;
  /// Gets a block by a call that ends by the deadline.
  using Fetch = absl::FunctionRef<BlockOr(absl::Time deadline)>;

  /// The block of `key`, by `fetch` if it is not there. Of several callers that
  /// miss at the same time one fetches and all get its result; an error is
  /// nobody's but theirs, the next call fetches anew. So does a caller that
  /// waited for a background fetch, or for somebody whose time ended earlier
  /// than its own: within `timeout` from its miss.
  BlockOr Get(const BlockKey& key, absl::Duration timeout, Fetch fetch);

  /// Waits until `key` is not on the way, and not longer than `most`.
  void AwaitFlight(const BlockKey& key, absl::Duration most);

  /// found[i] = the block `indices[i]`, or null where it is not kept. Looks a
  /// block up once for indices that follow each other.
  void Find(const TableDigest& digest, absl::Span<const std::int64_t> indices,
            absl::Span<std::shared_ptr<const Block>> found);

  /// Notes that `key` was missed, and tells whether it was before: lately, and
  /// rarely by mistake.
  bool MissedAgain(const BlockKey& key);

  struct Ahead {
    std::int64_t first;    // the blocks looked at begin here,
    std::int64_t horizon;  // this many should be there or on the way,
    std::int64_t count;    // if one is not: it and the following, so many,
    std::int64_t last;     // but none after this
    std::size_t block_bytes;
  };
  /// The blocks to be fetched now: until the first one that is there or on the
  /// way, and while half of the capacity holds all that was fetched and not
  /// asked for yet; the first one while the whole does. They count as on the
  /// way until Finish. Null if there is nothing to do.
  std::shared_ptr<BlockRun> Claim(const TableDigest& digest, const Ahead& ahead);

  /// Ends what Claim began: with the run's blocks, or with an error, which is
  /// for nobody to see: whoever needs a block fetches it.
  void Finish(const std::shared_ptr<BlockRun>& run,
              absl::StatusOr<std::vector<std::shared_ptr<const Block>>> blocks);

  /// Bytes of rows kept.
  std::size_t bytes() const;

 private:
  struct Entry {
    BlockKey key;
    std::shared_ptr<const Block> block;  // null: a free entry
    int passes = 0;                      // of the hand before it is given up
    bool ahead = false;                  // fetched, and never asked for yet
  };
  using Garbage = std::vector<std::shared_ptr<const Block>>;

  const std::shared_ptr<const Block>* Look(const BlockKey& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool KeptOrOnTheWay(const BlockKey& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(const BlockKey& key, std::shared_ptr<const Block> block, bool ahead, Garbage& garbage)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MakeRoom(std::size_t size, Garbage& garbage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndFlights(const BlockRun& run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetFlightsOfParent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t capacity_;
  Counters* const counters_;

  mutable ForkMonitor mutex_;
  absl::flat_hash_map<BlockKey, std::uint32_t> index_ ABSL_GUARDED_BY(mutex_);  // into entries_
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> free_ ABSL_GUARDED_BY(mutex_);
  std::size_t hand_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<BlockKey, std::shared_ptr<BlockRun>> flights_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;     // of the entries
  std::size_t reserved_ ABSL_GUARDED_BY(mutex_) = 0;  // for background flights
  std::size_t ahead_ ABSL_GUARDED_BY(mutex_) = 0;     // of entries never asked for
  int generation_ ABSL_GUARDED_BY(mutex_) = ForkGeneration();
  // Hashes of keys missed lately, each at a place of its own.
  std::array<std::size_t, 4096> missed_ ABSL_GUARDED_BY(mutex_) = {};
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_BLOCK_STORE_H_
