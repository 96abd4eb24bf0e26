#include "core/power_product.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace phasor {
namespace {

bool IsOne(std::initializer_list<std::pair<mpq_class, std::int64_t>> powers) {
  PowerProduct product;
  for (const auto& [base, exponent] : powers) product.Multiply(base, exponent);
  return product.IsOne();
}

TEST(PowerProductTest, RelationsAreFound) {
  EXPECT_TRUE(IsOne({}));
  EXPECT_TRUE(IsOne({{1, 5}}));
  EXPECT_TRUE(IsOne({{7, 0}}));
  EXPECT_TRUE(IsOne({{4, 3}, {8, -2}}));
  EXPECT_TRUE(IsOne({{6, 2}, {4, -1}, {9, -1}}));
  EXPECT_TRUE(IsOne({{mpq_class(2, 3), 4}, {mpq_class(9, 4), 2}}));
  EXPECT_TRUE(IsOne({{36, 1}, {10, 2}, {15, -2}, {16, -1}}));
  // Exponents whose powers nobody could write down.
  EXPECT_TRUE(IsOne({{10000, std::int64_t{1} << 40}, {100, -(std::int64_t{1} << 41)}}));
}

TEST(PowerProductTest, WhatIsNoRelationIsNone) {
  EXPECT_FALSE(IsOne({{2, 1}}));
  EXPECT_FALSE(IsOne({{4, 3}, {8, -3}}));
  EXPECT_FALSE(IsOne({{6, 2}, {4, -1}, {9, 1}}));
  EXPECT_FALSE(IsOne({{2, 19}, {3, -12}}));    // a comma of 1.4 %
  EXPECT_FALSE(IsOne({{2, 485}, {3, -306}}));  // and of 0.1 %
  EXPECT_FALSE(IsOne({{10000, std::int64_t{1} << 40}, {100, -(std::int64_t{1} << 41) - 1}}));
}

}  // namespace
}  // namespace phasor
