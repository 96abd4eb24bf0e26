#include "core/seeded_table.h"

#include <mpfr.h>
#include <xmmintrin.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/core/errors.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

using oracle::Number;
using ::testing::ElementsAre;

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

// Output number `index` of the generator, by the closed form of its recurrence
// over powers of the step in 128-bit arithmetic: s_n = a^n s_0 + c (a^n - 1)/(a - 1).
std::uint32_t Output(std::int64_t seed, std::int64_t stream, std::uint64_t index) {
  __extension__ using Uint128 = unsigned __int128;
  constexpr std::uint64_t kMultiplier = 6364136223846793005u;
  const std::uint64_t increment = 2 * static_cast<std::uint64_t>(stream) + 1;
  // Seeding: from state 0 one step, the seed added, one step.
  std::uint64_t state = (increment + static_cast<std::uint64_t>(seed)) * kMultiplier + increment;
  // a^index - 1 over a - 1, exact where taken modulo (a - 1) 2^64.
  const Uint128 modulus = static_cast<Uint128>(kMultiplier - 1) << 64;
  const auto multiply = [&](Uint128 x, Uint128 y) {
    Uint128 product = 0;
    for (; y != 0; y >>= 1) {
      if ((y & 1) != 0) product = product >= modulus - x ? product - (modulus - x) : product + x;
      x = x >= modulus - x ? x - (modulus - x) : x + x;
    }
    return product;
  };
  Uint128 power = 1;
  Uint128 base = kMultiplier;
  for (std::uint64_t rest = index; rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) power = multiply(power, base);
    base = multiply(base, base);
  }
  state = state * static_cast<std::uint64_t>(power) +
          increment * static_cast<std::uint64_t>((power - 1) / (kMultiplier - 1));
  const auto mixed = static_cast<std::uint32_t>(((state >> 18) ^ state) >> 27);
  const unsigned rotation = static_cast<unsigned>(state >> 59);
  return (mixed >> rotation) | (mixed << ((32 - rotation) & 31));
}

// The element by its definition, to 300 bits and rounded by MPFR.
std::uint64_t Expected(const LearnedInit& init, ElementType type, std::int64_t row,
                       std::int64_t column) {
  const std::int64_t n = row * init.width + column;
  const auto couple = static_cast<std::uint64_t>(n / 2);
  Number u(300);
  Number angle(300);
  mpfr_set_ui(u.v, Output(init.seed, init.stream, 2 * couple), MPFR_RNDN);
  mpfr_add_d(u.v, u.v, 0.5, MPFR_RNDN);
  mpfr_div_2ui(u.v, u.v, 32, MPFR_RNDN);
  mpfr_log(u.v, u.v, MPFR_RNDN);
  mpfr_mul_si(u.v, u.v, -2, MPFR_RNDN);
  mpfr_sqrt(u.v, u.v, MPFR_RNDN);
  mpfr_const_pi(angle.v, MPFR_RNDN);
  mpfr_mul_ui(angle.v, angle.v,
              2 * std::uint64_t{Output(init.seed, init.stream, 2 * couple + 1)} + 1, MPFR_RNDN);
  mpfr_div_2ui(angle.v, angle.v, 32, MPFR_RNDN);
  (n % 2 == 0 ? mpfr_cos : mpfr_sin)(angle.v, angle.v, MPFR_RNDN);
  mpfr_mul(u.v, u.v, angle.v, MPFR_RNDN);
  mpfr_mul_d(u.v, u.v, init.stddev, MPFR_RNDN);
  return oracle::Round(type, u.v);
}

std::shared_ptr<const LocalTable> Open(LearnedInit init, ElementType type = ElementType::kFloat32) {
  return LocalTable::Create(*CanonicalSpec::Create({init, type}));
}

