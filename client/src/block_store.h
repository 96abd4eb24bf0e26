#ifndef PHASOR_CLIENT_SRC_BLOCK_STORE_H_
#define PHASOR_CLIENT_SRC_BLOCK_STORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/src/counters.h"

namespace phasor::internal {

/// Consecutive rows of a table. Immutable once stored.
struct Block {
  std::int64_t first_position = 0;
  std::int64_t row_count = 0;
  std::size_t size = 0;  // bytes
  std::unique_ptr<std::byte[]> data;
};

struct BlockKey {
  std::array<std::uint8_t, 32> digest;  // of the table
  std::int64_t index;                   // of the block within it

  bool operator==(const BlockKey&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const BlockKey& key) {
    // The digest is a hash already.
    return H::combine(H::combine_contiguous(std::move(h), key.digest.data(), 8), key.index);
  }
};

/// The blocks of rows that a client keeps, the least recently used given up
/// first. Blocks in use elsewhere live on and are not counted.
///
/// **Thread safety**: all methods may be called concurrently.
class BlockStore {
 public:
  /// Keeps at most `capacity` bytes of rows.
  BlockStore(std::int64_t capacity, Counters* counters)
      : capacity_(capacity < 0 ? 0 : static_cast<std::size_t>(capacity)), counters_(counters) {}

  using BlockOr = absl::StatusOr<std::shared_ptr<const Block>>;

  /// The block of `key`, by `fetch` if it is not there. Of several callers that
  /// miss at the same time one fetches and all get its result; an error is
  /// nobody's but theirs, the next call fetches anew.
  BlockOr Get(const BlockKey& key, absl::FunctionRef<BlockOr()> fetch);

  /// Bytes of rows kept.
  std::size_t bytes() const;

 private:
  struct Fetch {
    bool done = false;
    BlockOr result;
  };
  struct Entry {
    BlockKey key;
    std::shared_ptr<const Block> block;
  };

  void Keep(const BlockKey& key, const std::shared_ptr<const Block>& block)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t capacity_;
  Counters* const counters_;

  mutable absl::Mutex mutex_;
  std::list<Entry> recent_ ABSL_GUARDED_BY(mutex_);  // most recent first
  absl::flat_hash_map<BlockKey, std::list<Entry>::iterator> blocks_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<BlockKey, std::shared_ptr<Fetch>> fetches_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_BLOCK_STORE_H_
