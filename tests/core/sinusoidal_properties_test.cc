// What holds for sinusoidal tables as such, whatever the bits.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "phasor/core/local_table.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

// Elements as numbers.
std::vector<double> Numbers(const Sinusoidal& sinusoidal, ElementType type, std::int64_t start,
                            std::int64_t count) {
  const auto spec = CanonicalSpec::Create(TableSpec(sinusoidal, type));
  std::vector<std::byte> rows(count * spec->row_bytes());
  EXPECT_TRUE(LocalTable::Create(*spec)->ReadInto(start, count, absl::MakeSpan(rows)).ok());
  std::vector<double> numbers(count * spec->row_width());
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    numbers[k] = oracle::Value(type, oracle::Element(type, rows.data(), k));
  }
  return numbers;
}

TEST(SinusoidalPropertiesTest, EachPairLiesOnTheUnitCircle) {
  for (const ElementType type : kTypes) {
    const double half_unit = type == ElementType::kFloat64   ? 0x1p-54
                             : type == ElementType::kFloat32 ? 0x1p-25
                             : type == ElementType::kFloat16 ? 0x1p-12
                                                             : 0x1p-9;
    for (const std::int64_t start : {std::int64_t{-50}, std::int64_t{1} << 52}) {
      const std::vector<double> row = Numbers({.width = 128}, type, start, 100);
      for (std::size_t k = 0; k < row.size(); k += 2) {
        // Each of the two is off by half a unit in the last place at most.
        const double slack = 2 * half_unit * (std::abs(row[k]) + std::abs(row[k + 1])) + 0x1p-52;
        ASSERT_NEAR(row[k] * row[k] + row[k + 1] * row[k + 1], 1, slack);
      }
    }
  }
}

TEST(SinusoidalPropertiesTest, InnerProductsDependOnTheDistanceAlone) {
  const Sinusoidal spec{.width = 64};
  const oracle::Table oracle(spec);
  for (const std::int64_t k : {0, 1, 7, 1000}) {
    double want = 0;
    for (std::int64_t i = 0; i < 32; ++i) {
      oracle::Number cosine(128);
      oracle.Frequency(i, cosine.v);
      mpfr_mul_si(cosine.v, cosine.v, k, MPFR_RNDN);
      mpfr_cos(cosine.v, cosine.v, MPFR_RNDN);
      want += mpfr_get_d(cosine.v, MPFR_RNDN);
    }
    for (const std::int64_t p : {std::int64_t{0}, std::int64_t{-31}, std::int64_t{1} << 45}) {
      const std::vector<double> rows = Numbers(spec, ElementType::kFloat64, p, k + 1);
      double product = 0;
      for (std::int64_t c = 0; c < 64; ++c) product += rows[c] * rows[k * 64 + c];
      EXPECT_NEAR(product, want, 0x1p-46) << p << " " << k;
    }
  }
}

// The first position, if any, whose row an earlier one has too.
std::int64_t FirstCollision(ElementType type, std::int64_t count) {
  const auto spec = CanonicalSpec::Create(TableSpec(Sinusoidal{.width = 64}, type));
  const std::int64_t bytes = spec->row_bytes();
  std::vector<std::byte> rows(count * bytes);
  EXPECT_TRUE(LocalTable::Create(*spec)->ReadInto(0, count, absl::MakeSpan(rows)).ok());
  std::unordered_map<std::string, std::int64_t> seen;
  for (std::int64_t p = 0; p < count; ++p) {
    std::string row(reinterpret_cast<const char*>(rows.data() + p * bytes), bytes);
    if (!seen.emplace(std::move(row), p).second) return p;
  }
  return -1;
}

TEST(SinusoidalPropertiesTest, RowsOfDifferentPositionsDiffer) {
  constexpr std::int64_t kRows = 65536;
  EXPECT_EQ(FirstCollision(ElementType::kFloat32, kRows), -1);
  // Nothing promises this of 16 bits; what was met is recorded.
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16}) {
    RecordProperty("first_collision_" + std::string(ElementTypeName(type)),
                   std::to_string(FirstCollision(type, kRows)));
  }
}

}  // namespace
}  // namespace phasor
