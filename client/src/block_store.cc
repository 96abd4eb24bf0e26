#include "client/src/block_store.h"

// Invariants under mutex_: blocks_ has exactly the entries of recent_; bytes_
// is the sum of their sizes and at most capacity_; a key is in blocks_ or in
// fetches_ or in neither.

namespace phasor::internal {

BlockStore::BlockOr BlockStore::Get(const BlockKey& key, absl::FunctionRef<BlockOr()> fetch) {
  std::shared_ptr<Fetch> mine;
  {
    absl::MutexLock lock(&mutex_);
    if (auto found = blocks_.find(key); found != blocks_.end()) {
      Count(counters_->block_hits);
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->block;
    }
    Count(counters_->block_misses);
    std::shared_ptr<Fetch>& flight = fetches_[key];
    if (flight != nullptr) {
      const std::shared_ptr<Fetch> theirs = flight;
      mutex_.Await(absl::Condition(&theirs->done));
      return theirs->result;
    }
    flight = mine = std::make_shared<Fetch>();
  }
  BlockOr result = fetch();
  absl::MutexLock lock(&mutex_);
  mine->result = result;
  mine->done = true;
  fetches_.erase(key);
  if (result.ok()) Keep(key, *result);
  return result;
}

void BlockStore::Keep(const BlockKey& key, const std::shared_ptr<const Block>& block) {
  if (block->size > capacity_) return;
  while (bytes_ + block->size > capacity_) {
    bytes_ -= recent_.back().block->size;
    blocks_.erase(recent_.back().key);
    recent_.pop_back();
  }
  recent_.push_front(Entry{key, block});
  blocks_[key] = recent_.begin();
  bytes_ += block->size;
}

std::size_t BlockStore::bytes() const {
  absl::MutexLock lock(&mutex_);
  return bytes_;
}

}  // namespace phasor::internal
