#include "core/alibi_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "phasor/core/errors.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

CanonicalSpec Checked(const Alibi& spec, ElementType type) {
  auto canonical = CanonicalSpec::Create(TableSpec(spec, type));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return *std::move(canonical);
}

// The exponents m of MPT's gen_slopes, whose slopes are 1 / 2^m, in its order.
std::vector<double> ExponentsOf(const Alibi& spec) {
  const auto heads = static_cast<std::int64_t>(
      std::exp2(std::ceil(std::log2(static_cast<double>(spec.head_count)))));
  std::vector<double> all;
  for (std::int64_t k = 1; k <= heads; ++k) {
    all.push_back(static_cast<double>(k) * (spec.bias_max / static_cast<double>(heads)));
  }
  if (heads == spec.head_count) return all;
  std::vector<double> some;
  for (std::int64_t k = 1; k < heads; k += 2) some.push_back(all[k]);
  for (std::int64_t k = 0; k < heads; k += 2) some.push_back(all[k]);
  some.resize(spec.head_count);
  return some;
}

// The bias by 1200 bits; what is a binary number has fewer.
std::uint64_t Bias(const Alibi& spec, ElementType type, double exponent, double position) {
  if (position == 0) return 0;
  oracle::Number value(1200);
  mpfr_set_d(value.v, -exponent, MPFR_RNDN);
  mpfr_exp2(value.v, value.v, MPFR_RNDN);
  mpfr_mul_d(value.v, value.v, spec.form == AlibiForm::kDistance ? -std::abs(position) : position,
             MPFR_RNDN);
  return oracle::Round(type, value.v);
}

// bias_max of few bits, so that the exponents above are exact.
std::vector<Alibi> Specs() {
  std::vector<Alibi> specs;
  for (const std::int64_t heads : {1, 2, 3, 6, 8, 12, 16, 20, 71, 112}) {
    specs.push_back({.head_count = heads});
    specs.push_back({.head_count = heads, .form = AlibiForm::kKeyPosition});
  }
  specs.push_back({.head_count = 6, .bias_max = 16});
  specs.push_back({.head_count = 5, .bias_max = 0.75});
  specs.push_back({.head_count = 4, .bias_max = 0x1p-32});
  specs.push_back({.head_count = 7, .bias_max = 128, .form = AlibiForm::kKeyPosition});
  return specs;
}

TEST(AlibiTableTest, RowsAgreeWithTheOracle) {
  std::mt19937_64 random(8);
  for (const Alibi& spec : Specs()) {
    for (const ElementType type : kTypes) {
      const auto table = LocalTable::Create(Checked(spec, type));
      const std::vector<double> exponents = ExponentsOf(spec);
      const std::int64_t last = table->spec().last_position();
      ASSERT_EQ(table->spec().row_width(), spec.head_count);
      std::vector<double> positions = {0,
                                       1,
                                       -1,
                                       2049,
                                       4098,
                                       -6147,
                                       257,
                                       771,
                                       0x1p24 + 1,
                                       0x1p53,
                                       0.5,
                                       -1.0 / 3,
                                       1e-5,
                                       0x1p-24 * 3,
                                       0x1p-133 * 5,
                                       -0x1p-40,
                                       0x1p-149 * 3,
                                       1e-300,
                                       0x1p-1074,
                                       0x1p-1074 * 3};
      for (int n = 0; n < 20; ++n) {
        positions.push_back(
            std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 90)));
      }
      std::erase_if(positions, [&](double p) { return std::abs(p) > static_cast<double>(last); });
      std::vector<std::byte> rows(positions.size() * table->spec().row_bytes());
      ASSERT_TRUE(table->GatherInto(positions, absl::MakeSpan(rows)).ok());
      for (std::size_t n = 0; n < positions.size(); ++n) {
        for (std::int64_t k = 0; k < spec.head_count; ++k) {
          ASSERT_EQ(oracle::Element(type, rows.data(),
                                    static_cast<std::int64_t>(n) * spec.head_count + k),
                    Bias(spec, type, exponents[k], positions[n]))
              << ElementTypeName(type) << " " << spec.head_count << " heads, bias_max "
              << spec.bias_max << ", position " << positions[n] << ", head " << k;
        }
      }
      for (const std::int64_t start : {std::int64_t{-30}, std::int64_t{2000}, last - 59, -last}) {
        std::vector<std::byte> range(60 * table->spec().row_bytes());
        std::vector<std::int64_t> same;
        for (std::int64_t r = 0; r < 60; ++r) same.push_back(start + r);
        ASSERT_TRUE(table->ReadInto(start, 60, absl::MakeSpan(range)).ok());
        for (std::int64_t r = 0; r < 60; r += 7) {
          for (std::int64_t k = 0; k < spec.head_count; ++k) {
            ASSERT_EQ(oracle::Element(type, range.data(), r * spec.head_count + k),
                      Bias(spec, type, exponents[k], static_cast<double>(start + r)))
                << ElementTypeName(type) << " " << spec.head_count << " heads, row " << start + r
                << ", head " << k;
          }
        }
        std::vector<std::byte> gathered(range.size());
        ASSERT_TRUE(table->GatherInto(same, absl::MakeSpan(gathered)).ok());
        EXPECT_EQ(gathered, range);
      }
    }
  }
}

