// What tables say of their memory is what the heap says: caches bound themselves
// by it.

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "phasor/core/local_table.h"
#include "phasor/core/row_shift.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PHASOR_OTHER_HEAP 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PHASOR_OTHER_HEAP 1
#endif
#endif

namespace phasor {
namespace {

std::int64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

class MemoryBytesTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef PHASOR_OTHER_HEAP
    GTEST_SKIP() << "the heap is a sanitizer's";
#endif
  }
  // Within a twentieth, and the allocator's own bytes.
  static void ExpectHeap(std::int64_t said, std::int64_t held, std::int64_t spec_bytes,
                         const char* what) {
    EXPECT_NEAR(static_cast<double>(said), static_cast<double>(held),
                static_cast<double>(held) / 20 + 2000 + static_cast<double>(spec_bytes))
        << what;
  }
  static void ExpectTable(const TableSpec& spec, const char* what) {
    const CanonicalSpec canonical = *CanonicalSpec::Create(spec);
    LocalTable::Create(canonical);  // what is made once in a process
    const std::int64_t before = HeapBytes();
    const auto table = LocalTable::Create(canonical);
    ExpectHeap(table->memory_bytes(), HeapBytes() - before, 0, what);
  }
};

std::vector<double> Falling(std::int64_t pairs) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < pairs; ++i) {
    frequencies.push_back(1 / (1 + static_cast<double>(i)));
  }
  return frequencies;
}

TEST_F(MemoryBytesTest, OfTablesOfEveryType) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                 ElementType::kFloat16, ElementType::kBfloat16}) {
    for (const std::int64_t width : {2, 64, 512, 4096, 20000}) {
      ExpectTable(TableSpec(Sinusoidal{.width = width}, type), "sinusoidal");
    }
    ExpectTable(TableSpec(LearnedInit{.max_positions = 1000, .width = 64}, type), "learned");
  }
}

TEST_F(MemoryBytesTest, OfLaddersThatHoldSomethingForEachPair) {
  constexpr std::int64_t kPairs = 8192;
  ExpectTable(Sinusoidal{.width = 2 * kPairs, .ladder = ExplicitLadder{Falling(kPairs)}},
              "explicit");
  ExpectTable(Rotary{.width = 2 * kPairs, .scaling = ExplicitLadder{Falling(kPairs)}},
              "rotary, explicit");
  ExpectTable(Rotary{.width = 2 * kPairs,
                     .scaling = LongRopeScaling{.short_factor = std::vector<double>(kPairs, 1.5),
                                                .long_factor = std::vector<double>(kPairs, 2.5),
                                                .original_max_position_embeddings = 4096,
                                                .sequence_length = 8192,
                                                .factor = 4}},
              "longrope");
}

// What makes rows fast is bounded for the widest tables too: a few tens of rows of them.
TEST_F(MemoryBytesTest, TheWidestTablesHoldLittle) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    const auto table =
        LocalTable::Create(*CanonicalSpec::Create(TableSpec(Sinusoidal{.width = kMaxWidth}, type)));
    EXPECT_LT(table->memory_bytes(), std::int64_t{48} << 20) << ElementTypeName(type);
  }
}

TEST_F(MemoryBytesTest, OfShiftsAtMostWhatTheySay) {
  for (const std::int64_t width : {2, 512, 8192}) {
    const CanonicalSpec spec = *CanonicalSpec::Create(Sinusoidal{.width = width});
    const std::vector<std::byte> rows(static_cast<std::size_t>(spec.row_bytes()));
    std::vector<std::byte> out(rows.size());
    const std::int64_t before = HeapBytes();
    RowShift shift = *RowShift::Create(spec, ShiftBy(0.5));
    ASSERT_TRUE(shift.Apply(rows, absl::MakeSpan(out), 0, NeverStop).ok());
    const std::int64_t held = HeapBytes() - before;
    EXPECT_LE(held, shift.memory_bytes() + 2000) << width;
    EXPECT_GE(2 * held + 2000, shift.memory_bytes()) << width;
  }
}

}  // namespace
}  // namespace phasor
