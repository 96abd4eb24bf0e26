#include "client/src/block_store.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace phasor::internal {
namespace {

BlockKey Key(std::int64_t index, std::uint8_t table = 0) {
  BlockKey key{{}, index};
  key.digest[0] = table;
  return key;
}

std::shared_ptr<const Block> MakeBlock(std::size_t size) {
  auto block = std::make_shared<Block>();
  block->size = size;
  return block;
}

class BlockStoreTest : public testing::Test {
 protected:
  // Whether `key` had to be fetched.
  bool Fetches(BlockStore& store, const BlockKey& key, std::size_t size = 100) {
    bool fetched = false;
    EXPECT_TRUE(store
                    .Get(key,
                         [&] {
                           fetched = true;
                           return MakeBlock(size);
                         })
                    .ok());
    return fetched;
  }

  Counters counters_;
};

TEST_F(BlockStoreTest, KeepsWhatWasFetched) {
  BlockStore store(1000, &counters_);
  EXPECT_TRUE(Fetches(store, Key(1)));
  EXPECT_FALSE(Fetches(store, Key(1)));
  EXPECT_TRUE(Fetches(store, Key(-1)));
  EXPECT_TRUE(Fetches(store, Key(1, /*table=*/1)));
  EXPECT_EQ(counters_.block_hits, 1);
  EXPECT_EQ(counters_.block_misses, 3);
  EXPECT_EQ(store.bytes(), 300U);
}

TEST_F(BlockStoreTest, GivesUpTheLeastRecentlyUsed) {
  BlockStore store(300, &counters_);
  for (const int i : {1, 2, 3}) Fetches(store, Key(i));
  EXPECT_FALSE(Fetches(store, Key(1)));  // now 2 is the oldest
  EXPECT_TRUE(Fetches(store, Key(4)));
  EXPECT_EQ(store.bytes(), 300U);
  EXPECT_FALSE(Fetches(store, Key(1)));
  EXPECT_FALSE(Fetches(store, Key(3)));
  EXPECT_TRUE(Fetches(store, Key(2)));
}

TEST_F(BlockStoreTest, NeverHoldsMoreThanItsBound) {
  BlockStore store(250, &counters_);
  for (int i = 0; i < 100; ++i) {
    Fetches(store, Key(i), static_cast<std::size_t>(1 + (37 * i) % 250));
    EXPECT_LE(store.bytes(), 250U);
  }
  EXPECT_TRUE(Fetches(store, Key(1000), 251));
  EXPECT_TRUE(Fetches(store, Key(1000), 251));  // too large to be kept
}

TEST_F(BlockStoreTest, BlocksInUseOutliveTheirEviction) {
  BlockStore store(100, &counters_);
  auto block = store.Get(Key(1), [] { return MakeBlock(100); });
  ASSERT_TRUE(block.ok());
  const std::weak_ptr<const Block> watch = *block;
  EXPECT_TRUE(Fetches(store, Key(2)));
  EXPECT_FALSE(watch.expired());
  *block = nullptr;
  EXPECT_TRUE(watch.expired());
}

TEST_F(BlockStoreTest, AnErrorIsNotKept) {
  BlockStore store(1000, &counters_);
  const auto failed = store.Get(
      Key(1), []() -> BlockStore::BlockOr { return absl::UnavailableError("no server"); });
  EXPECT_EQ(failed.status(), absl::UnavailableError("no server"));
  EXPECT_TRUE(Fetches(store, Key(1)));
}

TEST_F(BlockStoreTest, ConcurrentMissesFetchOnce) {
  BlockStore store(1000, &counters_);
  constexpr int kThreads = 8;
  std::atomic<int> fetches{0};
  std::vector<std::shared_ptr<const Block>> got(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      got[t] = *store.Get(Key(1), [&] {
        ++fetches;
        // All the others have missed too before this one is answered.
        while (counters_.block_misses < kThreads) std::this_thread::yield();
        return MakeBlock(100);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fetches, 1);
  for (const auto& block : got) EXPECT_EQ(block, got[0]);
}

}  // namespace
}  // namespace phasor::internal