std::vector<std::byte> Read(const LocalTable& table, std::int64_t start, std::int64_t count) {
  std::vector<std::byte> rows(count * table.spec().row_bytes());
  const absl::Status status = table.ReadInto(start, count, absl::MakeSpan(rows));
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

std::vector<float> Floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void ExpectRows(const LearnedInit& init, ElementType type, std::int64_t start, std::int64_t count,
                std::int64_t column_step = 1) {
  const auto table = Open(init, type);
  const std::vector<std::byte> rows = Read(*table, start, count);
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t column = 0; column < init.width; column += column_step) {
      ASSERT_EQ(oracle::Element(type, rows.data(), row * init.width + column),
                Expected(init, type, start + row, column))
          << ElementTypeName(type) << " row " << start + row << " column " << column << " of "
          << table->spec().text();
    }
  }
}

TEST(SeededTableTest, OracleKnowsThePublishedOutputs) {
  const std::uint32_t published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                     0x83d2f293, 0xbfa4784b, 0xcbed606e};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Output(42, 54, i), published[i]) << i;
}

TEST(SeededTableTest, ElementsAreTheRoundedRealValues) {
  for (ElementType type : kTypes) {
    ExpectRows({.max_positions = 1000, .width = 64}, type, 0, 20);
    ExpectRows({.max_positions = 1000, .width = 7, .stddev = 1.0, .seed = 42, .stream = 54}, type,
               3, 60);
    ExpectRows({.max_positions = 1000, .width = 1, .stddev = 0.5, .seed = -1}, type, 500, 99);
  }
}

// The numbers of docs/seeded-init.md.
TEST(SeededTableTest, DocumentedValues) {
  const auto floats = [](const LearnedInit& init, std::int64_t row) {
    return Floats(Read(*Open(init), row, 1));
  };
  EXPECT_THAT(floats({.max_positions = 1, .width = 4}, 0),
              ElementsAre(0x1.fc807ap-10f, 0x1.305556p-7f, -0x1.4be666p-6f, 0x1.4a0cf6p-6f));
  EXPECT_THAT(floats({.max_positions = 2, .width = 4, .seed = 42, .stream = 54}, 1),
              ElementsAre(0x1.1fd5b6p-8f, -0x1.dd7fe8p-7f, -0x1.f1e7acp-7f, -0x1.d0811ap-12f));
  EXPECT_THAT(floats({.max_positions = 4,
                      .width = 3,
                      .stddev = 1.0,
                      .seed = -1,
                      .stream = std::numeric_limits<std::int64_t>::max()},
                     3),
              ElementsAre(0x1.9fc21ep-1f, 0x1.0810dcp-1f, 0x1.01464p-1f));
  EXPECT_THAT(
      floats({.max_positions = std::int64_t{1} << 31, .width = 3}, (std::int64_t{1} << 31) - 1),
      ElementsAre(-0x1.a3c16cp-7f, -0x1.16ac28p-9f, 0x1.b226bep-7f));
}

// Of these rows one element each is too near a midpoint for the estimate.
TEST(SeededTableTest, ElementsInDoubtAreSettled) {
  for (std::int64_t row : {16003, 66161, 90722}) {
    const LearnedInit init{.max_positions = 1 << 20, .width = 512};
    const auto table = Open(init);
    Read(*table, row, 1);
    EXPECT_EQ(table->settled_elements(), 1) << row;
    ExpectRows(init, ElementType::kFloat32, row, 1);
  }
}

TEST(SeededTableTest, RandomRowsOfRandomTables) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 40; ++i) {
    LearnedInit init;
    init.width = 1 + static_cast<std::int64_t>(random() % 65);
    init.max_positions = std::int64_t{1} << (random() % 50);
    init.stddev = std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000,
                             -static_cast<int>(random() % 20));
    init.seed = static_cast<std::int64_t>(random());
    init.stream = static_cast<std::int64_t>(random() >> 1);
    const auto row = static_cast<std::int64_t>(random() % init.max_positions);
    ExpectRows(init, kTypes[i % 4], row, 1);
  }
}