TEST(AlibiTableTest, TiesGoToEven) {
  // The steepest of 8 heads is 1/2: odd multiples of half the last place.
  const auto element = [](ElementType type, double position) {
    const auto table =
        LocalTable::Create(Checked({.head_count = 8, .form = AlibiForm::kKeyPosition}, type));
    std::vector<std::byte> row(table->spec().row_bytes());
    EXPECT_TRUE(table->GatherInto({&position, 1}, absl::MakeSpan(row)).ok());
    return oracle::Value(type, oracle::Element(type, row.data(), 0));
  };
  EXPECT_EQ(element(ElementType::kFloat16, 4098), 2048);  // 2049
  EXPECT_EQ(element(ElementType::kFloat16, 4102), 2052);  // 2051
  EXPECT_EQ(element(ElementType::kBfloat16, 514), 256);   // 257
  EXPECT_EQ(element(ElementType::kBfloat16, 518), 260);   // 259
  EXPECT_EQ(element(ElementType::kFloat32, 2 * (0x1p24 + 1)), 0x1p24);
  EXPECT_EQ(element(ElementType::kFloat32, 2 * (0x1p24 + 3)), 0x1p24 + 4);
  EXPECT_EQ(element(ElementType::kFloat64, 0x1p-1074), 0);
  EXPECT_EQ(element(ElementType::kFloat64, 3 * 0x1p-1074), 2 * 0x1p-1074);
}

TEST(AlibiTableTest, PowersOfTwoAreNeverInDoubt) {
  for (const ElementType type : kTypes) {
    const auto table =
        LocalTable::Create(Checked({.head_count = 8, .form = AlibiForm::kKeyPosition}, type));
    // Halved, midpoints of BFLOAT16, FLOAT16 and FLOAT32 among them.
    std::vector<double> positions = {1, 513, 514, 4097, 4098};
    if (type != ElementType::kFloat16) {
      positions.insert(positions.end(), {0x1p24 + 1, 2 * (0x1p24 + 1)});
    }
    std::vector<std::byte> rows(positions.size() * table->spec().row_bytes());
    ASSERT_TRUE(table->GatherInto(positions, absl::MakeSpan(rows)).ok());
    EXPECT_EQ(table->settled_elements(), 0);
    EXPECT_EQ(table->costly_elements(), 0);
  }
}

TEST(AlibiTableTest, ZerosHaveTheSignOfWhatWasRounded) {
  for (const ElementType type : kTypes) {
    const auto table = LocalTable::Create(Checked({.head_count = 2}, type));
    std::vector<std::byte> rows(2 * table->spec().row_bytes());
    const std::vector<double> positions = {-0.0, 0x1p-1074};
    ASSERT_TRUE(table->GatherInto(positions, absl::MakeSpan(rows)).ok());
    EXPECT_EQ(oracle::Element(type, rows.data(), 0), 0U);
    EXPECT_EQ(oracle::Element(type, rows.data(), 2),
              std::uint64_t{1} << (8 * ElementBytes(type) - 1));
  }
}

