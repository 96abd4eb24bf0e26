#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "phasor/core/local_table.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};
constexpr std::int64_t kFar = std::int64_t{1} << 53;

std::shared_ptr<const LocalTable> Open(const Sinusoidal& spec, ElementType type) {
  auto canonical = CanonicalSpec::Create(TableSpec(spec, type));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return LocalTable::Create(*std::move(canonical));
}

std::vector<std::byte> Read(const LocalTable& table, std::int64_t start, std::int64_t count) {
  std::vector<std::byte> out(count * table.spec().row_bytes());
  const absl::Status status = table.ReadInto(start, count, absl::MakeSpan(out));
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

template <typename Number>
std::vector<std::byte> Gather(const LocalTable& table, const std::vector<Number>& positions) {
  std::vector<std::byte> out(positions.size() * table.spec().row_bytes());
  const absl::Status status =
      table.GatherInto(absl::Span<const Number>(positions), absl::MakeSpan(out));
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

// Compares the row that starts at `row` with the oracle, every `step`-th column.
void ExpectRow(const oracle::Table& oracle, const LocalTable& table, const std::byte* row,
               oracle::Position p, std::int64_t step = 1, std::int64_t first = 0) {
  const ElementType type = table.spec().element_type();
  for (std::int64_t column = first; column < table.spec().row_width(); column += step) {
    ASSERT_EQ(oracle::Element(type, row, column), oracle.Column(p, column))
        << ElementTypeName(type) << " width " << oracle.spec().width << " row " << p.integer
        << " + " << p.fraction << " column " << column;
  }
}

struct Case {
  std::string name;
  Sinusoidal spec;
};

std::vector<Case> Cases() {
  std::vector<double> ramp;
  for (int i = 0; i < 24; ++i) ramp.push_back(std::ldexp(i % 2 == 0 ? 1.0 : -1.37, 32 - 4 * i));
  return {
      {"paper", {.width = 64}},
      {"paper narrow", {.width = 2}},
      {"power of two", {.width = 104, .base = 0x1p52}},
      {"largest base", {.width = 16, .base = 0x1p64}},
      {"least base", {.width = 8, .base = 1 + 0x1p-52}},
      {"rope", {.width = 128, .base = 500000.0, .layout = Layout::kCosSinDuplicatedHalves}},
      {"inclusive", {.width = 62, .ladder = InclusiveLadder{}, .layout = Layout::kSinCosHalves}},
      {"downscaled",
       {.width = 64, .ladder = DownscaledLadder{1.0}, .layout = Layout::kCosSinHalves}},
      {"vanishing", {.width = 60, .ladder = DownscaledLadder{29.5}}},
      {"vanishing by powers of two",
       {.width = 40, .base = 0x1p64, .ladder = DownscaledLadder{19.5}}},
      {"timescales", {.width = 16, .ladder = TimescaleLadder{3, 0x1p40}}},
      {"zero column",
       {.width = 33,
        .ladder = InclusiveLadder{},
        .layout = Layout::kSinCosHalves,
        .odd_column = OddColumn::kZero}},
      {"zero column, cosines first",
       {.width = 7, .layout = Layout::kCosSinInterleaved, .odd_column = OddColumn::kZero}},
      {"one sine more",
       {.width = 31, .layout = Layout::kSinCosHalves, .odd_column = OddColumn::kSine}},
      {"one sine more, cosines first",
       {.width = 9, .layout = Layout::kCosSinHalves, .odd_column = OddColumn::kSine}},
      {"one sine more, interleaved", {.width = 5, .odd_column = OddColumn::kSine}},
      {"one sine more, in pairs",
       {.width = 11, .layout = Layout::kCosSinInterleaved, .odd_column = OddColumn::kSine}},
      {"one sine", {.width = 1, .odd_column = OddColumn::kSine}},
      {"explicit", {.width = 48, .ladder = ExplicitLadder{ramp}}},
      {"explicit limits",
       {.width = 12, .ladder = ExplicitLadder{{0.0, -0.0, 0x1p-64, -0x1p-64, 0x1p32, -0x1p32}}}}};
}

TEST(SinusoidalTableTest, WorkedExample) {
  const auto table = Open({.width = 4}, ElementType::kFloat32);
  const std::vector<std::byte> out = Read(*table, 0, 3);
  const double want[3][4] = {{0, 1, 0, 1},
                             {0.841471, 0.540302, 0.010000, 0.999950},
                             {0.909297, -0.416147, 0.019999, 0.999800}};
  for (int p = 0; p < 3; ++p) {
    for (int column = 0; column < 4; ++column) {
      const std::uint64_t bits = oracle::Element(ElementType::kFloat32, out.data(), 4 * p + column);
      EXPECT_NEAR(oracle::Value(ElementType::kFloat32, bits), want[p][column], 5.1e-7);
      if (p == 0) {
        EXPECT_EQ(bits, column % 2 == 0 ? 0u : 0x3f800000u);
      }
    }
  }
}

TEST(SinusoidalTableTest, RangesAgreeWithTheOracleBitForBit) {
  std::mt19937_64 random(20240229);
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    for (const ElementType type : kTypes) {
      const auto table = Open(c.spec, type);
      const oracle::Table oracle(c.spec, type);
      std::vector<std::int64_t> starts = {-300, 65300, kFar - 299, -kFar, (1 << 24) - 150};
      for (int n = 0; n < 3; ++n) {
        starts.push_back(static_cast<std::int64_t>(random() >> 11) >> (random() % 30));
      }
      for (const std::int64_t start : starts) {
        const std::vector<std::byte> rows = Read(*table, start, 300);
        for (int n = 0; n < 12; ++n) {
          const auto r = static_cast<std::int64_t>(random() % 300);
          ExpectRow(oracle, *table, rows.data() + r * table->spec().row_bytes(), {start + r, 0}, 5,
                    static_cast<std::int64_t>(random() % 2));
        }
      }
      // The row of position 0 and its neighbours, whole.
      const std::vector<std::byte> middle = Read(*table, -3, 7);
      for (std::int64_t r = 0; r < 7; ++r) {
        ExpectRow(oracle, *table, middle.data() + r * table->spec().row_bytes(), {r - 3, 0});
      }
    }
  }
}

TEST(SinusoidalTableTest, TheUsualTableAgreesWithTheOracle) {
  std::mt19937_64 random(3902);
  const Sinusoidal spec{.width = 512};
  for (const ElementType type : kTypes) {
    const auto table = Open(spec, type);
    const oracle::Table oracle(spec, type);
    // Whole for binary32 alone: for the time it takes.
    const std::int64_t count = type == ElementType::kFloat32 ? 65536 : 8192;
    const std::vector<std::byte> rows = Read(*table, 0, count);
    // 3902 is where binary64 angles give the first wrong binary32.
    std::vector<std::int64_t> positions = {0, 1, 2, 3902, count - 1};
    for (int n = 0; n < 60; ++n) {
      positions.push_back(static_cast<std::int64_t>(random()) & (count - 1));
    }
    for (const std::int64_t p : positions) {
      ExpectRow(oracle, *table, rows.data() + p * table->spec().row_bytes(), {p, 0}, 5,
                static_cast<std::int64_t>(random() % 5));
    }
  }
}

TEST(SinusoidalTableTest, EveryLayoutAgreesWithTheOracle) {
  for (int layout = 0; layout < 8; ++layout) {
    for (const ElementType type : kTypes) {
      const Sinusoidal spec{.width = 20, .layout = static_cast<Layout>(layout)};
      const auto table = Open(spec, type);
      const oracle::Table oracle(spec, type);
      const std::vector<std::byte> rows = Read(*table, 3900, 40);
      for (std::int64_t r = 0; r < 40; r += 3) {
        ExpectRow(oracle, *table, rows.data() + r * table->spec().row_bytes(), {3900 + r, 0});
      }
    }
  }
}

// Where 128 bits of a turn are not enough.
TEST(SinusoidalTableTest, CloseToAMultipleOfPi) {
  const Sinusoidal spec{.width = 2};
  for (const ElementType type : kTypes) {
    const auto table = Open(spec, type);
    const oracle::Table oracle(spec, type);
    for (const std::int64_t p : {6134899525417045, -6134899525417045, 6134899525417044}) {
      ExpectRow(oracle, *table, Gather<std::int64_t>(*table, {p}).data(), {p, 0});
      const std::vector<std::byte> rows = Read(*table, p - 5, 8);
      for (std::int64_t r = 0; r < 8; ++r) {
        ExpectRow(oracle, *table, rows.data() + r * table->spec().row_bytes(), {p - 5 + r, 0});
      }
    }
  }
}

// A frequency that is a multiple of pi to its last bit: whole columns near zero.
TEST(SinusoidalTableTest, FrequenciesCloseToMultiplesOfPi) {
  const Sinusoidal spec{
      .width = 8,
      .ladder = ExplicitLadder{{0x1.921fb54442d18p+1, 0x1.921fb54442d18p+0, -0x1.921fb54442d18p+2,
                                0x1.6ac5b262ca1ffp+849 * 0x1p-820}}};
  for (const ElementType type : kTypes) {
    const auto table = Open(spec, type);
    const oracle::Table oracle(spec, type);
    const std::vector<std::byte> rows = Read(*table, -20, 60);
    for (std::int64_t r = 0; r < 60; ++r) {
      ExpectRow(oracle, *table, rows.data() + r * table->spec().row_bytes(), {r - 20, 0});
    }
  }
}

// Half the rows of a power-of-two column look like ties.
TEST(SinusoidalTableTest, ApparentTies) {
  for (const ElementType type : kTypes) {
    const int precision = type == ElementType::kFloat64   ? 53
                          : type == ElementType::kFloat32 ? 24
                          : type == ElementType::kFloat16 ? 11
                                                          : 8;
    const double crooked =
        std::ldexp(static_cast<double>(std::int64_t{1} << (precision - 2)) + 1, -precision - 40);
    const Sinusoidal spec{.width = 8,
                          .ladder = ExplicitLadder{{0x1p-64, 0x1p-40, -0x1p-52, crooked}}};
    const auto table = Open(spec, type);
    const oracle::Table oracle(spec, type);
    const std::int64_t tie = std::min(std::int64_t{1} << precision, kFar - 64);
    for (const std::int64_t start : {std::int64_t{0}, tie, -tie}) {
      const std::vector<std::byte> rows = Read(*table, start, 60);
      for (std::int64_t r = 0; r < 60; ++r) {
        ExpectRow(oracle, *table, rows.data() + r * table->spec().row_bytes(), {start + r, 0});
      }
    }
  }
}

TEST(SinusoidalTableTest, SignsOfZerosAndSubnormals) {
  const Sinusoidal spec{.width = 6, .ladder = ExplicitLadder{{0x1p-30, 0x1p-20, 0.0}}};
  const auto table = Open(spec, ElementType::kFloat16);
  const std::vector<std::byte> rows = Read(*table, -40, 81);
  const auto at = [&](std::int64_t p, std::int64_t column) {
    return oracle::Element(ElementType::kFloat16, rows.data(), (p + 40) * 6 + column);
  };
  EXPECT_EQ(at(-1, 0), 0x8000u);  // -2^-30
  EXPECT_EQ(at(0, 0), 0u);
  EXPECT_EQ(at(1, 0), 0u);
  EXPECT_EQ(at(32, 0), 0u);  // just below 2^-25: half the smallest subnormal
  EXPECT_EQ(at(-32, 0), 0x8000u);
  EXPECT_EQ(at(33, 0), 1u);  // just above
  EXPECT_EQ(at(-33, 0), 0x8001u);
  EXPECT_EQ(at(1, 2), 0x0010u);  // 2^-20: subnormal, its sixteenth step
  EXPECT_EQ(at(-7, 4), 0u);      // frequency zero: +0 and 1 everywhere
  EXPECT_EQ(at(-7, 5), 0x3c00u);
}

TEST(SinusoidalTableTest, SixteenBitsAreRoundedOnce) {
  // Many elements, so that a detour by way of binary32 shows.
  const Sinusoidal spec{.width = 128};
  int differ = 0;
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16}) {
    const auto table = Open(spec, type);
    const auto wide = Open(spec, ElementType::kFloat64);
    const auto middle = Open(spec, ElementType::kFloat32);
    const std::vector<std::byte> rows = Read(*table, 0, 4096);
    const std::vector<std::byte> wide_rows = Read(*wide, 0, 4096);
    const std::vector<std::byte> middle_rows = Read(*middle, 0, 4096);
    const auto round = [&](double value) {
      oracle::Number n(53);
      mpfr_set_d(n.v, value, MPFR_RNDN);
      return oracle::Round(type, n.v);
    };
    for (std::int64_t k = 0; k < 4096 * 128; ++k) {
      const double exact = oracle::Value(
          ElementType::kFloat64, oracle::Element(ElementType::kFloat64, wide_rows.data(), k));
      ASSERT_EQ(oracle::Element(type, rows.data(), k), round(exact)) << k;
      const double detour = oracle::Value(
          ElementType::kFloat32, oracle::Element(ElementType::kFloat32, middle_rows.data(), k));
      if (round(detour) != round(exact)) ++differ;
    }
  }
  EXPECT_GT(differ, 0);
}

