#include "phasor/core/no_position.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

CanonicalSpec Checked(const NoPosition& spec, ElementType type = ElementType::kFloat32) {
  auto canonical = CanonicalSpec::Create(TableSpec(spec, type));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return *std::move(canonical);
}

std::uint64_t One(ElementType type) {
  oracle::Number one(8);
  mpfr_set_ui(one.v, 1, MPFR_RNDN);
  return oracle::Round(type, one.v);
}

TEST(NoPositionTest, RowsAreTheIdentityInEveryLayoutAndAtEveryPosition) {
  constexpr std::int64_t kFar = kMaxPosition;
  const std::vector<double> positions = {0, -0.5, 1e-300, 0x1p53, -7};
  for (int n = 0; n < 8; ++n) {
    const auto layout = static_cast<Layout>(n);
    for (const ElementType type : kTypes) {
      const auto table = LocalTable::Create(Checked({.width = 10, .layout = layout}, type));
      const std::int64_t row_width = RowWidth(layout, 10);
      ASSERT_EQ(table->spec().row_width(), row_width);
      const auto expect = [&](const std::vector<std::byte>& rows, std::int64_t count) {
        for (std::int64_t k = 0; k < count * row_width; ++k) {
          const bool sine = oracle::PlaceOf(layout, 5, k % row_width).sine;
          ASSERT_EQ(oracle::Element(type, rows.data(), k), sine ? 0 : One(type)) << n << " " << k;
        }
      };
      std::vector<std::byte> rows(5 * table->spec().row_bytes());
      for (const std::int64_t start : {-kFar, std::int64_t{-2}, std::int64_t{65536}, kFar - 4}) {
        ASSERT_TRUE(table->ReadInto(start, 5, absl::MakeSpan(rows)).ok());
        expect(rows, 5);
      }
      ASSERT_TRUE(table->GatherInto(positions, absl::MakeSpan(rows)).ok());
      expect(rows, 5);
    }
  }
}

TEST(NoPositionTest, AdditiveRowsAreZeros) {
  const std::vector<double> positions = {0.5, 0x1p53};
  for (const ElementType type : kTypes) {
    const auto table = LocalTable::Create(Checked({.width = 7, .additive = true}, type));
    const std::vector<std::byte> zeros(2 * table->spec().row_bytes());
    std::vector<std::byte> rows(zeros.size(), std::byte{0xff});
    ASSERT_TRUE(table->ReadInto(-1, 2, absl::MakeSpan(rows)).ok());
    EXPECT_EQ(rows, zeros);
    rows.assign(zeros.size(), std::byte{0xff});
    ASSERT_TRUE(table->GatherInto(positions, absl::MakeSpan(rows)).ok());
    EXPECT_EQ(rows, zeros);
    rows.assign(zeros.size(), std::byte{0xff});
    ASSERT_TRUE(table->GatherInto(std::vector<std::int64_t>{9, -9}, absl::MakeSpan(rows)).ok());
    EXPECT_EQ(rows, zeros);
  }
}

TEST(NoPositionTest, FrequenciesAreZeroAndAShiftChangesNothing) {
  const CanonicalSpec spec = Checked({.width = 4});
  EXPECT_EQ(*Frequencies(spec), (std::vector<double>{0, 0}));
  const std::vector<float> x = {1, -2, 3.5, 0};
  std::vector<float> y(4);
  const auto bytes = [](auto& v) {
    return absl::MakeSpan(reinterpret_cast<std::byte*>(const_cast<float*>(v.data())), 16);
  };
  ASSERT_TRUE(ShiftRows(spec, std::int64_t{12345}, bytes(x), bytes(y)).ok());
  EXPECT_EQ(x, y);
  const CanonicalSpec additive = Checked({.width = 4, .additive = true});
  EXPECT_EQ(FieldOf(Frequencies(additive).status()), "spec");
  EXPECT_EQ(FieldOf(ShiftRows(additive, std::int64_t{1}, bytes(x), bytes(y))), "spec");
}

void ExpectRefused(const NoPosition& spec, const std::string& field, const std::string& value) {
  const absl::Status status = CanonicalSpec::Create(spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(FieldOf(status), "spec.none." + field) << status;
  EXPECT_NE(std::string(status.message()).find(value), std::string::npos) << status;
}

TEST(NoPositionTest, WhatIsRefused) {
  for (const std::int64_t width : {-1, 0, 1, 7, 65537}) {
    ExpectRefused({.width = width}, "width", std::to_string(width));
  }
  for (const std::int64_t width : {-1, 0, 65537}) {
    ExpectRefused({.width = width, .additive = true}, "width", std::to_string(width));
  }
  ExpectRefused({.width = 4, .layout = static_cast<Layout>(9)}, "layout", "9");
  ExpectRefused({.width = 4, .layout = Layout::kCosOnly, .additive = true}, "layout", "COS_ONLY");
  EXPECT_TRUE(CanonicalSpec::Create(NoPosition{.width = 65536}).ok());
  EXPECT_TRUE(CanonicalSpec::Create(NoPosition{.width = 1, .additive = true}).ok());
}

}  // namespace
}  // namespace phasor
