#include "client/src/block_store.h"

#include <malloc.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace phasor::internal {
namespace {

constexpr absl::Duration kLong = absl::Minutes(1);

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

std::vector<std::shared_ptr<const Block>> BlocksOf(const BlockRun& run, std::size_t size = 100) {
  std::vector<std::shared_ptr<const Block>> blocks;
  for (std::int64_t i = 0; i < run.count; ++i) blocks.push_back(MakeBlock(size));
  return blocks;
}

class BlockStoreTest : public testing::Test {
 protected:
  // Whether `key` had to be fetched.
  bool Fetches(BlockStore& store, const BlockKey& key, std::size_t size = 100) {
    bool fetched = false;
    EXPECT_TRUE(store
                    .Get(key, kLong,
                         [&](absl::Time) {
                           fetched = true;
                           return MakeBlock(size);
                         })
                    .ok());
    return fetched;
  }

  // What is to be fetched ahead of block 10 on.
  static std::shared_ptr<BlockRun> Claim(BlockStore& store, std::int64_t first,
                                         std::int64_t horizon, std::int64_t count,
                                         std::int64_t last = 1000) {
    return store.Claim(Key(0).digest, {first, horizon, count, last, /*block_bytes=*/100});
  }
  // Which of blocks 0 ... 99 are kept.
  static std::vector<std::int64_t> Kept(BlockStore& store) {
    std::vector<std::int64_t> indices(100);
    std::iota(indices.begin(), indices.end(), 0);
    std::vector<std::shared_ptr<const Block>> found(100);
    store.Find(Key(0).digest, indices, absl::MakeSpan(found));
    std::erase_if(indices, [&](std::int64_t i) { return found[i] == nullptr; });
    return indices;
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
  auto block = store.Get(Key(1), kLong, [](absl::Time) { return MakeBlock(100); });
  ASSERT_TRUE(block.ok());
  const std::weak_ptr<const Block> watch = *block;
  EXPECT_TRUE(Fetches(store, Key(2)));
  EXPECT_FALSE(watch.expired());
  *block = nullptr;
  EXPECT_TRUE(watch.expired());
}

TEST_F(BlockStoreTest, AnErrorIsNotKept) {
  BlockStore store(1000, &counters_);
  const auto failed = store.Get(Key(1), kLong, [](absl::Time) -> BlockStore::BlockOr {
    return absl::UnavailableError("no server");
  });
  EXPECT_EQ(failed.status(), absl::UnavailableError("no server"));
  EXPECT_TRUE(Fetches(store, Key(1)));
}

TEST_F(BlockStoreTest, ClaimsTheBlocksThatFollowOnce) {
  BlockStore store(10000, &counters_);
  const auto run = Claim(store, 10, 1, 4);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->first, 10);
  EXPECT_EQ(run->count, 4);
  EXPECT_EQ(Claim(store, 10, 1, 4), nullptr);
  EXPECT_EQ(Claim(store, 11, 3, 4), nullptr);  // all of the horizon is on the way
  const auto next = Claim(store, 12, 3, 2);    // block 14 is not
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->first, 14);
  EXPECT_EQ(next->count, 2);
  store.Finish(run, BlocksOf(*run));
  EXPECT_EQ(Claim(store, 10, 6, 4), nullptr);
  store.Finish(next, BlocksOf(*next));
  EXPECT_EQ(Kept(store), (std::vector<std::int64_t>{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(counters_.blocks_ahead, 6);
  EXPECT_FALSE(Fetches(store, Key(10)));
}

TEST_F(BlockStoreTest, ClaimsUpToABlockThatIsThereAndToTheLast) {
  BlockStore store(10000, &counters_);
  Fetches(store, Key(13));
  EXPECT_EQ(Claim(store, 11, 1, 8)->count, 2);
  EXPECT_EQ(Claim(store, 20, 1, 8, /*last=*/22)->count, 3);
  EXPECT_EQ(Claim(store, 23, 1, 8, /*last=*/22), nullptr);
}

TEST_F(BlockStoreTest, WhatIsReadAheadCountsAndHasHalfOfTheRoom) {
  BlockStore store(1000, &counters_);
  for (std::int64_t i = 0; i < 10; ++i) Fetches(store, Key(50 + i));
  const auto run = Claim(store, 0, 1, 16);
  EXPECT_EQ(run->count, 5);
  EXPECT_EQ(store.bytes(), 500U);  // and 500 on the way
  // One block more for who has none, until all is full.
  std::vector<std::shared_ptr<BlockRun>> more;
  for (std::int64_t i = 20; i < 25; ++i) {
    more.push_back(Claim(store, i, 1, 16));
    EXPECT_EQ(more.back()->count, 1);
  }
  EXPECT_EQ(Claim(store, 30, 1, 16), nullptr);
  EXPECT_EQ(store.bytes(), 0U);
  store.Finish(run, BlocksOf(*run));
  for (const auto& one : more) store.Finish(one, absl::UnavailableError(""));
  EXPECT_EQ(store.bytes(), 500U);
  // What was asked for makes room for more.
  EXPECT_EQ(Kept(store).size(), 5U);
  EXPECT_EQ(Claim(store, 30, 1, 16)->count, 5);
}

TEST_F(BlockStoreTest, WhatWasReadAheadOutlivesWhatWasAskedForOnce) {
  BlockStore store(1000, &counters_);
  const auto run = Claim(store, 0, 1, 3);
  store.Finish(run, BlocksOf(*run));
  for (std::int64_t i = 0; i < 9; ++i) Fetches(store, Key(200 + i));
  EXPECT_EQ(Kept(store), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST_F(BlockStoreTest, AFailedReadAheadIsNobodysError) {
  BlockStore store(1000, &counters_);
  const auto run = Claim(store, 0, 1, 3);
  std::atomic<bool> fetched{false};
  std::thread reader([&] {
    const auto block = store.Get(Key(1), kLong, [&](absl::Time) {
      fetched = true;
      return MakeBlock(100);
    });
    EXPECT_TRUE(block.ok()) << block.status();
  });
  while (counters_.block_misses < 1) std::this_thread::yield();
  store.Finish(run, absl::UnavailableError("not now"));
  reader.join();
  EXPECT_TRUE(fetched);
  EXPECT_TRUE(Fetches(store, Key(0)));
  EXPECT_NE(Claim(store, 2, 1, 1), nullptr);
}

TEST_F(BlockStoreTest, WhoNeedsABlockWaitsForItsReadAhead) {
  BlockStore store(1000, &counters_);
  const auto run = Claim(store, 0, 1, 3);
  auto blocks = BlocksOf(*run);
  std::thread reader([&] {
    const auto block = store.Get(Key(2), kLong, [&](absl::Time) {
      ADD_FAILURE() << "fetched again";
      return MakeBlock(100);
    });
    EXPECT_EQ(*block, blocks[2]);
  });
  while (counters_.block_misses < 1) std::this_thread::yield();
  store.Finish(run, blocks);
  reader.join();
  EXPECT_EQ(counters_.stalls, 1);
}

TEST_F(BlockStoreTest, WaitsNoLongerThanItsTime) {
  BlockStore store(1000, &counters_);
  const auto run = Claim(store, 0, 1, 1);
  const auto block =
      store.Get(Key(0), absl::Milliseconds(1), [](absl::Time) { return MakeBlock(100); });
  EXPECT_EQ(block.status().code(), absl::StatusCode::kDeadlineExceeded);
  store.Finish(run, BlocksOf(*run));
  EXPECT_FALSE(Fetches(store, Key(0)));
}

TEST_F(BlockStoreTest, WhoseTimeIsLongerTriesAgainAfterAnotherOnes) {
  BlockStore store(1000, &counters_);
  int tries = 0;
  std::thread other;
  const auto first = store.Get(Key(0), kLong, [&](absl::Time) -> BlockStore::BlockOr {
    other = std::thread([&] { EXPECT_TRUE(Fetches(store, Key(0))); });
    while (counters_.block_misses < 2) std::this_thread::yield();
    ++tries;
    return absl::DeadlineExceededError("mine");
  });
  other.join();
  EXPECT_EQ(first.status(), absl::DeadlineExceededError("mine"));
  EXPECT_EQ(tries, 1);
}

// An error that no repetition mends is everybody's who waited for it.
TEST_F(BlockStoreTest, ConcurrentMissesShareAnErrorThatStays) {
  BlockStore store(1000, &counters_);
  constexpr int kThreads = 4;
  std::atomic<int> fetches{0};
  std::vector<absl::Status> got(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      got[t] = store
                   .Get(Key(1), kLong,
                        [&](absl::Time) -> BlockStore::BlockOr {
                          ++fetches;
                          while (counters_.block_misses < kThreads) std::this_thread::yield();
                          return absl::FailedPreconditionError("another table");
                        })
                   .status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fetches, 1);
  for (const absl::Status& status : got) {
    EXPECT_EQ(status, absl::FailedPreconditionError("another table"));
  }
  EXPECT_TRUE(Fetches(store, Key(1)));
}

TEST_F(BlockStoreTest, AFetchHasTheTimeOfItsCall) {
  BlockStore store(1000, &counters_);
  const absl::Time before = absl::Now();
  ASSERT_TRUE(store
                  .Get(Key(1), absl::Seconds(30),
                       [&](absl::Time deadline) {
                         EXPECT_GE(deadline, before + absl::Seconds(30));
                         EXPECT_LE(deadline, absl::Now() + absl::Seconds(30));
                         return MakeBlock(100);
                       })
                  .ok());
}

TEST_F(BlockStoreTest, AwaitsWhatIsOnTheWayAndNothingElse) {
  BlockStore store(1000, &counters_);
  store.AwaitFlight(Key(1), kLong);  // nothing is
  const auto run = Claim(store, 1, 1, 2);
  store.AwaitFlight(Key(2), absl::Milliseconds(1));  // not longer than it may
  std::atomic<bool> landed{false};
  std::thread waiting([&] {
    store.AwaitFlight(Key(2), kLong);
    EXPECT_TRUE(landed);
  });
  landed = true;
  store.Finish(run, BlocksOf(*run));
  waiting.join();
  store.AwaitFlight(Key(2), kLong);  // it is there
  EXPECT_FALSE(Fetches(store, Key(2)));
}

// Its own memory is bounded too, however many blocks went through it.
TEST_F(BlockStoreTest, DoesNotGrowByWhatItGaveUp) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the heap is a sanitizer's";
#endif
  BlockStore store(300, &counters_);
  const auto through = [&](std::int64_t first) {
    for (std::int64_t i = first; i < first + 20'000; ++i) Fetches(store, Key(i));
    const struct mallinfo2 info = mallinfo2();
    return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
  };
  const std::int64_t before = through(0);
  EXPECT_LE(through(100'000), before + 10'000);
  EXPECT_EQ(store.bytes(), 300U);
}

TEST_F(BlockStoreTest, FindsEachPositionsBlock) {
  BlockStore store(1000, &counters_);
  Fetches(store, Key(0));
  Fetches(store, Key(2));
  const std::vector<std::int64_t> indices = {0, 0, 1, 1, 2, 0, 3, 2};
  std::vector<std::shared_ptr<const Block>> found(indices.size());
  store.Find(Key(0).digest, indices, absl::MakeSpan(found));
  EXPECT_EQ(counters_.block_hits, 5);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(found[i] != nullptr, indices[i] == 0 || indices[i] == 2) << i;
  }
  EXPECT_EQ(found[0], found[5]);
  EXPECT_EQ(found[4], found[7]);
  EXPECT_NE(found[0], found[4]);
  // Of another table none is kept.
  store.Find(Key(0, /*table=*/1).digest, indices, absl::MakeSpan(found));
  for (const auto& block : found) EXPECT_EQ(block, nullptr);
  EXPECT_EQ(counters_.block_hits, 5);
}

TEST_F(BlockStoreTest, KnowsWhatItMissedBefore) {
  BlockStore store(1000, &counters_);
  EXPECT_FALSE(store.MissedAgain(Key(1)));
  EXPECT_FALSE(store.MissedAgain(Key(2)));
  EXPECT_TRUE(store.MissedAgain(Key(1)));
  EXPECT_FALSE(store.MissedAgain(Key(1)));  // counted anew
  EXPECT_FALSE(store.MissedAgain(Key(1, /*table=*/3)));
}

TEST_F(BlockStoreTest, ConcurrentMissesFetchOnce) {
  BlockStore store(1000, &counters_);
  constexpr int kThreads = 8;
  std::atomic<int> fetches{0};
  std::vector<std::shared_ptr<const Block>> got(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      got[t] = *store.Get(Key(1), kLong, [&](absl::Time) {
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