TEST(SinusoidalTableTest, OffsetsGiveTheTailOfALongerTable) {
  std::mt19937_64 random(5);
  for (const ElementType type : kTypes) {
    for (const std::int64_t width : {2, 64, 512}) {
      const auto table = Open({.width = width}, type);
      const std::int64_t bytes = table->spec().row_bytes();
      const std::vector<std::byte> whole = Read(*table, -700, 1400);
      std::vector<std::int64_t> all(1400);
      for (int r = 0; r < 1400; ++r) all[r] = r - 700;
      EXPECT_EQ(Gather(*table, all), whole);
      for (int n = 0; n < 25; ++n) {
        const auto start = static_cast<std::int64_t>(random() % 1400);
        const auto count = 1 + static_cast<std::int64_t>(random() % (1400 - start));
        const std::vector<std::byte> part = Read(*table, start - 700, count);
        ASSERT_EQ(std::memcmp(part.data(), whole.data() + start * bytes, part.size()), 0)
            << start << " " << count;
      }
      const auto shifted = Open({.width = width, .position_offset = 123}, type);
      EXPECT_EQ(Read(*shifted, -823, 1400), whole);
    }
  }
}

TEST(SinusoidalTableTest, SineIsOddAndCosineEven) {
  for (const ElementType type : kTypes) {
    const auto table = Open({.width = 64, .layout = Layout::kSinCosHalves}, type);
    const std::uint64_t sign = std::uint64_t{1} << (8 * ElementBytes(type) - 1);
    for (const std::int64_t start : {std::int64_t{1}, std::int64_t{1} << 40, kFar - 99}) {
      const std::vector<std::byte> ahead = Read(*table, start, 100);
      const std::vector<std::byte> behind = Read(*table, -start - 99, 100);
      for (std::int64_t r = 0; r < 100; ++r) {
        for (std::int64_t column = 0; column < 64; ++column) {
          const std::uint64_t a = oracle::Element(type, ahead.data(), r * 64 + column);
          const std::uint64_t b = oracle::Element(type, behind.data(), (99 - r) * 64 + column);
          ASSERT_EQ(a, column < 32 ? b ^ sign : b);
        }
      }
    }
  }
}

