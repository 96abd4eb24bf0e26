#include "phasor/cursor.h"

#include <thread>
#include <utility>
#include <vector>

#include "client/src/session.h"
#include "gtest/gtest.h"
#include "phasor/client.h"
#include "phasor/core/errors.h"
#include "tests/client/fake_connection.h"

namespace phasor {
namespace {

using internal::FakeConnection;
using internal::Session;

class CursorTest : public testing::Test {
 protected:
  Table Open(const Scheme& scheme, std::int64_t cache_bytes = 1 << 20) {
    ClientOptions options;
    options.block_cache_bytes = cache_bytes;
    Client client = Session::MakeClient(options, [this](internal::Counters*) {
      auto connection = std::make_unique<FakeConnection>();
      fake_ = connection.get();
      return connection;
    });
    client_ = std::make_unique<Client>(client);
    return *client.Open(TableSpec(scheme, ElementType::kFloat64));
  }

  std::unique_ptr<Client> client_;
  FakeConnection* fake_ = nullptr;
};

// 2 KiB a row: 32 rows a block.
const Sinusoidal kFormula{.width = 256};
constexpr std::int64_t kBlock = 32;

TEST_F(CursorTest, FetchesBlocksAndNeverARow) {
  const Table table = Open(kFormula);
  Cursor cursor = table.Decode(1000);
  for (std::int64_t p = 1000; p < 1000 + 10 * kBlock; ++p) {
    EXPECT_EQ(cursor.position(), p);
    const auto row = cursor.Next<double>();
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_EQ(row->size(), 256U);
    ASSERT_EQ((*row)[255], static_cast<double>(p));
  }
  const auto reads = fake_->reads();
  EXPECT_LE(reads.size(), 11U);
  for (const auto& read : reads) EXPECT_EQ(read.count, kBlock);
}

TEST_F(CursorTest, CountsPositionsFromTheOffsetForwardsAndBack) {
  const Table table = Open(kFormula);
  Cursor cursor = table.Decode();
  for (const std::int64_t p : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{-33},
                               std::int64_t{31}, std::int64_t{32}, kMaxPosition, -kMaxPosition}) {
    cursor.Seek(p);
    const auto row = cursor.Next<double>();
    ASSERT_TRUE(row.ok()) << row.status();
    EXPECT_EQ(row->front(), static_cast<double>(p));
    EXPECT_EQ(cursor.position(), p + 1);
  }
}

TEST_F(CursorTest, EndsWhereTheTableEndsAndNotEarlier) {
  const Table table = Open(LearnedInit{.max_positions = 40, .width = 256});
  Cursor cursor = table.Decode(30);
  for (std::int64_t p = 30; p < 40; ++p) {
    const auto row = cursor.Next<double>();
    ASSERT_TRUE(row.ok()) << row.status();
    EXPECT_EQ(row->front(), static_cast<double>(p));
  }
  for (int again = 0; again < 2; ++again) {
    const auto row = cursor.Next<double>();
    EXPECT_EQ(row.status().code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(FieldOf(row.status()), "start_position");
    EXPECT_EQ(cursor.position(), 40);
  }
  cursor.Seek(-1);
  EXPECT_EQ(cursor.Next<double>().status().code(), absl::StatusCode::kOutOfRange);
  cursor.Seek(39);
  EXPECT_TRUE(cursor.Next<double>().ok());
}

TEST_F(CursorTest, CopiesGoTheirOwnWay) {
  const Table table = Open(kFormula);
  Cursor a = table.Decode(5);
  ASSERT_TRUE(a.Next<double>().ok());
  Cursor b = a;
  b.Seek(5000);
  const auto row_a = a.Next<double>();
  const auto row_b = b.Next<double>();
  EXPECT_EQ(row_a->front(), 6);
  EXPECT_EQ(row_b->front(), 5000);
  a = b;
  EXPECT_EQ(a.Next<double>()->front(), 5001);
  EXPECT_EQ(b.Next<double>()->front(), 5001);
}

TEST_F(CursorTest, ARowStaysValidWhileOthersFillTheStore) {
  const Table table = Open(kFormula, /*cache_bytes=*/1 << 16);
  Cursor cursor = table.Decode(5);
  const auto row = cursor.Next<double>();
  ASSERT_TRUE(row.ok());
  Cursor other = table.Decode();
  for (int i = 0; i < 5; ++i) {
    other.Seek(10000 + i * kBlock);
    ASSERT_TRUE(other.Next<double>().ok());
  }
  EXPECT_EQ((*row)[0], 5);
  EXPECT_EQ((*row)[255], 5);
}

TEST_F(CursorTest, CursorsSmallReadsAndTablesOfOneSpecShareBlocks) {
  const Table table = Open(kFormula);
  const Table again = *client_->Open(TableSpec(kFormula, ElementType::kFloat64));
  Cursor a = table.Decode();
  Cursor b = again.Decode(1);
  ASSERT_TRUE(a.Next<double>().ok());
  ASSERT_TRUE(b.Next<double>().ok());
  ASSERT_TRUE(table.Read(2, 3).ok());
  EXPECT_EQ(fake_->reads().size(), 1U);
  EXPECT_EQ(client_->counters().block_misses, 1);
  EXPECT_EQ(client_->counters().block_hits, 2);

  Sinusoidal other = kFormula;
  other.base = 500;
  Cursor c = client_->Open(TableSpec(other, ElementType::kFloat64))->Decode();
  ASSERT_TRUE(c.Next<double>().ok());
  EXPECT_EQ(fake_->reads().size(), 2U);
}

TEST_F(CursorTest, AnErrorLeavesThePositionAndTheNextTryWorks) {
  const Table table = Open(kFormula);
  Cursor cursor = table.Decode(9);
  fake_->answer = [] { return absl::UnavailableError("no server"); };
  EXPECT_EQ(cursor.Next<double>().status(), absl::UnavailableError("no server"));
  EXPECT_EQ(cursor.position(), 9);
  fake_->answer = [] { return absl::OkStatus(); };
  EXPECT_EQ(cursor.Next<double>()->front(), 9);
}

TEST_F(CursorTest, RefusesAnotherElementType) {
  const Table table = Open(kFormula);
  Cursor cursor = table.Decode(9);
  const auto row = cursor.Next<float>();
  EXPECT_EQ(row.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(row.status()), "T");
  EXPECT_EQ(cursor.position(), 9);
  EXPECT_EQ(cursor.NextBytes()->size(), 2048U);
}

TEST_F(CursorTest, OutlivesItsClientAndTable) {
  Cursor cursor = Open(kFormula).Decode(77);
  client_ = nullptr;
  EXPECT_EQ(cursor.Next<double>()->front(), 77);
}

TEST_F(CursorTest, ManyThreadsReadTheRightRows) {
  const Table table = Open(kFormula, /*cache_bytes=*/1 << 18);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&table, t] {
      Cursor cursor = table.Decode(t * 50);
      for (int i = 0; i < 500; ++i) {
        const auto row = cursor.Next<double>();
        ASSERT_TRUE(row.ok()) << row.status();
        ASSERT_EQ(row->front(), t * 50 + i);
        ASSERT_EQ(row->back(), t * 50 + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CursorTest, BlocksAreWholeRowsWithinTheirBounds) {
  for (const std::int64_t width : {2L, 6L, 256L, 4096L, 65536L}) {
    const Table table = Open(Sinusoidal{.width = width});
    ASSERT_TRUE(table.Decode(1 << 20).Next<double>().ok());
    const std::int64_t bytes = fake_->reads().at(0).count * table.row_bytes();
    EXPECT_LE(bytes, 1 << 20);
    EXPECT_GT(bytes, (1 << 16) - table.row_bytes());
  }
}

}  // namespace
}  // namespace phasor