TEST(SeededTableTest, LastRowsOfHugeTables) {
  const std::int64_t rows = std::int64_t{1} << 31;
  for (ElementType type : kTypes) {
    ExpectRows({.max_positions = rows, .width = 768}, type, rows - 1, 1, 5);
    ExpectRows({.max_positions = rows, .width = 767}, type, rows - 2, 2, 7);
  }
  const std::int64_t most = std::int64_t{1} << 62;
  ExpectRows({.max_positions = most, .width = 1}, ElementType::kFloat64, most - 3, 3);
  ExpectRows({.max_positions = most / 65536, .width = 65536, .seed = 5}, ElementType::kFloat32,
             most / 65536 - 1, 1, 1021);
}

// Subnormal results, results that round to signed zeros, and the largest.
TEST(SeededTableTest, ExtremeStandardDeviations) {
  struct Case {
    ElementType type;
    std::vector<double> stddevs;
  };
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const Case& c : {
           Case{ElementType::kFloat64,
                {tiny, 3 * tiny, 0x1p-1060, 0x1.8p-1040, 0x1.1p-1023, 0x1.ffp-1022, 0x1p-1020,
                 0x1p-1000, 0x1.123456789abcdp-701, 0x1.1p-700, 0x1.1p700, 0x1.1p701,
                 2.6578524138592437e307}},
           Case{ElementType::kFloat32,
                {tiny, 0x1p-800, 0x1p-152, 0x1.1p-150, 0x1p-149, 0x1.7p-140, 0x1.3p-127, 1e-30,
                 5.031004824024076e37}},
           Case{ElementType::kFloat16,
                {tiny, 0x1p-27, 0x1.1p-25, 0x1.9p-24, 0x1.3p-20, 0x1.3p-15, 9686.99756253979}},
           Case{ElementType::kBfloat16,
                {tiny, 0x1p-136, 0x1.1p-134, 0x1.9p-133, 0x1.3p-130, 0x1.3p-127,
                 5.021178792369943e37}},
       }) {
    for (double stddev : c.stddevs) {
      ExpectRows({.max_positions = 100, .width = 33, .stddev = stddev, .seed = 3}, c.type, 10, 6);
    }
  }
}

TEST(SeededTableTest, NothingOverflowsAtTheLargestStddev) {
  // The seed's first outputs hardly matter: over many elements the largest
  // come near sqrt(-2 ln 2^-20).
  const LearnedInit init{.max_positions = 1 << 20, .width = 2, .stddev = 5.031004824024076e37};
  for (float value : Floats(Read(*Open(init), 0, 1 << 18))) ASSERT_TRUE(std::isfinite(value));
}

TEST(SeededTableTest, AnyRangeIsTheSameBytes) {
  for (std::int64_t width : {1, 2, 5, 8}) {
    const LearnedInit init{.max_positions = 50, .width = width, .seed = 9};
    for (ElementType type : kTypes) {
      const auto table = Open(init, type);
      const std::vector<std::byte> all = Read(*table, 0, 50);
      const std::int64_t row_bytes = table->spec().row_bytes();
      for (std::int64_t start = 49; start >= 0; --start) {
        for (std::int64_t count : {std::int64_t{1}, std::int64_t{2}, 50 - start}) {
          if (start + count > 50) continue;
          const std::vector<std::byte> part = Read(*table, start, count);
          EXPECT_EQ(std::memcmp(part.data(), all.data() + start * row_bytes, part.size()), 0)
              << "width " << width << " start " << start << " count " << count;
        }
      }
    }
  }
}

TEST(SeededTableTest, GatherGivesRowsInTheOrderAskedFor) {
  const auto table = Open({.max_positions = 50, .width = 5, .seed = 9});
  const std::vector<std::int64_t> positions = {49, 0, 7, 7, 6};
  std::vector<std::byte> rows(positions.size() * table->spec().row_bytes());
  ASSERT_TRUE(table->GatherInto(positions, absl::MakeSpan(rows)).ok());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::vector<std::byte> row = Read(*table, positions[i], 1);
    EXPECT_EQ(std::memcmp(row.data(), rows.data() + i * row.size(), row.size()), 0) << i;
  }
}