TEST(SinusoidalTableTest, TheZeroRowIsCountedAfterTheOffset) {
  const Sinusoidal spec{.width = 16, .position_offset = 2, .zero_row = 5};
  const Sinusoidal plain{.width = 16, .position_offset = 2};
  for (const ElementType type : kTypes) {
    const auto table = Open(spec, type);
    const auto without = Open(plain, type);
    std::vector<std::byte> want = Read(*without, -10, 30);
    std::fill_n(want.begin() + 13 * table->spec().row_bytes(), table->spec().row_bytes(),
                std::byte{0});
    EXPECT_EQ(Read(*table, -10, 30), want);
    const std::vector<std::byte> zeros(table->spec().row_bytes());
    EXPECT_EQ(Gather<std::int64_t>(*table, {3}), zeros);
    EXPECT_EQ(Gather<double>(*table, {3.0}), zeros);
    EXPECT_EQ(Gather<double>(*table, {3.0000001}), Gather<double>(*without, {3.0000001}));
    // A zero row at position 0 hides sines of zero and cosines of one alike.
    const auto first = Open({.width = 16, .zero_row = 0}, type);
    EXPECT_EQ(Read(*first, 0, 1), zeros);
  }
}

TEST(SinusoidalTableTest, IntegersAsRealsAreTheSameRows) {
  for (const ElementType type : kTypes) {
    const auto table = Open({.width = 64, .position_offset = -3}, type);
    const std::vector<std::int64_t> integers = {0, 3, -5, kFar, 1 << 24, 3902, 3902, -kFar + 3};
    EXPECT_EQ(Gather(*table, integers),
              Gather(*table, std::vector<double>(integers.begin(), integers.end())));
    EXPECT_EQ(Gather<double>(*table, {-0.0}), Gather<std::int64_t>(*table, {0}));
  }
}

