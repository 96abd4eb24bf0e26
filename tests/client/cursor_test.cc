#include "phasor/cursor.h"

#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
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
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_EQ(reads[0].count, kBlock);
  for (const auto& read : fake_->ahead()) EXPECT_EQ(read.count % kBlock, 0);
}

TEST_F(CursorTest, WaitsForItsFirstBlockAlone) {
  const Table table = Open(kFormula, /*cache_bytes=*/64 << 20);
  Cursor cursor = table.Decode(1031);
  for (std::int64_t p = 1031; p < 30000; ++p) {
    ASSERT_EQ(cursor.Next<double>()->front(), static_cast<double>(p));
  }
  EXPECT_EQ(client_->counters().stalls, 1);
  EXPECT_EQ(fake_->reads().size(), 1U);
  // Nothing twice, nothing left out, in runs that grow.
  std::int64_t next = 1056;
  for (const auto& read : fake_->ahead()) {
    EXPECT_EQ(read.start, next);
    next += read.count;
  }
  EXPECT_GE(next, 30000);
}

TEST_F(CursorTest, AsksForTheNextRunWithHalfOfThisOneToGo) {
  const Table table = Open(kFormula, /*cache_bytes=*/64 << 20);
  Cursor cursor = table.Decode();
  std::size_t runs = 0;
  for (std::int64_t p = 0; p < 30000; ++p) {
    ASSERT_TRUE(cursor.Next<double>().ok());
    const auto ahead = fake_->ahead();
    if (ahead.size() == runs) continue;
    ASSERT_LE(ahead.size() - runs, p == 0 ? 2U : 1U) << p;
    runs = ahead.size();
    if (p == 0) continue;
    const std::int64_t before = ahead[runs - 2].count / kBlock;
    EXPECT_EQ(ahead.back().start / kBlock - p / kBlock, std::max<std::int64_t>(1, before / 2)) << p;
  }
  EXPECT_GE(runs, 6U);
}

TEST_F(CursorTest, AThousandStepsTakeFewCalls) {
  const Table table = Open(kFormula, /*cache_bytes=*/64 << 20);
  Cursor cursor = table.Decode();
  const auto calls_of_a_thousand = [&] {
    const std::size_t before = fake_->reads().size() + fake_->ahead().size();
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(cursor.Next<double>().ok());
    return fake_->reads().size() + fake_->ahead().size() - before;
  };
  calls_of_a_thousand();
  for (int i = 0; i < 10; ++i) EXPECT_LE(calls_of_a_thousand(), 4U);
}

TEST_F(CursorTest, ManyCursorsOnOneWayFetchItOnce) {
  const Table table = Open(kFormula, /*cache_bytes=*/64 << 20);
  std::vector<Cursor> cursors;
  for (int i = 0; i < 64; ++i) cursors.push_back(table.Decode(3 * i));
  for (int step = 0; step < 2000; ++step) {
    for (std::size_t i = 0; i < cursors.size(); ++i) {
      ASSERT_EQ(cursors[i].Next<double>()->front(), static_cast<double>(3 * i + step));
    }
  }
  std::int64_t rows = 0;
  for (const auto& read : fake_->ahead()) rows += read.count;
  EXPECT_LE(rows, 3 * 64 + 2000 + 2 * 512);
  EXPECT_EQ(client_->counters().stalls, 1);
}

TEST_F(CursorTest, SequencesFarFromEachOtherFitHalfOfTheRoom) {
  // 1 MiB: a run of 8 blocks for one sequence, of 1 or 2 for eight of them.
  const Table table = Open(kFormula);
  std::vector<Cursor> cursors;
  for (int i = 0; i < 4; ++i) cursors.push_back(table.Decode(100000 * i));
  for (int step = 0; step < 3000; ++step) {
    for (std::size_t i = 0; i < cursors.size(); ++i) {
      ASSERT_TRUE(cursors[i].Next<double>().ok());
    }
  }
  EXPECT_EQ(client_->counters().stalls, 4);
}

TEST_F(CursorTest, AFailedReadAheadIsSeenByNobody) {
  const Table table = Open(kFormula);
  Cursor cursor = table.Decode();
  fake_->hold = true;
  for (std::int64_t p = 0; p < 300; ++p) {
    // Each ends in an error before it is needed.
    fake_->Land(absl::UnavailableError("not now"));
    ASSERT_EQ(cursor.Next<double>()->front(), static_cast<double>(p));
  }
  EXPECT_EQ(fake_->reads().size(), 10U);
}

TEST_F(CursorTest, ReadsAheadNoFurtherThanTheTable) {
  const Table table = Open(LearnedInit{.max_positions = 100, .width = 256});
  Cursor cursor = table.Decode();
  for (std::int64_t p = 0; p < 100; ++p) ASSERT_TRUE(cursor.Next<double>().ok());
  std::int64_t rows = kBlock;
  for (const auto& read : fake_->ahead()) rows += read.count;
  EXPECT_EQ(rows, 100);
  Cursor end = Open(kFormula).Decode(kMaxPosition - 40);
  for (int i = 0; i <= 40; ++i) ASSERT_TRUE(end.Next<double>().ok());
  EXPECT_EQ(end.Next<double>().status().code(), absl::StatusCode::kOutOfRange);
  for (const auto& read : fake_->ahead()) EXPECT_LE(read.start + read.count - 1, kMaxPosition);
}

TEST_F(CursorTest, ReadAheadHasHalfOfACallsTime) {
  const Table table = Open(kFormula);
  const absl::Time begin = absl::Now();
  ASSERT_TRUE(table.Decode().Next<double>().ok());
  ASSERT_EQ(fake_->ahead().size(), 1U);
  const absl::Duration given = fake_->ahead()[0].limits.deadline - begin;
  EXPECT_GT(given, absl::Seconds(4));
  EXPECT_LT(given, absl::Seconds(8));
}

TEST_F(CursorTest, ALongPrefillLeavesTheBlocksAlone) {
  const Table table = Open(kFormula);
  ASSERT_TRUE(table.Decode(5).Next<double>().ok());
  std::vector<double> prompt(5000 * 256);
  ASSERT_TRUE(table.ReadInto(0, 5000, absl::MakeSpan(prompt)).ok());
  const std::int64_t misses = client_->counters().block_misses;
  Cursor cursor = table.Decode(5);
  ASSERT_TRUE(cursor.Next<double>().ok());
  EXPECT_EQ(client_->counters().block_misses, misses);
  Cursor decode = table.Decode(5000);
  EXPECT_EQ(decode.Next<double>()->front(), 5000);
}

TEST_F(CursorTest, WhatComputesHereDoesNotReadAhead) {
  const Table table = Open(kFormula);
  fake_->reads_ahead = false;
  Cursor cursor = table.Decode();
  for (std::int64_t p = 0; p < 100; ++p) ASSERT_TRUE(cursor.Next<double>().ok());
  EXPECT_TRUE(fake_->ahead().empty());
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
  EXPECT_EQ(fake_->ahead().size(), 1U);
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
  // 16 KiB a row: 16 rows, though four would be 64 KiB.
  ASSERT_TRUE(Open(Sinusoidal{.width = 2048}).Decode(1 << 20).Next<double>().ok());
  EXPECT_EQ(fake_->reads().at(0).count, 16);
}

}  // namespace
}  // namespace phasor
