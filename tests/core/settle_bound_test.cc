// What strangers may ask for costs bounded work: no specification sends whole
// columns to arbitrary precision. Counted, not timed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/sinusoidal_table.h"
#include "core/stop_check.h"
#include "phasor/core/local_table.h"
#include "tests/core/hostile_specs.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/rotary.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

std::vector<Sinusoidal> HostileTables() {
  constexpr int kPairs = 52;
  std::vector<double> dyadic, odd, around_one, at_limits, pi_parts, hard;
  for (int i = 0; i < kPairs; ++i) {
    dyadic.push_back(std::ldexp(1.0, -64 + i));
    odd.push_back(std::ldexp(2.0 * i + 1, -64 + i % 20));
    // Cosines next to 1 - (2n + 1) 2^-54, at position 1.
    around_one.push_back(std::sqrt(2.0 * (i % 32) + 1) * std::sqrt(0x1p-53) + (i / 32) * 0x1p-79);
    at_limits.push_back(i % 2 == 0 ? 0x1p32 : -0x1p-64);
    pi_parts.push_back(std::ldexp(M_PI, -i));
    hard.push_back(0x1.8f273feb51132p-54);
  }
  std::vector<Sinusoidal> tables = {
      {.width = 104, .base = 0x1p52},
      {.width = 128, .base = 0x1p64},
      {.width = 100, .base = 0x1p64, .ladder = DownscaledLadder{49.5}},
      {.width = 104, .base = 0x1p52, .ladder = DownscaledLadder{50.0}},
  };
  for (const auto& frequencies : {dyadic, odd, around_one, at_limits, pi_parts, hard}) {
    tables.push_back({.width = 2 * kPairs, .ladder = ExplicitLadder{frequencies}});
  }
  return tables;
}

TEST(SettleBoundTest, HostileTablesAreExactWithoutArbitraryPrecision) {
  for (const Sinusoidal& sinusoidal : HostileTables()) {
    for (const ElementType type : kTypes) {
      const auto spec = CanonicalSpec::Create(TableSpec(sinusoidal, type));
      ASSERT_TRUE(spec.ok()) << spec.status();
      const auto table = LocalTable::Create(*spec);
      const oracle::Table want(sinusoidal, type);
      for (const std::int64_t start :
           {std::int64_t{0}, std::int64_t{255}, std::int64_t{1} << 24, std::int64_t{1} << 52,
            std::int64_t{6125798402428883}, -(std::int64_t{1} << 53)}) {
        constexpr std::int64_t kRows = 40;
        std::vector<std::byte> rows(kRows * table->spec().row_bytes());
        ASSERT_TRUE(table->ReadInto(start, kRows, absl::MakeSpan(rows)).ok());
        for (const std::int64_t row : {0, 1, 2, 33}) {
          for (std::int64_t i = 0; i < sinusoidal.width / 2; ++i) {
            const std::int64_t n = row * sinusoidal.width + 2 * i;
            ASSERT_EQ(oracle::Element(type, rows.data(), n), want.Sine(i, {start + row, 0}))
                << ElementTypeName(type) << " " << start + row << " " << i;
            ASSERT_EQ(oracle::Element(type, rows.data(), n + 1), want.Cosine(i, {start + row, 0}))
                << ElementTypeName(type) << " " << start + row << " " << i;
          }
        }
      }
      EXPECT_EQ(table->costly_elements(), 0) << ElementTypeName(type);
    }
  }
}

std::uint64_t Want(const TableSpec& spec, std::int64_t position, std::int64_t column) {
  if (const auto* rotary = std::get_if<Rotary>(&spec.scheme)) {
    return oracle::RotaryTable(*rotary, spec.element_type).Column({position}, column);
  }
  return oracle::Table(std::get<Sinusoidal>(spec.scheme), spec.element_type)
      .Column({position}, column);
}

// Reads a block of each hostile table. What was chosen to be next to midpoints, be it
// all of a row, is settled by double-double or by algebra.
template <ElementType kType>
void ExpectCheapStagesAlone() {
  double worst = 0;
  for (const HostileSpec& hostile : hostile::Specs(kType)) {
    SCOPED_TRACE(std::string(ElementTypeName(kType)) + ": " + hostile.name);
    const auto spec = CanonicalSpec::Create(hostile.spec);
    ASSERT_TRUE(spec.ok()) << spec.status();
    StopCheck never(NeverStop);
    const SinusoidalTable<kType> table(*spec, never);
    const std::int64_t rows = std::max<std::int64_t>(1, 65536 / spec->row_bytes());
    std::vector<std::byte> block(rows * spec->row_bytes());
    ASSERT_TRUE(table.ReadInto(hostile.start, rows, absl::MakeSpan(block)).ok());
    EXPECT_EQ(table.beyond_double_double(), 0);
    EXPECT_EQ(table.costly_elements(), 0);
    worst = std::max(worst, static_cast<double>(table.settled_elements()) /
                                static_cast<double>(rows * spec->row_width()));
    for (const std::int64_t row : {std::int64_t{0}, rows / 3, rows - 1}) {
      for (std::int64_t column = 0; column < spec->row_width();
           column += spec->row_width() / 40 + 1) {
        ASSERT_EQ(oracle::Element(kType, block.data() + row * spec->row_bytes(), column),
                  Want(spec->spec(), hostile.start + row, column))
            << row << " " << column;
      }
    }
  }
  // They are what they claim to be.
  EXPECT_GE(worst, 0.5);
}

TEST(SettleBoundTest, WhatIsPutNextToMidpointsEndsInTheCheapStages) {
  ExpectCheapStagesAlone<ElementType::kFloat32>();
  ExpectCheapStagesAlone<ElementType::kFloat64>();
  ExpectCheapStagesAlone<ElementType::kFloat16>();
  ExpectCheapStagesAlone<ElementType::kBfloat16>();
}

TEST(SettleBoundTest, TinyRealPositionsTakeNoArbitraryPrecision) {
  for (const ElementType type : kTypes) {
    const auto spec =
        CanonicalSpec::Create(TableSpec(Sinusoidal{.width = 128, .base = 0x1p64}, type));
    const auto table = LocalTable::Create(*spec);
    const std::vector<double> positions = {0x1p-1074,      -0x1.8p-1000,    0x1.0000000000001p-500,
                                           257 * 0x1p-200, 0x1.000001p-100, 1e-300};
    std::vector<std::byte> rows(positions.size() * table->spec().row_bytes());
    ASSERT_TRUE(table->GatherInto(positions, absl::MakeSpan(rows)).ok());
    EXPECT_EQ(table->costly_elements(), 0) << ElementTypeName(type);
  }
}

}  // namespace
}  // namespace phasor