TEST(SinusoidalTableTest, RealPositionsAgreeWithTheOracle) {
  std::mt19937_64 random(6);
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    for (const ElementType type : kTypes) {
      for (const std::int64_t offset : {0, 7, -1000000}) {
        Sinusoidal spec = c.spec;
        spec.position_offset = offset;
        const auto table = Open(spec, type);
        const oracle::Table oracle(spec, type);
        std::vector<double> positions = {0.5,          -0.25,       1e-5,        -1e-30,
                                         0x1p-300,     -0x1p-1074,  0x1.8p-1040, 999.9,
                                         0x1p52 - 0.5, -1234567.125};
        for (int n = 0; n < 6; ++n) {
          positions.push_back(
              std::ldexp(static_cast<double>(random() >> 11), -static_cast<int>(random() % 120)));
        }
        const std::vector<std::byte> rows = Gather(*table, positions);
        for (std::size_t k = 0; k < positions.size(); ++k) {
          const double whole = std::trunc(positions[k]);
          ExpectRow(oracle, *table, rows.data() + k * table->spec().row_bytes(),
                    {static_cast<std::int64_t>(whole), positions[k] - whole}, 7,
                    static_cast<std::int64_t>(k % 2));
        }
      }
    }
  }
}

TEST(SinusoidalTableTest, TheWidestTable) {
  const Sinusoidal spec{.width = 65536};
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    const auto table = Open(spec, type);
    const oracle::Table oracle(spec, type);
    const std::vector<std::byte> rows = Read(*table, 65530, 12);
    for (std::int64_t r = 0; r < 12; r += 5) {
      ExpectRow(oracle, *table, rows.data() + r * table->spec().row_bytes(), {65530 + r, 0}, 257);
    }
  }
}

