#include "core/row_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tests/core/vector_targets.h"

namespace phasor {
namespace {

constexpr std::byte kGuard{0xa5};

// Writes `rows` rows of random bytes to `offset` bytes past the beginning of a
// line, copying `lines` of those behind before each row, and expects them there
// with nothing changed around them.
void ExpectRows(std::int64_t row_bytes, std::int64_t rows, std::int64_t offset, bool past_caches,
                std::int64_t lines) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << row_bytes << " at " << offset
                                  << (past_caches ? ", past the caches, " : ", ") << lines);
  std::mt19937_64 random(static_cast<std::uint64_t>(row_bytes * 1000 + offset));
  std::vector<std::byte> want(rows * row_bytes);
  for (std::byte& b : want) b = static_cast<std::byte>(random());
  std::vector<std::byte> memory(want.size() + 4 * kLineBytes, kGuard);
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.data()) %
                                              static_cast<std::uintptr_t>(kLineBytes));
  std::byte* const out = memory.data() + 2 * kLineBytes - past + offset;
  RowWriter writer(out, row_bytes, past_caches);
  for (std::int64_t r = 0; r < rows; ++r) {
    LineCopy& behind = writer.behind();
    const std::int64_t copied = std::min(lines, behind.lines);
    if (copied > 0) {
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(behind.to) % kLineBytes, 0u);
      std::memcpy(behind.to, behind.from, copied * kLineBytes);
      behind.from += copied * kLineBytes;
      behind.to += copied * kLineBytes;
      behind.lines -= copied;
    }
    std::memcpy(writer.row(), want.data() + r * row_bytes, row_bytes);
    writer.Next();
  }
  writer.Finish();
  ASSERT_TRUE(std::equal(want.begin(), want.end(), out));
  const auto is_guard = [](std::byte b) { return b == kGuard; };
  ASSERT_TRUE(std::all_of(memory.data(), out, is_guard));
  ASSERT_TRUE(std::all_of(out + want.size(), memory.data() + memory.size(), is_guard));
}

TEST(RowWriterTest, RowsOfEverySizeAtEveryAlignment) {
  ForEachVectorTarget([] {
    for (const std::int64_t row_bytes : {1, 2, 4, 12, 62, 63, 64, 65, 128, 200, 1000, 2048}) {
      for (const std::int64_t rows : {0, 1, 2, 3, 64, 131}) {
        for (const std::int64_t offset : {0, 1, 8, 16, 48, 63}) {
          for (const std::int64_t lines : {0, 1, 1000}) {
            ExpectRows(row_bytes, rows, offset, /*past_caches=*/true, lines);
            if (HasFatalFailure()) return;
          }
          ExpectRows(row_bytes, rows, offset, /*past_caches=*/false, 0);
          if (HasFatalFailure()) return;
        }
      }
    }
  });
}

}  // namespace
}  // namespace phasor
