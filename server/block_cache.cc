// Invariants, while the lock is free:
//
// - Every Resident and RowBuffer has its bytes in the account from before it is
//   made until it is destroyed; a table, whose size shows when it is open, all
//   of them from then on. Bytes are added under the lock alone and taken away
//   anywhere, so live bytes <= cache_bytes + working_bytes at all times.
// - An entry comes into the list only while live bytes <= cache_bytes. What
//   does not fit lives on with those who asked for it, and is gone with them.
// - index_ has one item for each entry, tables_ one for each that is a table, and
//   neither has one for a key that is in flights_. A flight belongs to the one thread that is
//   making the entry at this moment: no flight waits for another, or in a queue.
// - References to an entry are handed out under the lock. So an entry with one
//   reference is held by the list alone; only such are evicted, because the
//   memory of others would not come back.
// - A block holds its table: a table goes after the last of its blocks.

#include "server/block_cache.h"

#include <time.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/failure.h"

namespace phasor::server {
namespace {

// About what an entry costs beside its rows: object, list, index, allocator.
constexpr std::int64_t kEntryBytes = 512;

// Entries looked at under the lock, to be put out, before others have it.
constexpr std::size_t kLooksAtOnce = 256;

constexpr std::int64_t kUnknownTime = std::numeric_limits<std::int64_t>::max();

// CPU time of this thread.
std::int64_t ThreadNanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

template <typename T>
absl::StatusOr<std::shared_ptr<const T>> Cast(
    absl::StatusOr<std::shared_ptr<const Resident>> made) {
  if (!made.ok()) return std::move(made).status();
  return std::static_pointer_cast<const T>(*std::move(made));
}

}  // namespace

absl::Status OpenTable::ReadInto(std::int64_t start, std::int64_t count, absl::Span<std::byte> out,
                                 StopRequest stop) const {
  const std::int64_t begin = ThreadNanoseconds();
  absl::Status status = rows_->ReadInto(start, count, out, stop);
  const std::int64_t time = ThreadNanoseconds() - begin;
  // A block that is cut short costs no less: it is its first row that does.
  const std::int64_t rows = geometry_.rows_per_block();
  const std::int64_t block = time / std::max<std::int64_t>(1, count / rows);
  const std::int64_t before = block_nanoseconds_.load(std::memory_order_relaxed);
  std::int64_t now = before == kUnknownTime ? block : before + (block - before) / 4;
  // What was stopped would have taken longer.
  if (!status.ok()) now = std::max(block, before);
  block_nanoseconds_.store(now, std::memory_order_relaxed);
  CountSettled();
  return status;
}

void OpenTable::CountSettled() const {
  // Each thread adds a piece of its own of the way to what is counted now.
  const auto count = [](std::int64_t now, std::atomic<std::int64_t>& counted,
                        std::atomic<std::int64_t>& all) {
    std::int64_t before = counted.load(std::memory_order_relaxed);
    while (before < now && !counted.compare_exchange_weak(before, now)) {
    }
    if (before < now) all.fetch_add(now - before, std::memory_order_relaxed);
  };
  count(rows_->settled_elements(), counted_.settled, settled_->settled);
  count(rows_->costly_elements(), counted_.costly, settled_->costly);
}

Block::Block(std::shared_ptr<const OpenTable> table, std::int64_t index, Charge charge)
    : Resident(std::move(charge)),
      table_(std::move(table)),
      begin_(table_->geometry().Begin(index)),
      end_(table_->geometry().End(index)),
      bytes_(table_->geometry().Bytes(index)) {}

absl::Span<const std::byte> Block::Rows(std::int64_t first, std::int64_t last) const {
  const std::int64_t row_bytes = table_->geometry().row_bytes();
  return absl::Span<const std::byte>(bytes_.span())
      .subspan(static_cast<std::size_t>((first - begin_) * row_bytes),
               static_cast<std::size_t>((last - first) * row_bytes));
}

BlockCache::BlockCache(Limits limits, Opener opener)
    : limits_(limits), opener_(std::move(opener)) {}

TablePtr BlockCache::FindTable(const CanonicalSpec& spec) {
  absl::MutexLock lock(&mutex_);
  const Entry* entry = FindLocked({.digest = spec.digest()});
  return entry == nullptr ? nullptr : std::static_pointer_cast<const OpenTable>(entry->resident);
}

std::vector<BlockPtr> BlockCache::FindBlocks(const OpenTable& table, std::int64_t first,
                                             std::int64_t last) {
  std::vector<BlockPtr> blocks;
  absl::MutexLock lock(&mutex_);
  for (std::int64_t index = first; index <= last; ++index) {
    const Entry* entry = FindLocked({.table = &table, .index = index});
    if (entry == nullptr) return {};
    blocks.push_back(std::static_pointer_cast<const Block>(entry->resident));
  }
  table.hits_.fetch_add(last - first + 1, std::memory_order_relaxed);
  return blocks;
}

std::vector<BlockPtr> BlockCache::FindBlocksOf(const OpenTable& table,
                                               absl::Span<const std::int64_t> positions) {
  std::vector<BlockPtr> blocks(positions.size());
  std::int64_t hits = 0;
  absl::MutexLock lock(&mutex_);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const Entry* entry =
        FindLocked({.table = &table, .index = table.geometry().BlockOf(positions[k])});
    if (entry == nullptr) continue;
    blocks[k] = std::static_pointer_cast<const Block>(entry->resident);
    ++hits;
  }
  table.hits_.fetch_add(hits, std::memory_order_relaxed);
  return blocks;
}