TEST(SinusoidalTableTest, FewElementsAreSettled) {
  for (const ElementType type : kTypes) {
    const auto table = Open({.width = 512}, type);
    Read(*table, 0, 2048);
    // Fewer than one in a thousand is what is promised. An error of 2^-48 leaves about one
    // in 2^22 open, where the steps of the type are 2^-24 or more.
    EXPECT_LT(table->settled_elements(), 2048 * 512 / 50'000) << ElementTypeName(type);
    EXPECT_EQ(table->costly_elements(), 0) << ElementTypeName(type);
    EXPECT_GT(table->memory_bytes(), 256 * 32);
    // Row 0, all exact values, is not left to the slow stages either.
    const std::int64_t before = table->settled_elements();
    Read(*table, -20, 40);
    EXPECT_LT(table->settled_elements() - before, 20) << ElementTypeName(type);
  }
  // And counted where there are any: every odd row of a column looks like a tie.
  const auto table = Open({.width = 2, .ladder = ExplicitLadder{{0x1p-50}}}, ElementType::kFloat32);
  Read(*table, 1 << 24, 1000);
  EXPECT_GT(table->settled_elements(), 400);
}

TEST(SinusoidalTableTest, TheZeroRowOfAnOddWidthIsAllZero) {
  const Sinusoidal spec{.width = 7,
                        .ladder = InclusiveLadder{},
                        .layout = Layout::kSinCosHalves,
                        .position_offset = 2,
                        .zero_row = 1,
                        .odd_column = OddColumn::kZero};
  for (const ElementType type : kTypes) {
    const auto table = Open(spec, type);
    const oracle::Table oracle(spec, type);
    const std::vector<std::byte> rows = Read(*table, -3, 6);
    for (std::int64_t r = 0; r < 6; ++r) {
      ExpectRow(oracle, *table, rows.data() + r * table->spec().row_bytes(), {r - 3, 0});
    }
    EXPECT_EQ(Gather(*table, std::vector<double>{-1.0}),
              std::vector<std::byte>(table->spec().row_bytes(), std::byte{0}));
  }
}

TEST(SinusoidalTableTest, FractionalRowsOfOddWidths) {
  const Sinusoidal spec{
      .width = 9, .layout = Layout::kCosSinHalves, .odd_column = OddColumn::kSine};
  const auto table = Open(spec, ElementType::kFloat64);
  const oracle::Table oracle(spec, ElementType::kFloat64);
  const std::vector<std::byte> rows = Gather(*table, std::vector<double>{0.5, -7.25});
  ExpectRow(oracle, *table, rows.data(), {0, 0.5});
  ExpectRow(oracle, *table, rows.data() + table->spec().row_bytes(), {-7, -0.25});
}

}  // namespace
}  // namespace phasor
