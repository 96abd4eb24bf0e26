#include "server/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace phasor::server {
namespace {

std::int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(AlignedBytes, AreAlignedWhateverTheirSize) {
  for (const std::int64_t size : {0, 1, 80, 32767, 32768, 65536, 100'000, 3'000'000}) {
    const AlignedBytes bytes(size);
    ASSERT_EQ(bytes.span().size(), static_cast<std::size_t>(size));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.span().data()) % 64, 0u) << size;
    EXPECT_GE(AlignedBytes::Footprint(size), size);
    std::memset(bytes.span().data(), 1, bytes.span().size());
  }
}

TEST(AlignedBytes, ThatAreGivenBackAmongOthersAreGivenBackToTheSystem) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  constexpr int kPieces = 2048;
  std::vector<std::unique_ptr<AlignedBytes>> pieces;
  for (int i = 0; i < kPieces; ++i) {
    pieces.push_back(std::make_unique<AlignedBytes>(65536));
    std::memset(pieces.back()->span().data(), 1, 65536);
  }
  const std::int64_t with_all = ResidentBytes();
  for (int i = 0; i < kPieces; i += 2) pieces[static_cast<std::size_t>(i)].reset();
  EXPECT_LT(ResidentBytes(), with_all - 48 * kMebibyte);  // of 64
  EXPECT_EQ(pieces[1]->span()[65535], std::byte{1});
}

// Pieces of another size do not pile up beside those that wait for their like.
TEST(AlignedBytes, ThatNobodyWantsAgainAreNotKept) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  const std::int64_t before = ResidentBytes();
  for (std::int64_t pages = 8; pages < 512; ++pages) {
    const AlignedBytes bytes(pages * 4096);
    std::memset(bytes.span().data(), 1, bytes.span().size());
  }
  EXPECT_LT(ResidentBytes(), before + 16 * kMebibyte);  // of 506
}

}  // namespace
}  // namespace phasor::server
