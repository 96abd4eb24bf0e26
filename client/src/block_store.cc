#include "client/src/block_store.h"

#include "absl/hash/hash.h"
#include "absl/time/clock.h"

// Invariants under mutex_: index_ has exactly the entries with a block, free_
// the others; bytes_ is the sum of their sizes, and with reserved_ at most
// capacity_; a key is in index_ or in flights_ or in neither. Blocks that are
// given up are freed without the lock.

namespace phasor::internal {
namespace {

// What was asked for may be again; what was fetched ahead will be, unless its
// reader is gone. The hand comes round a few times before a block is used that
// was fetched long ahead by one of many readers.
constexpr int kPassesAsked = 1;
constexpr int kPassesAhead = 8;

}  // namespace

BlockStore::BlockOr BlockStore::Get(const BlockKey& key, absl::Duration timeout, Fetch fetch) {
  absl::Time deadline = absl::InfiniteFuture();
  std::shared_ptr<BlockRun> mine;
  while (mine == nullptr) {
    ForkMonitorLock lock(&mutex_);
    const bool first_look = deadline == absl::InfiniteFuture();
    if (const auto* block = Look(key); block != nullptr) {
      if (first_look) Count(counters_->block_hits);
      return *block;
    }
    ForgetFlightsOfParent();
    if (first_look) {
      Count(counters_->block_misses);
      Count(counters_->stalls);
      deadline = absl::Now() + timeout;
    }
    std::shared_ptr<BlockRun>& flight = flights_[key];
    if (flight == nullptr) {
      flight = mine = std::make_shared<BlockRun>();
      mine->digest = key.digest;
      mine->first = key.index;
      mine->count = 1;
      break;
    }
    const std::shared_ptr<BlockRun> theirs = flight;
    if (!mutex_.Await([&] { return theirs->done; }, deadline)) {
      return absl::DeadlineExceededError("the block of rows was still on its way");
    }
    if (theirs->status.ok()) {
      // Perhaps given up again already, so not looked up.
      Look(key);
      return theirs->blocks[static_cast<std::size_t>(key.index - theirs->first)];
    }
    const bool may_be_mended =
        absl::IsUnavailable(theirs->status) || absl::IsDeadlineExceeded(theirs->status);
    if (!theirs->background && (!may_be_mended || absl::Now() >= deadline)) return theirs->status;
  }
  BlockOr result = fetch(deadline);
  Garbage garbage;
  ForkMonitorLock lock(&mutex_);
  EndFlights(*mine);
  mine->status = result.status();
  if (result.ok()) {
    mine->blocks = {*result};
    Keep(key, *result, /*ahead=*/false, garbage);
  }
  mine->done = true;
  mutex_.NotifyAll();
  return result;
}

void BlockStore::AwaitFlight(const BlockKey& key, absl::Duration most) {
  ForkMonitorLock lock(&mutex_);
  const auto flight = flights_.find(key);
  if (flight == flights_.end()) return;
  const std::shared_ptr<BlockRun> run = flight->second;
  mutex_.Await([&] { return run->done; }, absl::Now() + most);
}

void BlockStore::Find(const TableDigest& digest, absl::Span<const std::int64_t> indices,
                      absl::Span<std::shared_ptr<const Block>> found) {
  std::int64_t hits = 0;
  {
    BlockKey key{digest, 0};
    ForkMonitorLock lock(&mutex_);
    const std::shared_ptr<const Block>* block = nullptr;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (i == 0 || indices[i] != key.index) {
        key.index = indices[i];
        block = Look(key);
      }
      found[i] = block == nullptr ? nullptr : *block;
      hits += block == nullptr ? 0 : 1;
    }
  }
  Count(counters_->block_hits, hits);
}

bool BlockStore::MissedAgain(const BlockKey& key) {
  Count(counters_->block_misses);
  const std::size_t hash = absl::Hash<BlockKey>()(key);
  ForkMonitorLock lock(&mutex_);
  std::size_t& place = missed_[hash % missed_.size()];
  const bool again = place == hash;
  place = again ? 0 : hash;
  return again;
}

