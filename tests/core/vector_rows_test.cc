// Rows made with every kind of vector that the machine has, against the plain version.

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/sinusoidal_table.h"
#include "core/stop_check.h"
#include "phasor/core/local_table.h"
#include "tests/core/plain_rows.h"
#include "tests/core/vector_targets.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace phasor {
namespace {

constexpr int kLayouts = 8;

CanonicalSpec SpecOf(const Sinusoidal& sinusoidal, ElementType type) {
  auto spec = CanonicalSpec::Create(TableSpec(sinusoidal, type));
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *std::move(spec);
}

// Rows at `offset` bytes from an aligned address, with guards before and behind.
std::vector<std::byte> ReadGuarded(const LocalTable& table, std::int64_t start, std::int64_t count,
                                   std::size_t offset) {
  constexpr std::byte kGuard{0xa5};
  constexpr std::size_t kAlignment = 64;
  const std::size_t bytes = count * table.spec().row_bytes();
  std::vector<std::byte> memory(bytes + 4 * kAlignment, kGuard);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::size_t first = kAlignment + (kAlignment - address % kAlignment) % kAlignment + offset;
  const absl::Status status =
      table.ReadInto(start, count, absl::MakeSpan(memory).subspan(first, bytes));
  EXPECT_TRUE(status.ok()) << status;
  const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
  const auto is_guard = [](std::byte b) { return b == kGuard; };
  EXPECT_TRUE(std::all_of(memory.begin(), begin, is_guard)) << offset;
  EXPECT_TRUE(std::all_of(end, memory.end(), is_guard)) << offset;
  return {begin, end};
}

template <typename Type>
class VectorRowsTest : public ::testing::Test {};
template <ElementType kValue>
struct TypeIs {
  static constexpr ElementType kType = kValue;
};
using Types = ::testing::Types<TypeIs<ElementType::kFloat32>, TypeIs<ElementType::kFloat64>,
                               TypeIs<ElementType::kFloat16>, TypeIs<ElementType::kBfloat16>>;
TYPED_TEST_SUITE(VectorRowsTest, Types);

TYPED_TEST(VectorRowsTest, EveryLayoutSizeAndAlignment) {
  constexpr ElementType kType = TypeParam::kType;
  // One pair, primes, whole vectors of every kind and one pair more.
  for (const std::int64_t pairs : {1, 2, 3, 5, 13, 31, 32, 33, 64, 65, 127}) {
    for (int layout = 0; layout < kLayouts; ++layout) {
      const CanonicalSpec spec =
          SpecOf({.width = 2 * pairs, .layout = static_cast<Layout>(layout)}, kType);
      // Across an anchor of a narrow table, and across position 0.
      struct Range {
        std::int64_t start;
        std::int64_t count;
      };
      for (const Range range : {Range{-3, 7}, Range{3900, 1}, Range{1000000, 2}}) {
        const std::vector<std::byte> want = PlainRows<kType>(spec).Read(range.start, range.count);
        ForEachVectorTarget([&] {
          const auto table = LocalTable::Create(spec);
          for (const std::size_t offset : {0, 1, 8, 16, 36}) {
            ASSERT_EQ(ReadGuarded(*table, range.start, range.count, offset), want)
                << pairs << " pairs, layout " << layout << ", row " << range.start << " at "
                << offset;
          }
        });
      }
    }
  }
}

std::vector<std::pair<std::string, Sinusoidal>> Specs() {
  return {{"paper", {.width = 66}},
          {"a zero row", {.width = 16, .position_offset = 2, .zero_row = 5}},
          {"power of two", {.width = 104, .base = 0x1p52}},
          {"vanishing", {.width = 60, .ladder = DownscaledLadder{29.5}}},
          {"explicit",
           {.width = 12,
            .ladder = ExplicitLadder{{0.0, 0x1.921fb54442d18p+1, 0x1p-64, -0x1p-64, 0x1p32, -1.37}},
            .layout = Layout::kCosSinDuplicatedPairs}}};
}

TYPED_TEST(VectorRowsTest, EveryKindOfLadderOverManyAnchors) {
  constexpr ElementType kType = TypeParam::kType;
  for (const auto& [name, sinusoidal] : Specs()) {
    SCOPED_TRACE(name);
    const CanonicalSpec spec = SpecOf(sinusoidal, kType);
    for (const std::int64_t start : {std::int64_t{-310}, std::int64_t{1} << 52}) {
      const std::vector<std::byte> want = PlainRows<kType>(spec).Read(start, 600);
      ForEachVectorTarget([&] {
        const auto table = LocalTable::Create(spec);
        ASSERT_EQ(ReadGuarded(*table, start, 600, 4), want) << start;
        // Alone, each is the same.
        for (const std::int64_t r : {0, 1, 299, 309, 310, 311, 599}) {
          const std::vector<std::byte> row = ReadGuarded(*table, start + r, 1, 0);
          ASSERT_EQ(std::memcmp(row.data(), want.data() + r * spec.row_bytes(), row.size()), 0)
              << start + r;
        }
      });
    }
  }
}

TYPED_TEST(VectorRowsTest, DoubtOfEveryElementChangesNothing) {
  constexpr ElementType kType = TypeParam::kType;
  for (const auto& [name, sinusoidal] : Specs()) {
    SCOPED_TRACE(name);
    const CanonicalSpec spec = SpecOf(sinusoidal, kType);
    const std::vector<std::byte> want = PlainRows<kType>(spec).Read(-40, 80);
    // All are settled but the exact row and, if there is one, the zero row.
    const std::int64_t settled = 78 * sinusoidal.width;
    ForEachVectorTarget([&] {
      StopCheck never(NeverStop);
      const SinusoidalTable<kType> table(spec, never, std::numeric_limits<double>::infinity());
      EXPECT_EQ(ReadGuarded(table, -40, 80, 0), want);
      EXPECT_GE(table.settled_elements(), settled);
    });
  }
}

// Large ranges are written past the caches, by whole lines: of rows that fill
// lines, and of those that begin and end within one.
TYPED_TEST(VectorRowsTest, LargeRangesAreTheSameRows) {
  constexpr ElementType kType = TypeParam::kType;
  for (int n = 0; n < 2 * kLayouts; ++n) {
    const auto layout = static_cast<Layout>(n % kLayouts);
    const CanonicalSpec spec = SpecOf({.width = n < kLayouts ? 512 : 330, .layout = layout}, kType);
    const std::int64_t count = (std::int64_t{5} << 20) / spec.row_bytes();
    std::vector<std::byte> want;
    const auto plain = LocalTable::Create(spec);
    for (std::int64_t r = 0; r < count; r += 100) {
      const auto part = ReadGuarded(*plain, r - 777, std::min<std::int64_t>(100, count - r), 0);
      want.insert(want.end(), part.begin(), part.end());
    }
    ForEachVectorTarget([&] {
      const auto table = LocalTable::Create(spec);
      for (const std::size_t offset : {0, 1, 16, 48}) {
        ASSERT_EQ(
            std::memcmp(ReadGuarded(*table, -777, count, offset).data(), want.data(), want.size()),
            0)
            << LayoutName(layout) << ", " << spec.row_width() << " columns, at " << offset;
      }
    });
  }
}

TYPED_TEST(VectorRowsTest, TheCallersFloatingPointEnvironmentChangesNothing) {
  constexpr ElementType kType = TypeParam::kType;
  // With subnormal elements.
  const CanonicalSpec spec =
      SpecOf({.width = 8, .ladder = ExplicitLadder{{0x1p-64, 0x1p-20, 0.3, 1}}}, kType);
  const std::vector<std::byte> want = PlainRows<kType>(spec).Read(-100, 200);
  ForEachVectorTarget([&] {
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
      ASSERT_EQ(std::fesetround(mode), 0);
      const auto rows = ReadGuarded(*LocalTable::Create(spec), -100, 200, 0);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(rows, want) << mode;
    }
#if defined(__SSE2__)
    const unsigned callers = _mm_getcsr();
    _mm_setcsr(callers | 0x8040);  // flush to zero, denormals are zero
    const auto rows = ReadGuarded(*LocalTable::Create(spec), -100, 200, 0);
    _mm_setcsr(callers);
    EXPECT_EQ(rows, want);
#endif
  });
}

}  // namespace
}  // namespace phasor
