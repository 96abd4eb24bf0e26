#include "core/layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr int kLayouts = 8;

// The rows of three pairs, written down by hand: sines are 1 2 3, cosines 11 12 13.
const std::map<Layout, std::vector<int>>& WrittenDown() {
  static const std::map<Layout, std::vector<int>> rows = {
      {Layout::kSinCosInterleaved, {1, 11, 2, 12, 3, 13}},
      {Layout::kSinCosHalves, {1, 2, 3, 11, 12, 13}},
      {Layout::kCosSinHalves, {11, 12, 13, 1, 2, 3}},
      {Layout::kCosSinInterleaved, {11, 1, 12, 2, 13, 3}},
      {Layout::kCosSinDuplicatedHalves, {11, 12, 13, 11, 12, 13, 1, 2, 3, 1, 2, 3}},
      {Layout::kCosSinDuplicatedPairs, {11, 11, 12, 12, 13, 13, 1, 1, 2, 2, 3, 3}},
      {Layout::kCosOnly, {11, 12, 13}},
      {Layout::kSinOnly, {1, 2, 3}}};
  return rows;
}

template <typename Bits>
class LayoutTest : public ::testing::Test {
 protected:
  const std::vector<Bits> sines_ = {1, 2, 3};
  const std::vector<Bits> cosines_ = {11, 12, 13};
  // At an odd address: rows need no alignment.
  std::vector<std::byte> Place(Layout layout) {
    const std::size_t size = WrittenDown().at(layout).size() * sizeof(Bits);
    std::vector<std::byte> padded(size + 1);
    PlaceRow(layout, 3, sines_.data(), cosines_.data(), padded.data() + 1);
    return {padded.begin() + 1, padded.end()};
  }
  static std::vector<int> Numbers(const std::vector<std::byte>& row) {
    std::vector<Bits> bits(row.size() / sizeof(Bits));
    std::memcpy(bits.data(), row.data(), row.size());
    return {bits.begin(), bits.end()};
  }
};

using Widths = ::testing::Types<std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(LayoutTest, Widths);

TYPED_TEST(LayoutTest, RowsAreAsWrittenDown) {
  ASSERT_EQ(WrittenDown().size(), static_cast<std::size_t>(kLayouts));
  for (const auto& [layout, row] : WrittenDown()) {
    EXPECT_EQ(this->Numbers(this->Place(layout)), row) << LayoutName(layout);
    EXPECT_EQ(static_cast<std::int64_t>(row.size()), RowWidth(layout, 6)) << LayoutName(layout);
  }
}

TYPED_TEST(LayoutTest, OddRowsAreAsWrittenDown) {
  const std::map<Layout, std::vector<int>> one_sine_more = {
      {Layout::kSinCosInterleaved, {1, 11, 2, 12, 3}},
      {Layout::kSinCosHalves, {1, 2, 3, 11, 12}},
      {Layout::kCosSinHalves, {11, 12, 1, 2, 3}},
      {Layout::kCosSinInterleaved, {11, 1, 12, 2, 3}}};
  for (const auto& [layout, row] : one_sine_more) {
    const std::vector<std::byte> even = this->Place(layout);
    std::vector<std::byte> odd(5 * sizeof(TypeParam));
    PlaceOddRow(layout, 3, OddColumn::kSine, sizeof(TypeParam), even.data(), odd.data());
    EXPECT_EQ(this->Numbers(odd), row) << LayoutName(layout);
    std::vector<std::byte> wide(7 * sizeof(TypeParam), std::byte{0xff});
    PlaceOddRow(layout, 3, OddColumn::kZero, sizeof(TypeParam), even.data(), wide.data());
    std::vector<int> with_zero = WrittenDown().at(layout);
    with_zero.push_back(0);
    EXPECT_EQ(this->Numbers(wide), with_zero) << LayoutName(layout);
  }
}

TYPED_TEST(LayoutTest, TakingUndoesPlacing) {
  for (const auto& [layout, row] : WrittenDown()) {
    if (!HoldsBoth(layout)) continue;
    const std::vector<std::byte> placed = this->Place(layout);
    std::vector<TypeParam> sines(3);
    std::vector<TypeParam> cosines(3);
    EXPECT_EQ(TakeRow(layout, 3, placed.data(), sines.data(), cosines.data()), std::nullopt);
    EXPECT_EQ(sines, this->sines_) << LayoutName(layout);
    EXPECT_EQ(cosines, this->cosines_) << LayoutName(layout);
  }
}

TYPED_TEST(LayoutTest, CopiesThatDifferAreFound) {
  for (const Layout layout : {Layout::kCosSinDuplicatedHalves, Layout::kCosSinDuplicatedPairs}) {
    const std::vector<std::byte> placed = this->Place(layout);
    for (std::size_t column = 0; column < 12; ++column) {
      std::vector<std::byte> row = placed;
      row[column * sizeof(TypeParam)] ^= std::byte{0x80};
      std::vector<TypeParam> sines(3);
      std::vector<TypeParam> cosines(3);
      const auto differing = TakeRow(layout, 3, row.data(), sines.data(), cosines.data());
      // The second of the two copies is the one named.
      const oracle::Place changed = oracle::PlaceOf(layout, 3, column);
      ASSERT_TRUE(differing.has_value());
      const oracle::Place named = oracle::PlaceOf(layout, 3, *differing);
      EXPECT_EQ(named.pair, changed.pair);
      EXPECT_EQ(named.sine, changed.sine);
      EXPECT_NE(*differing, ColumnOf(layout, 3, named.pair, named.sine));
    }
  }
}

TEST(LayoutColumnTest, ColumnsAreWhereTheOraclePutsThem) {
  for (const auto& [layout, row] : WrittenDown()) {
    for (std::int64_t i = 0; i < 3; ++i) {
      for (const bool sine : {false, true}) {
        if (layout == Layout::kCosOnly && sine) continue;
        if (layout == Layout::kSinOnly && !sine) continue;
        EXPECT_EQ(row[ColumnOf(layout, 3, i, sine)], static_cast<int>(i) + (sine ? 1 : 11));
      }
    }
  }
}

}  // namespace
}  // namespace phasor