std::optional<BlockCache::Result<OpenTable>> BlockCache::Open(const CanonicalSpec& spec,
                                                              Waiter<OpenTable> waiter,
                                                              StopRequest stop) {
  std::optional<Made> made = GetOrMake(
      {.digest = spec.digest()}, kEntryBytes + static_cast<std::int64_t>(spec.text().size()),
      nullptr, [&](Charge charge) { return MakeTable(spec, std::move(charge), stop); },
      [waiter = std::move(waiter)](Made result) { waiter(Cast<OpenTable>(std::move(result))); });
  if (!made.has_value()) return std::nullopt;
  return Cast<OpenTable>(*std::move(made));
}

std::optional<BlockCache::Result<Block>> BlockCache::Get(const TablePtr& table, std::int64_t index,
                                                         Waiter<Block> waiter, StopRequest stop) {
  std::optional<Made> made = GetOrMake(
      {.table = table.get(), .index = index},
      AlignedBytes::Footprint(table->geometry().Bytes(index)) + kEntryBytes, table.get(),
      [&](Charge charge) { return MakeBlock(table, index, std::move(charge), stop); },
      [waiter = std::move(waiter)](Made result) {
        if (waiter != nullptr) waiter(Cast<Block>(std::move(result)));
      });
  if (!made.has_value()) return std::nullopt;
  return Cast<Block>(*std::move(made));
}

absl::StatusOr<Charge> BlockCache::Reserve(std::int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  absl::Status room = MakeRoomLocked(bytes);
  if (!room.ok()) return room;
  return Charge(account_, bytes);
}

absl::StatusOr<std::shared_ptr<RowBuffer>> BlockCache::Allocate(std::int64_t bytes) {
  absl::StatusOr<Charge> charge = Reserve(AlignedBytes::Footprint(bytes) + kEntryBytes);
  if (!charge.ok()) return charge.status();
  return std::make_shared<RowBuffer>(*std::move(charge), bytes);
}

std::vector<TablePtr> BlockCache::Tables(absl::Span<const std::uint8_t> after,
                                         std::size_t max_count) {
  // Past every digest that begins with these bytes.
  Digest digest;
  digest.fill(0xff);
  std::copy(after.begin(), after.end(), digest.begin());
  std::vector<TablePtr> tables;
  absl::MutexLock lock(&mutex_);
  for (auto item = after.empty() ? tables_.begin() : tables_.upper_bound(digest);
       item != tables_.end() && tables.size() < max_count; ++item) {
    tables.push_back(std::static_pointer_cast<const OpenTable>(item->second->resident));
  }
  return tables;
}

void BlockCache::Forget(const CanonicalSpec& spec) {
  std::list<Entry> gone;  // destroyed after the lock is given up
  absl::MutexLock lock(&mutex_);
  for (auto next = entries_.begin(); next != entries_.end();) {
    const auto entry = next++;
    const OpenTable* table = entry->key.table;
    if ((table == nullptr ? entry->key.digest : table->spec().digest()) != spec.digest()) continue;
    CountHeld(*entry, -1);
    index_.erase(entry->key);
    if (table == nullptr) tables_.erase(entry->key.digest);
    gone.splice(gone.begin(), entries_, entry);
  }
}

std::optional<BlockCache::Made> BlockCache::GetOrMake(const Key& key, std::int64_t bytes,
                                                      const OpenTable* table,
                                                      absl::FunctionRef<Made(Charge)> make,
                                                      std::function<void(Made)> waiter) {
  Made made = absl::UnknownError("not made");
  std::optional<Charge> charge;
  {
    absl::MutexLock lock(&mutex_);
    // Again with room for it: while that was made, others may have made the entry.
    for (bool has_room = false;; has_room = true) {
      if (const Entry* found = FindLocked(key)) {
        if (table != nullptr) table->hits_.fetch_add(1, std::memory_order_relaxed);
        return Made(found->resident);
      }
      if (auto flight = flights_.find(key); flight != flights_.end()) {
        if (table != nullptr) table->hits_.fetch_add(1, std::memory_order_relaxed);
        flight->second.push_back(std::move(waiter));
        return std::nullopt;
      }
      if (has_room) break;
      absl::Status room = MakeRoomLocked(bytes);
      if (!room.ok()) return Made(std::move(room));
    }
    charge.emplace(account_, bytes);
    flights_.emplace(key, std::vector<std::function<void(Made)>>());
    if (table != nullptr) table->misses_.fetch_add(1, std::memory_order_relaxed);
  }
  try {
    made = make(*std::move(charge));
  } catch (...) {
    made = CurrentExceptionStatus();
  }
  Land(key, made);
  return made;
}