TEST(SeededTableTest, WhatIsPastTheEndIsRefusedWhole) {
  const auto table = Open({.max_positions = 10, .width = 4});
  std::vector<std::byte> rows(11 * table->spec().row_bytes(), std::byte{0x5a});
  const absl::Status past = table->ReadInto(0, 11, absl::MakeSpan(rows));
  EXPECT_EQ(past.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(FieldOf(past), "row_count");
  const absl::Status before = table->ReadInto(-1, 11, absl::MakeSpan(rows));
  EXPECT_EQ(before.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(FieldOf(before), "start_position");
  const std::vector<std::int64_t> positions = {0, 1, 10};
  const absl::Status gathered =
      table->GatherInto(positions, absl::MakeSpan(rows).subspan(0, 3 * table->spec().row_bytes()));
  EXPECT_EQ(gathered.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(FieldOf(gathered), "positions[2]");
  for (std::byte b : rows) ASSERT_EQ(b, std::byte{0x5a});
}

TEST(SeededTableTest, RealPositionsAreRefused) {
  const auto table = Open({.max_positions = 10, .width = 4});
  std::vector<std::byte> row(table->spec().row_bytes());
  const std::vector<double> positions = {1.0};
  const absl::Status status = table->GatherInto(positions, absl::MakeSpan(row));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status), "real_positions");
}

TEST(SeededTableTest, MeanAndVarianceOfAMillion) {
  for (double stddev : {0.02, 3.0}) {
    const auto table = Open({.max_positions = 1000, .width = 1000, .stddev = stddev, .seed = 1});
    const std::vector<float> values = Floats(Read(*table, 0, 1000));
    double sum = 0;
    double squares = 0;
    for (float value : values) {
      const double z = value / stddev;
      sum += z;
      squares += z * z;
    }
    const double n = 1e6;
    // Five standard deviations of the mean of n, and of their mean square.
    EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n)) << stddev;
    EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n)) << stddev;
  }
}

TEST(SeededTableTest, SeedsAndStreamsGiveOtherTables) {
  const LearnedInit init{.max_positions = 10, .width = 8};
  LearnedInit seed = init;
  seed.seed = 1;
  LearnedInit stream = init;
  stream.stream = 1;
  const std::vector<std::byte> rows = Read(*Open(init), 0, 10);
  EXPECT_NE(Read(*Open(seed), 0, 10), rows);
  EXPECT_NE(Read(*Open(stream), 0, 10), rows);
  EXPECT_NE(Read(*Open(stream), 0, 10), Read(*Open(seed), 0, 10));
}

TEST(SeededTableTest, CallersFloatingPointEnvironmentDoesNotMatter) {
  for (ElementType type : kTypes) {
    const LearnedInit init{.max_positions = 100, .width = 9, .stddev = 0x1p-130};
    const std::vector<std::byte> rows = Read(*Open(init, type), 0, 100);
    const unsigned before = _mm_getcsr();
    for (unsigned mode : {0x8040u, 0x2000u, 0x4000u, 0x6000u}) {  // FTZ+DAZ; down, up, to zero
      _mm_setcsr((before & ~0x6000u) | mode);
      const std::vector<std::byte> same = Read(*Open(init, type), 0, 100);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      EXPECT_EQ(same, rows) << ElementTypeName(type) << " mode " << mode;
      EXPECT_EQ(after & 0xe040u, mode);
    }
  }
}

TEST(SeededTableTest, FewerThanOneElementInAThousandIsSettled) {
  for (ElementType type : kTypes) {
    const auto table = Open({.max_positions = 1000, .width = 1000}, type);
    Read(*table, 0, 1000);
    EXPECT_LT(table->settled_elements(), 1000) << ElementTypeName(type);
    EXPECT_GT(table->memory_bytes(), 0);
  }
}

}  // namespace
}  // namespace phasor
