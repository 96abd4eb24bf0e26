#include "server/block_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "tests/server/fake_table.h"

namespace phasor::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A block of these tests is 8 rows, 64 KiB; what an entry costs beside it, and
// an open table, are counted too and are smaller than this margin.
constexpr std::int64_t kWidth = 2048;
constexpr std::int64_t kBlockRows = 8;
constexpr std::int64_t kBlockBytes = 65536;
constexpr std::int64_t kMargin = 4096;

CanonicalSpec Spec(std::int64_t width = kWidth, double base = 10000) {
  return CanonicalSpec::Create(Sinusoidal{.width = width, .base = base}).value();
}

BlockCache::Limits Blocks(std::int64_t cached, std::int64_t working) {
  return {.cache_bytes = cached * kBlockBytes + (cached > 0 ? kBlockBytes / 2 : 0),
          .working_bytes = working * kBlockBytes + kBlockBytes / 2};
}

void NobodyWaits(absl::StatusOr<TablePtr>) { FAIL() << "another thread was at it"; }
void NobodyWaitsForBlock(absl::StatusOr<BlockPtr>) { FAIL() << "another thread was at it"; }

TablePtr Open(BlockCache* cache, const CanonicalSpec& spec) {
  return cache->Open(spec, &NobodyWaits).value().value();
}

absl::StatusOr<BlockPtr> Get(BlockCache* cache, const TablePtr& table, std::int64_t index) {
  return cache->Get(table, index, &NobodyWaitsForBlock).value();
}

BlockPtr Find(BlockCache* cache, const TablePtr& table, std::int64_t index) {
  return cache->FindBlocksOf(*table, {index * kBlockRows})[0];
}

TEST(BlockGeometry, HoldsTheLargestPowerOfTwoOfRowsThatFits) {
  EXPECT_EQ(BlockGeometry(Spec(512)).rows_per_block(), 32);  // 2 KiB rows
  EXPECT_EQ(BlockGeometry(Spec(510)).rows_per_block(), 32);  // 2040 bytes
  EXPECT_EQ(BlockGeometry(Spec(514)).rows_per_block(), 16);  // 2056 bytes
  EXPECT_EQ(BlockGeometry(Spec(2)).rows_per_block(), 8192);  // 8 bytes
}

TEST(BlockGeometry, TakesEightWideRowsIfTheyAreNoMoreThanAMebibyte) {
  EXPECT_EQ(BlockGeometry(Spec(2048)).rows_per_block(), 8);   // 8 KiB
  EXPECT_EQ(BlockGeometry(Spec(16384)).rows_per_block(), 8);  // 64 KiB
  EXPECT_EQ(BlockGeometry(Spec(32768)).rows_per_block(), 8);  // 128 KiB
  EXPECT_EQ(BlockGeometry(Spec(65536)).rows_per_block(), 4);  // 256 KiB
  const TableSpec widest(Sinusoidal{.width = 65536, .layout = Layout::kCosSinDuplicatedPairs},
                         ElementType::kFloat64);
  EXPECT_EQ(BlockGeometry(CanonicalSpec::Create(widest).value()).rows_per_block(), 1);  // 1 MiB
}

TEST(BlockGeometry, CutsAtMultiplesOnBothSidesOfZero) {
  const BlockGeometry geometry(Spec(512));
  EXPECT_EQ(geometry.BlockOf(0), 0);
  EXPECT_EQ(geometry.BlockOf(31), 0);
  EXPECT_EQ(geometry.BlockOf(32), 1);
  EXPECT_EQ(geometry.BlockOf(-1), -1);
  EXPECT_EQ(geometry.BlockOf(-32), -1);
  EXPECT_EQ(geometry.BlockOf(-33), -2);
  EXPECT_EQ(geometry.Begin(-1), -32);
  EXPECT_EQ(geometry.End(-1), 0);
}

TEST(BlockGeometry, EndsWithTheTable) {
  const BlockGeometry learned(
      CanonicalSpec::Create(LearnedInit{.max_positions = 40, .width = 512}).value());
  EXPECT_EQ(learned.Begin(1), 32);
  EXPECT_EQ(learned.End(1), 40);
  EXPECT_EQ(learned.Bytes(1), 8 * 2048);
  const BlockGeometry formula(Spec(512));
  EXPECT_EQ(formula.End(formula.BlockOf(kMaxPosition)), kMaxPosition + 1);
  EXPECT_EQ(formula.Begin(formula.BlockOf(-kMaxPosition)), -kMaxPosition);
}