BlockCache::Made BlockCache::MakeTable(const CanonicalSpec& spec, Charge charge, StopRequest stop) {
  absl::StatusOr<std::shared_ptr<const LocalTable>> rows = opener_(spec, stop);
  if (!rows.ok()) return rows.status();
  const std::int64_t missing = (*rows)->memory_bytes() + kEntryBytes - charge.bytes();
  {
    absl::MutexLock lock(&mutex_);
    if (missing > 0) {
      absl::Status room = MakeRoomLocked(missing);
      if (!room.ok()) return room;
    }
    charge.Add(missing);
  }
  return std::make_shared<const OpenTable>(*std::move(rows), settled_, std::move(charge));
}

BlockCache::Made BlockCache::MakeBlock(const TablePtr& table, std::int64_t index, Charge charge,
                                       StopRequest stop) {
  auto block = std::make_shared<Block>(table, index, std::move(charge));
  absl::Status status =
      table->ReadInto(block->begin(), block->end() - block->begin(), block->bytes_.span(), stop);
  if (!status.ok()) return status;
  blocks_made_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void BlockCache::Land(const Key& key, const Made& made) {
  std::vector<std::function<void(Made)>> waiters;
  {
    absl::MutexLock lock(&mutex_);
    auto flight = flights_.find(key);
    waiters = std::move(flight->second);
    flights_.erase(flight);
    if (made.ok() && account_->live_bytes() <= limits_.cache_bytes) KeepLocked(key, *made);
  }
  for (const std::function<void(Made)>& waiter : waiters) waiter(made);
}

void BlockCache::KeepLocked(const Key& key, std::shared_ptr<const Resident> resident) {
  try {
    std::list<Entry> entry;
    entry.push_front({key, std::move(resident)});
    const auto item = index_.emplace(key, entry.begin()).first;
    if (key.table == nullptr) {
      absl::Cleanup forget = [&] { index_.erase(item); };
      tables_.emplace(key.digest, entry.begin());
      std::move(forget).Cancel();
    }
    entries_.splice(entries_.begin(), entry);
    CountHeld(entries_.front(), +1);
  } catch (const std::bad_alloc&) {
    // Not kept, then: whoever waits for it gets it all the same.
  }
}

BlockCache::Entry* BlockCache::FindLocked(const Key& key) {
  const auto item = index_.find(key);
  if (item == index_.end()) return nullptr;
  item->second->used = true;
  return &*item->second;
}

absl::Status BlockCache::MakeRoomLocked(std::int64_t bytes) {
  // What is larger than the cache is never kept: nothing goes for its sake.
  const std::int64_t most = limits_.cache_bytes + limits_.working_bytes;
  const std::int64_t bound = (bytes <= limits_.cache_bytes ? limits_.cache_bytes : most) - bytes;
  // Twice: those used have another turn. What calls at work hold may be more than
  // the bound, and everything kept goes.
  std::size_t looks = 2 * entries_.size();
  while (looks > 0 && account_->live_bytes() > bound) {
    const std::size_t now = std::min(looks, kLooksAtOnce);
    std::list<Entry> evicted = EvictLocked(bound, now);
    // A table can go when the last of its blocks is gone.
    looks = evicted.empty() ? looks - now : 2 * entries_.size();
    // Hot calls want the lock, and giving memory back takes the system a while.
    mutex_.Unlock();
    evicted.clear();
    mutex_.Lock();
  }
  if (account_->live_bytes() + bytes <= most) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the memory for rows is in use: ", account_->live_bytes(),
                   " bytes by calls at work and slow ", "readers, of ", most, "; ", bytes,
                   " more are needed; try again later"));
}

std::list<BlockCache::Entry> BlockCache::EvictLocked(std::int64_t live_bound, std::size_t looks) {
  std::list<Entry> evicted;
  std::int64_t live_bytes = account_->live_bytes();
  for (; looks > 0 && !entries_.empty() && live_bytes > live_bound; --looks) {
    const auto last = std::prev(entries_.end());
    // What is in use goes to the front too, or it would be looked at again and
    // again.
    if (std::exchange(last->used, false) || last->resident.use_count() > 1) {
      entries_.splice(entries_.begin(), entries_, last);
      continue;
    }
    CountHeld(*last, -1);
    index_.erase(last->key);
    if (last->key.table == nullptr) tables_.erase(last->key.digest);
    live_bytes -= last->resident->counted_bytes();
    evicted.splice(evicted.end(), entries_, last);
  }
  return evicted;
}

void BlockCache::CountHeld(const Entry& entry, int sign) {
  const bool is_block = entry.key.table != nullptr;
  const OpenTable& table = is_block ? static_cast<const Block&>(*entry.resident).table()
                                    : static_cast<const OpenTable&>(*entry.resident);
  if (is_block) table.cached_blocks_.fetch_add(sign, std::memory_order_relaxed);
  table.cached_bytes_.fetch_add(sign * entry.resident->counted_bytes(), std::memory_order_relaxed);
}

}  // namespace phasor::server