TEST(AlibiTableTest, RowsThatWouldHoldAnInfinityDoNotExist) {
  // 65520 is what rounds to an infinity of FLOAT16 first.
  const auto last = [](const Alibi& spec) {
    return Checked(spec, ElementType::kFloat16).last_position();
  };
  EXPECT_EQ(last({.head_count = 1}), 65520 * 256 - 1);
  EXPECT_EQ(last({.head_count = 8}), 65520 * 2 - 1);
  EXPECT_EQ(last({.head_count = 16}), 92659);  // 65520 * sqrt(2) = 92659.27...
  EXPECT_EQ(last({.head_count = 1, .bias_max = 128}), kMaxPosition);
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat64, ElementType::kBfloat16}) {
    EXPECT_EQ(Checked({.head_count = 16}, type).last_position(), kMaxPosition);
  }
  const CanonicalSpec spec = Checked({.head_count = 6}, ElementType::kFloat16);
  const auto table = LocalTable::Create(spec);
  ASSERT_EQ(spec.last_position(), 131039);
  ASSERT_EQ(spec.first_position(), -131039);
  std::vector<std::byte> row(spec.row_bytes());
  ASSERT_TRUE(table->ReadInto(131039, 1, absl::MakeSpan(row)).ok());
  EXPECT_EQ(
      oracle::Value(ElementType::kFloat16, oracle::Element(ElementType::kFloat16, row.data(), 4)),
      -65504);
  const std::vector<double> half = {131039.5};
  const std::vector<std::int64_t> next = {-131040};
  for (const absl::Status& status : {table->ReadInto(131040, 1, absl::MakeSpan(row)),
                                     table->GatherInto(half, absl::MakeSpan(row)),
                                     table->GatherInto(next, absl::MakeSpan(row))}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
    EXPECT_NE(status.message().find("column 4 of row 131040 would round to an infinity"),
              absl::string_view::npos)
        << status;
  }
}

TEST(AlibiTableTest, HasNeitherFrequenciesNorShifts) {
  const CanonicalSpec spec = Checked({.head_count = 4}, ElementType::kFloat32);
  EXPECT_EQ(spec.pairs(), 0);
  EXPECT_EQ(spec.attention_factor(), std::nullopt);
  EXPECT_FALSE(spec.bounded());
  EXPECT_EQ(FieldOf(Frequencies(spec).status()), "spec");
  std::vector<std::byte> row(spec.row_bytes());
  const absl::Status status = ShiftRows(spec, std::int64_t{1}, row, absl::MakeSpan(row));
  EXPECT_EQ(FieldOf(status), "spec");
  EXPECT_NE(status.message().find("alibi"), absl::string_view::npos) << status;
}

void ExpectRefused(const Alibi& spec, const std::string& field, const std::string& value) {
  const absl::Status status = CanonicalSpec::Create(spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(FieldOf(status), "spec.alibi." + field) << status;
  EXPECT_NE(std::string(status.message()).find(value), std::string::npos) << status;
}

TEST(AlibiTableTest, WhatIsRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t heads : {-1, 0, 65537}) {
    ExpectRefused({.head_count = heads}, "head_count", std::to_string(heads));
  }
  for (const double most : {0.0, -8.0, kNan, std::nextafter(128.0, 200.0), 0x1.fffffp-33}) {
    ExpectRefused({.head_count = 8, .bias_max = most}, "bias_max", "");
  }
  ExpectRefused({.head_count = 8, .form = static_cast<AlibiForm>(5)}, "form", "5");
  for (const Alibi& spec : Specs()) EXPECT_TRUE(CanonicalSpec::Create(spec).ok());
  EXPECT_TRUE(CanonicalSpec::Create(Alibi{.head_count = 65536}).ok());
}

}  // namespace
}  // namespace phasor