TEST(BlockCache, GivesTheRows) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec(512));
  const BlockPtr block = Get(&cache, table, -1).value();
  EXPECT_EQ(block->begin(), -32);
  EXPECT_EQ(block->end(), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->Rows(-32, 0).data()) % 64, 0u);
  const absl::Span<const std::byte> rows = block->Rows(-3, -1);
  ASSERT_EQ(rows.size(), 2 * 2048u);
  EXPECT_EQ(rows[0], FakeTable::ByteOf(-3, 0));
  EXPECT_EQ(rows[2048 + 5], FakeTable::ByteOf(-2, 5));
}

TEST(BlockCache, ConcurrentMissesGenerateOnce) {
  constexpr int kAskers = 8;
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  absl::BlockingCounter registered(kAskers - 1);
  making.on_read = [&](std::int64_t) { registered.Wait(); };

  absl::BlockingCounter answered(kAskers);
  std::array<BlockPtr, kAskers> blocks;
  std::vector<std::thread> threads;
  for (BlockPtr& block : blocks) {
    threads.emplace_back([&] {
      const auto take = [&](absl::StatusOr<BlockPtr> made) {
        block = made.value();
        answered.DecrementCount();
      };
      if (auto made = cache.Get(table, 5, take)) {
        take(*made);
      } else {
        registered.DecrementCount();
      }
    });
  }
  answered.Wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(making.reads, 1);
  EXPECT_EQ(cache.blocks_made(), 1);
  for (const BlockPtr& block : blocks) EXPECT_EQ(block, blocks[0]);
  EXPECT_EQ(table->misses(), 1);
  EXPECT_EQ(table->hits(), kAskers - 1);
}

TEST(BlockCache, ConcurrentOpeningsOpenOnce) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  absl::Notification opening, registered, answered;
  making.on_open = [&] {
    opening.Notify();
    registered.WaitForNotification();
  };
  TablePtr first, second;
  std::thread opener([&] { first = Open(&cache, Spec()); });
  opening.WaitForNotification();
  EXPECT_FALSE(cache
                   .Open(Spec(),
                         [&](absl::StatusOr<TablePtr> table) {
                           second = table.value();
                           answered.Notify();
                         })
                   .has_value());
  registered.Notify();
  answered.WaitForNotification();
  opener.join();
  EXPECT_EQ(first, second);
  EXPECT_EQ(making.opened, 1);
}

TEST(BlockCache, FailedGenerationLeavesNothing) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  const std::int64_t before = cache.live_bytes();
  absl::Notification reading, registered, answered;
  making.on_read = [&](std::int64_t) {
    reading.Notify();
    registered.WaitForNotification();
    throw std::bad_alloc();
  };
  absl::Status first, second;
  std::thread maker([&] { first = Get(&cache, table, 0).status(); });
  reading.WaitForNotification();
  EXPECT_FALSE(cache
                   .Get(table, 0,
                        [&](absl::StatusOr<BlockPtr> block) {
                          second = block.status();
                          answered.Notify();
                        })
                   .has_value());
  registered.Notify();
  answered.WaitForNotification();
  maker.join();
  EXPECT_EQ(first.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(cache.live_bytes(), before);
  EXPECT_EQ(table->cached_blocks(), 0);
  EXPECT_THAT(cache.FindBlocks(*table, 0, 0), IsEmpty());

  making.on_read = [](std::int64_t) {};
  EXPECT_TRUE(Get(&cache, table, 0).ok());
}

