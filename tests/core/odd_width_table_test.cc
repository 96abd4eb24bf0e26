#include "core/odd_width_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace phasor {
namespace {

std::shared_ptr<const LocalTable> Open(TableSpec spec) {
  auto canonical = CanonicalSpec::Create(std::move(spec));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return LocalTable::Create(*std::move(canonical));
}

std::vector<std::byte> Read(const LocalTable& table, std::int64_t start, std::int64_t count) {
  std::vector<std::byte> out(count * table.spec().row_bytes());
  const absl::Status status = table.ReadInto(start, count, absl::MakeSpan(out));
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

TEST(OddWidthTableTest, RowsOfManyPiecesAreThoseOfTheEvenTable) {
  constexpr std::int64_t kRows = 3000;  // ten pieces
  const auto odd = Open({Sinusoidal{.width = 33,
                                    .ladder = InclusiveLadder{},
                                    .layout = Layout::kSinCosHalves,
                                    .odd_column = OddColumn::kZero},
                         ElementType::kFloat64});
  const auto even =
      Open({Sinusoidal{.width = 32, .ladder = InclusiveLadder{}, .layout = Layout::kSinCosHalves},
            ElementType::kFloat64});
  const std::vector<std::byte> rows = Read(*odd, -1000, kRows);
  const std::vector<std::byte> want = Read(*even, -1000, kRows);
  std::vector<std::int64_t> positions(kRows);
  std::iota(positions.begin(), positions.end(), -1000);
  std::vector<std::byte> gathered(rows.size());
  ASSERT_TRUE(odd->GatherInto(positions, absl::MakeSpan(gathered)).ok());
  EXPECT_TRUE(gathered == rows);
  const std::vector<double> real(positions.begin(), positions.end());
  ASSERT_TRUE(odd->GatherInto(real, absl::MakeSpan(gathered)).ok());
  EXPECT_TRUE(gathered == rows);
  for (std::int64_t row = 0; row < kRows; ++row) {
    const std::byte* at = rows.data() + row * 33 * 8;
    ASSERT_EQ(std::memcmp(at, want.data() + row * 32 * 8, 32 * 8), 0) << row;
    double last = 1;
    std::memcpy(&last, at + 32 * 8, 8);
    ASSERT_EQ(last, 0) << row;
  }
}

TEST(OddWidthTableTest, ARowOfTheWidestTableIsOnePiece) {
  const auto table =
      Open({Sinusoidal{.width = 65535, .odd_column = OddColumn::kSine}, ElementType::kFloat64});
  const std::vector<std::byte> two = Read(*table, 7, 2);
  EXPECT_TRUE(std::vector<std::byte>(two.begin() + 65535 * 8, two.end()) == Read(*table, 8, 1));
}

TEST(OddWidthTableTest, ACallStopsWhenItIsAsked) {
  const auto table = Open(Timestep{.width = 4097, .downscale_freq_shift = 0});
  std::vector<std::byte> out(1000 * table->spec().row_bytes());
  int questions = 0;
  const auto stop = [&] { return ++questions > 2; };
  EXPECT_EQ(table->ReadInto(0, 1000, absl::MakeSpan(out), stop).code(),
            absl::StatusCode::kCancelled);
  EXPECT_LT(questions, 10);
  EXPECT_TRUE(Read(*table, 0, 0).empty());
}

TEST(OddWidthTableTest, HoldsWhatItStandsOn) {
  const auto odd = Open(Sinusoidal{.width = 513, .odd_column = OddColumn::kZero});
  EXPECT_GT(odd->memory_bytes(), Open(Sinusoidal{.width = 512})->memory_bytes());
}

}  // namespace
}  // namespace phasor