std::shared_ptr<BlockRun> BlockStore::Claim(const TableDigest& digest, const Ahead& ahead) {
  Garbage garbage;
  ForkMonitorLock lock(&mutex_);
  ForgetFlightsOfParent();
  BlockKey key{digest, ahead.first};
  for (std::int64_t i = 0;; ++i, ++key.index) {
    if (i == ahead.horizon || key.index > ahead.last) return nullptr;
    if (!KeptOrOnTheWay(key)) break;
  }
  std::shared_ptr<BlockRun> run;
  for (std::int64_t i = 0; i < ahead.count && key.index <= ahead.last; ++i, ++key.index) {
    const std::size_t waiting = ahead_ + reserved_ + ahead.block_bytes;
    if (waiting > (i == 0 ? capacity_ : capacity_ / 2)) break;
    if (i > 0 && KeptOrOnTheWay(key)) break;
    if (!MakeRoom(ahead.block_bytes, garbage)) break;
    if (run == nullptr) {
      run = std::make_shared<BlockRun>();
      run->digest = digest;
      run->first = key.index;
      run->reserved = ahead.block_bytes;
      run->background = true;
    }
    flights_[key] = run;
    reserved_ += ahead.block_bytes;
    ++run->count;
  }
  return run;
}

void BlockStore::Finish(const std::shared_ptr<BlockRun>& run,
                        absl::StatusOr<std::vector<std::shared_ptr<const Block>>> blocks) {
  Garbage garbage;
  ForkMonitorLock lock(&mutex_);
  EndFlights(*run);
  run->status = blocks.status();
  if (blocks.ok()) {
    run->blocks = *std::move(blocks);
    Count(counters_->blocks_ahead, run->count);
    for (std::int64_t i = 0; i < run->count; ++i) {
      Keep({run->digest, run->first + i}, run->blocks[static_cast<std::size_t>(i)],
           /*ahead=*/true, garbage);
    }
  }
  run->done = true;
  mutex_.NotifyAll();
}

std::size_t BlockStore::bytes() const {
  ForkMonitorLock lock(&mutex_);
  return bytes_;
}

const std::shared_ptr<const Block>* BlockStore::Look(const BlockKey& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  Entry& entry = entries_[found->second];
  entry.passes = kPassesAsked;
  if (entry.ahead) {
    entry.ahead = false;
    ahead_ -= entry.block->size;
  }
  return &entry.block;
}

bool BlockStore::KeptOrOnTheWay(const BlockKey& key) const {
  return index_.contains(key) || flights_.contains(key);
}

void BlockStore::Keep(const BlockKey& key, std::shared_ptr<const Block> block, bool ahead,
                      Garbage& garbage) {
  const std::size_t size = block->size;
  if (!MakeRoom(size, garbage)) return;
  std::uint32_t place = 0;
  if (free_.empty()) {
    place = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  entries_[place] = Entry{key, std::move(block), ahead ? kPassesAhead : 0, ahead};
  index_[key] = place;
  bytes_ += size;
  if (ahead) ahead_ += size;
}

bool BlockStore::MakeRoom(std::size_t size, Garbage& garbage) {
  if (size > capacity_ - reserved_) return false;
  while (bytes_ + reserved_ + size > capacity_) {
    hand_ = hand_ < entries_.size() ? hand_ : 0;
    Entry& entry = entries_[hand_];
    if (entry.block != nullptr && entry.passes-- == 0) {
      index_.erase(entry.key);
      bytes_ -= entry.block->size;
      if (entry.ahead) ahead_ -= entry.block->size;
      garbage.push_back(std::move(entry.block));
      free_.push_back(static_cast<std::uint32_t>(hand_));
    }
    ++hand_;
  }
  return true;
}

void BlockStore::EndFlights(const BlockRun& run) {
  BlockKey key{run.digest, run.first};
  for (std::int64_t i = 0; i < run.count; ++i, ++key.index) {
    const auto flight = flights_.find(key);
    if (flight == flights_.end() || flight->second.get() != &run) continue;  // of the parent's
    flights_.erase(flight);
    reserved_ -= run.reserved;
  }
}

void BlockStore::ForgetFlightsOfParent() {
  if (generation_ == ForkGeneration()) return;
  generation_ = ForkGeneration();
  flights_.clear();
  reserved_ = 0;
}

}  // namespace phasor::internal