TEST(BlockCache, StoppedGenerationLeavesNothingAndIsNobodyElsesFailure) {
  BlockCache cache(Blocks(200, 200), &LocalTable::Open);
  CanonicalSpec widest = Spec(65536);
  std::optional<absl::StatusOr<TablePtr>> waited;
  bool stopping = false;
  const auto stop = [&] {
    if (!stopping) {
      stopping = true;
      EXPECT_FALSE(
          cache.Open(widest, [&](absl::StatusOr<TablePtr> table) { waited = table; }).has_value());
    }
    return true;
  };
  EXPECT_EQ(cache.Open(widest, &NobodyWaits, stop)->status().code(), absl::StatusCode::kCancelled);
  ASSERT_TRUE(waited.has_value());
  EXPECT_EQ(waited->status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(cache.live_bytes(), 0);

  const TablePtr table = Open(&cache, widest);
  const std::int64_t before = cache.live_bytes();
  EXPECT_EQ(cache.Get(table, 3, &NobodyWaitsForBlock, [] { return true; })->status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(cache.live_bytes(), before);
  EXPECT_TRUE(Get(&cache, table, 3).ok());
}

TEST(BlockCache, FailedOpeningLeavesNothing) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  making.on_open = [] { throw std::bad_alloc(); };
  EXPECT_EQ(cache.Open(Spec(), &NobodyWaits)->status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(cache.live_bytes(), 0);
  making.on_open = [] {};
  EXPECT_TRUE(cache.Open(Spec(), &NobodyWaits)->ok());
}

TEST(BlockCache, EvictionPolicy) {
  FakeMaking making;
  BlockCache cache(Blocks(4, 4), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  for (int index = 0; index < 4; ++index) ASSERT_TRUE(Get(&cache, table, index).ok());
  EXPECT_NE(Find(&cache, table, 0), nullptr);  // used again: 1 is the oldest now
  ASSERT_TRUE(Get(&cache, table, 4).ok());
  EXPECT_NE(Find(&cache, table, 0), nullptr);
  EXPECT_EQ(Find(&cache, table, 1), nullptr);
  EXPECT_NE(Find(&cache, table, 2), nullptr);
  EXPECT_EQ(table->cached_blocks(), 4);
}

TEST(BlockCache, EntriesArePinned) {
  FakeMaking making;
  BlockCache cache(Blocks(4, 4), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  const BlockPtr pinned = Get(&cache, table, 0).value();
  for (int index = 1; index < 20; ++index) ASSERT_TRUE(Get(&cache, table, index).ok());
  EXPECT_EQ(Find(&cache, table, 0), pinned);
  EXPECT_EQ(pinned->Rows(1, 2)[9], FakeTable::ByteOf(1, 9));
}

TEST(BlockCache, PinnedBytesCount) {
  FakeMaking making;
  const BlockCache::Limits limits = Blocks(4, 2);
  BlockCache cache(limits, FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  std::vector<BlockPtr> pinned;
  for (int index = 0; index < 6; ++index) pinned.push_back(Get(&cache, table, index).value());
  EXPECT_GT(cache.live_bytes(), 6 * kBlockBytes);
  EXPECT_LE(cache.live_bytes(), limits.cache_bytes + limits.working_bytes);
  // Four are kept, two live on the working allowance, and that is all.
  EXPECT_EQ(table->cached_blocks(), 4);
  EXPECT_EQ(Get(&cache, table, 6).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(cache.Allocate(kBlockBytes).status().code(), absl::StatusCode::kUnavailable);
  pinned.clear();
  EXPECT_LT(cache.live_bytes(), 4 * kBlockBytes + kMargin);
  EXPECT_TRUE(Get(&cache, table, 6).ok());
  EXPECT_TRUE(cache.Allocate(kBlockBytes).ok());
}

// What calls at work hold is then more than what is kept may be, and stays so.
TEST(BlockCache, PutsOutEverythingWhereOthersHoldMoreThanTheBound) {
  FakeMaking making;
  BlockCache cache(Blocks(4, 8), FakeTable::Opener(&making));
  {
    const TablePtr table = Open(&cache, Spec());
    for (int index = 0; index < 3; ++index) ASSERT_TRUE(Get(&cache, table, index).ok());
  }
  const auto first = cache.Reserve(4 * kBlockBytes);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = cache.Reserve(4 * kBlockBytes);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(cache.FindTable(Spec()), nullptr);
  EXPECT_EQ(cache.live_bytes(), 8 * kBlockBytes);
}

// Giving back the memory of a large table takes milliseconds.
TEST(BlockCache, OthersFindWhatTheyWantWhileATableIsDestroyed) {
  FakeMaking making;
  BlockCache cache(Blocks(4, 4), FakeTable::Opener(&making));
  const TablePtr hot = Open(&cache, Spec());
  making.table_bytes = 2 * kBlockBytes;
  Open(&cache, Spec(kWidth, 500));
  bool closed = false;
  absl::Notification found;
  std::thread other;
  making.on_close = [&] {
    closed = true;
    other = std::thread([&] {
      EXPECT_EQ(cache.FindTable(Spec()), hot);
      found.Notify();
    });
    // With the lock held it would wait for this.
    EXPECT_TRUE(found.WaitForNotificationWithTimeout(absl::Seconds(10)));
  };
  EXPECT_TRUE(cache.Reserve(4 * kBlockBytes).ok());
  making.on_close = [] {};
  ASSERT_TRUE(closed);
  other.join();
}

TEST(BlockCache, ServesWithoutKeepingAtZeroBytes) {
  FakeMaking making;
  BlockCache cache(Blocks(0, 4), FakeTable::Opener(&making));
  {
    const TablePtr table = Open(&cache, Spec());
    for (int round = 0; round < 2; ++round) EXPECT_TRUE(Get(&cache, table, 0).ok());
    EXPECT_EQ(table->misses(), 2);
    EXPECT_EQ(cache.FindTable(Spec()), nullptr);
  }
  EXPECT_EQ(cache.live_bytes(), 0);
}

TEST(BlockCache, KeepsWhatItHasWhenSomethingLargerThanItComes) {
  FakeMaking making;
  BlockCache cache(Blocks(4, 16), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  for (int index = 0; index < 3; ++index) ASSERT_TRUE(Get(&cache, table, index).ok());
  EXPECT_TRUE(cache.Allocate(8 * kBlockBytes).ok());
  EXPECT_THAT(cache.FindBlocks(*table, 0, 2), SizeIs(3));
}

TEST(BlockCache, CountsTheMemoryOfOpenTables) {
  FakeMaking making;
  making.table_bytes = 3 * kBlockBytes;
  BlockCache cache(Blocks(4, 1), FakeTable::Opener(&making));
  Open(&cache, Spec());
  EXPECT_GE(cache.live_bytes(), 3 * kBlockBytes);
  // The second one evicts the first.
  Open(&cache, Spec(kWidth, 500));
  EXPECT_LT(cache.live_bytes(), 4 * kBlockBytes);
  EXPECT_EQ(cache.FindTable(Spec()), nullptr);
  EXPECT_NE(cache.FindTable(Spec(kWidth, 500)), nullptr);
  // One that is larger than it looked, and than all there is.
  making.table_bytes = 100 * kBlockBytes;
  EXPECT_EQ(cache.Open(Spec(kWidth, 600), &NobodyWaits)->status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(BlockCache, ATableStaysWhileItsBlocksDo) {
  FakeMaking making;
  BlockCache cache(Blocks(4, 4), FakeTable::Opener(&making));
  const BlockPtr pinned = Get(&cache, Open(&cache, Spec()), 0).value();
  const TablePtr other = Open(&cache, Spec(kWidth, 500));
  for (int index = 0; index < 20; ++index) ASSERT_TRUE(Get(&cache, other, index).ok());
  EXPECT_NE(cache.FindTable(Spec()), nullptr);
}

TEST(BlockCache, FindsAllBlocksOrNone) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  for (int index : {-2, -1, 0, 2}) ASSERT_TRUE(Get(&cache, table, index).ok());
  const std::int64_t hits = table->hits();
  EXPECT_THAT(cache.FindBlocks(*table, -2, 0), SizeIs(3));
  EXPECT_THAT(cache.FindBlocks(*table, -2, 2), IsEmpty());
  EXPECT_THAT(cache.FindBlocks(*table, 2, 3), IsEmpty());
  EXPECT_EQ(table->hits(), hits + 3);
}

TEST(BlockCache, FindsTheBlocksOfPositions) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  const BlockPtr block = Get(&cache, table, -1).value();
  const std::int64_t hits = table->hits();
  EXPECT_THAT(cache.FindBlocksOf(*table, {-1, 0, -kBlockRows, -kBlockRows - 1}),
              ElementsAre(block, nullptr, block, nullptr));
  EXPECT_EQ(table->hits(), hits + 2);
}

TEST(BlockCache, CallsNobodyWhoDoesNotWait) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  making.on_read = [&](std::int64_t) {
    EXPECT_FALSE(cache.Get(table, 3, nullptr).has_value());  // it is being made
  };
  EXPECT_TRUE(cache.Get(table, 3, nullptr)->ok());
  EXPECT_EQ(making.reads, 1);
}

TEST(BlockCache, ATableTellsWhatABlockTakes) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  EXPECT_GT(table->block_time(), absl::Hours(1));
  making.on_read = [](std::int64_t) { UseProcessor(absl::Milliseconds(2)); };
  ASSERT_TRUE(Get(&cache, table, 0).ok());
  EXPECT_GE(table->block_time(), absl::Milliseconds(2));
  EXPECT_LT(table->block_time(), absl::Hours(1));
  making.on_read = [](std::int64_t) {};
  const absl::Duration before = table->block_time();
  ASSERT_TRUE(Get(&cache, table, 1).ok());
  EXPECT_LT(table->block_time(), before);
}

TEST(BlockCache, CountsSettledElementsOfTablesThatAreGoneToo) {
  FakeMaking making;
  making.table_bytes = 3 * kBlockBytes;
  BlockCache cache(Blocks(4, 4), FakeTable::Opener(&making));
  const TablePtr table = Open(&cache, Spec());
  making.on_read = [&](std::int64_t) {
    making.settled += 5;
    making.costly += 2;
  };
  for (int index = 0; index < 2; ++index) ASSERT_TRUE(Get(&cache, table, index).ok());
  EXPECT_EQ(cache.settled().settled, 10);
  EXPECT_EQ(cache.settled().costly, 4);
  std::vector<std::byte> row(static_cast<std::size_t>(table->spec().row_bytes()));
  making.settled += 1;
  const std::int64_t position = 4;
  ASSERT_TRUE(
      table->GatherInto(absl::MakeConstSpan(&position, 1), absl::MakeSpan(row), NeverStop).ok());
  EXPECT_EQ(cache.settled().settled, 11);

  making.settled = 7;
  making.costly = 0;
  ASSERT_TRUE(Get(&cache, Open(&cache, Spec(kWidth, 500)), 0).ok());
  EXPECT_EQ(cache.settled().settled, 11 + 12);
  EXPECT_EQ(cache.settled().costly, 4 + 2);
}

TEST(BlockCache, EntriesOutliveIt) {
  FakeMaking making;
  auto cache = std::make_unique<BlockCache>(Blocks(4, 4), FakeTable::Opener(&making));
  const BlockPtr block = Get(cache.get(), Open(cache.get(), Spec()), 7).value();
  cache.reset();
  const std::int64_t position = 7 * kBlockRows;
  EXPECT_EQ(block->Rows(position, position + 1)[1], FakeTable::ByteOf(position, 1));
}

TEST(BlockCache, ListsTablesInOrderOfFingerprint) {
  FakeMaking making;
  BlockCache cache(Blocks(8, 8), FakeTable::Opener(&making));
  for (int i = 0; i < 10; ++i) {
    Get(&cache, Open(&cache, Spec(512, 100.0 + i)), i).value();
  }
  const std::vector<TablePtr> all = cache.Tables({}, 100);
  ASSERT_THAT(all, SizeIs(10));
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const TablePtr& a, const TablePtr& b) {
    return a->fingerprint() < b->fingerprint();
  }));
  const std::vector<TablePtr> first = cache.Tables({}, 4);
  ASSERT_THAT(first, SizeIs(4));
  const std::vector<TablePtr> rest =
      cache.Tables(absl::MakeConstSpan(first.back()->spec().digest().data(), 16), 100);
  ASSERT_THAT(rest, SizeIs(6));
  EXPECT_EQ(rest[0], all[4]);
  EXPECT_EQ(all[0]->cached_blocks(), 1);
  EXPECT_GE(all[0]->cached_bytes(), kBlockBytes + making.table_bytes);
}

TEST(BlockCache, StaysWithinItsBoundsUnderLoad) {
  FakeMaking making;
  const BlockCache::Limits limits = Blocks(6, 6);
  BlockCache cache(limits, FakeTable::Opener(&making));
  const std::vector<CanonicalSpec> specs = {Spec(kWidth, 100), Spec(kWidth, 200), Spec(4096, 300)};
  std::atomic<bool> exceeded = false;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      std::vector<BlockPtr> held(2);
      for (int round = 0; round < 500; ++round) {
        absl::Notification opened, got;
        absl::StatusOr<TablePtr> table;
        const auto take_table = [&](absl::StatusOr<TablePtr> made) {
          table = std::move(made);
          opened.Notify();
        };
        if (auto made = cache.Open(specs[random() % specs.size()], take_table)) take_table(*made);
        opened.WaitForNotification();
        if (!table.ok()) continue;
        absl::StatusOr<BlockPtr> block;
        const auto take_block = [&](absl::StatusOr<BlockPtr> made) {
          block = std::move(made);
          got.Notify();
        };
        const std::int64_t index = static_cast<std::int64_t>(random() % 12) - 6;
        if (auto made = cache.Get(*table, index, take_block)) take_block(*made);
        got.WaitForNotification();
        if (cache.live_bytes() > limits.cache_bytes + limits.working_bytes) exceeded = true;
        if (!block.ok()) continue;
        const std::int64_t position = (*block)->end() - 1;
        ASSERT_EQ((*block)->Rows(position, position + 1)[3], FakeTable::ByteOf(position, 3));
        held[random() % held.size()] = *block;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
}

}  // namespace
}  // namespace phasor::server
