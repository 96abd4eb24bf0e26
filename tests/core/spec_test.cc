#include "phasor/core/spec.h"

#include <mpfr.h>
#include <xmmintrin.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;

// The message starts with the path and names the value.
void ExpectError(const absl::Status& status, absl::StatusCode code, const std::string& field,
                 const std::string& value) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(FieldOf(status), field) << status;
  const std::string message(status.message());
  EXPECT_EQ(message.rfind(field + ": ", 0), 0u) << message;
  EXPECT_THAT(message, HasSubstr(value));
}

void ExpectRefused(TableSpec spec, absl::StatusCode code, const std::string& field,
                   const std::string& value) {
  ExpectError(CanonicalSpec::Create(std::move(spec)).status(), code, field, value);
}

void ExpectTaken(TableSpec spec) {
  const auto canonical = CanonicalSpec::Create(std::move(spec));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
}

CanonicalSpec Checked(TableSpec spec) { return *CanonicalSpec::Create(std::move(spec)); }

TEST(SpecTest, WidthOfPairsIsEvenFromTwoTo65536) {
  const char kField[] = "spec.sinusoidal.width";
  ExpectRefused(Sinusoidal{.width = 0}, kInvalid, kField, "0");
  ExpectRefused(Sinusoidal{.width = -2}, kInvalid, kField, "-2");
  ExpectRefused(Sinusoidal{.width = kMin}, kInvalid, kField, "-9223372036854775808");
  ExpectRefused(Sinusoidal{.width = 7}, kInvalid, kField, "7");
  ExpectRefused(Sinusoidal{.width = 65537}, kInvalid, kField, "65537");
  ExpectRefused(Sinusoidal{.width = 65538}, kInvalid, kField, "65538");
  // 4 in its low 32 bits.
  ExpectRefused(Sinusoidal{.width = 4294967300}, kInvalid, kField, "4294967300");
  ExpectTaken(Sinusoidal{.width = 2});
  ExpectTaken(Sinusoidal{.width = 65536});
}

TEST(SpecTest, BaseIsAboveOneAndAtMostTwoTo64) {
  const char kField[] = "spec.sinusoidal.base";
  ExpectRefused(Sinusoidal{.width = 4, .base = 0.0}, kInvalid, kField, "0");
  ExpectRefused(Sinusoidal{.width = 4, .base = 1.0}, kInvalid, kField, "1");
  ExpectRefused(Sinusoidal{.width = 4, .base = -10000.0}, kInvalid, kField, "-10000");
  ExpectRefused(Sinusoidal{.width = 4, .base = kInfinity}, kInvalid, kField, "inf");
  ExpectRefused(Sinusoidal{.width = 4, .base = -kInfinity}, kInvalid, kField, "-inf");
  ExpectRefused(Sinusoidal{.width = 4, .base = kNan}, kInvalid, kField, "nan");
  ExpectRefused(Sinusoidal{.width = 4, .base = std::nextafter(kMaxBase, kInfinity)}, kInvalid,
                kField, "18446744073709555712");
  ExpectTaken(Sinusoidal{.width = 4, .base = 0x1.0000000000001p0});
  ExpectTaken(Sinusoidal{.width = 4, .base = 18446744073709551616.0});
}

TEST(SpecTest, OddWidthsSayWhatTheirOddColumnIs) {
  const char kWidth[] = "spec.sinusoidal.width";
  const auto spec = [](std::int64_t width, OddColumn odd, Layout layout = Layout::kSinCosHalves) {
    return Sinusoidal{.width = width, .layout = layout, .odd_column = odd};
  };
  ExpectRefused(spec(7, OddColumn::kNone), kInvalid, kWidth, "odd_column");
  ExpectRefused(spec(1, OddColumn::kZero), kInvalid, kWidth, "1");
  ExpectRefused(spec(65537, OddColumn::kZero), kInvalid, kWidth, "65537");
  ExpectRefused(spec(-1, OddColumn::kSine), kInvalid, kWidth, "-1");
  ExpectRefused(spec(8, OddColumn::kZero), kInvalid, "spec.sinusoidal.odd_column", "ZERO");
  ExpectRefused(spec(8, OddColumn::kSine), kInvalid, "spec.sinusoidal.odd_column", "SINE");
  ExpectRefused(spec(7, static_cast<OddColumn>(9)), kInvalid, "spec.sinusoidal.odd_column", "9");
  for (const Layout layout : {Layout::kCosSinDuplicatedHalves, Layout::kCosSinDuplicatedPairs,
                              Layout::kCosOnly, Layout::kSinOnly}) {
    ExpectRefused(spec(7, OddColumn::kSine, layout), kInvalid, "spec.sinusoidal.layout",
                  std::string(LayoutName(layout)));
  }
  ExpectTaken(spec(3, OddColumn::kZero));
  ExpectTaken(spec(1, OddColumn::kSine));
  ExpectTaken(spec(65535, OddColumn::kSine));
  EXPECT_EQ(Checked(spec(7, OddColumn::kZero)).pairs(), 3);
  EXPECT_EQ(Checked(spec(7, OddColumn::kSine)).pairs(), 4);
  EXPECT_EQ(Checked(spec(7, OddColumn::kSine)).row_width(), 7);
  // The half pair counts among what a shift and frequencies are bounded by.
  ExpectTaken(
      Sinusoidal{.width = 7, .ladder = DownscaledLadder{3.5}, .odd_column = OddColumn::kSine});
  ExpectRefused(
      Sinusoidal{.width = 7, .ladder = DownscaledLadder{3.5}, .odd_column = OddColumn::kZero},
      kInvalid, "spec.sinusoidal.downscaled.downscale_shift", "3.5");
}

TEST(SpecTest, TimescalesAreBounded) {
  const std::string path = "spec.sinusoidal.timescales.";
  const auto spec = [](double least, double most) {
    return Sinusoidal{.width = 8, .ladder = TimescaleLadder{least, most}};
  };
  for (const double least : {0.0, -1.0, kNan, kInfinity, 0x1p-33, std::nextafter(0x1p32, 1e20)}) {
    ExpectRefused(spec(least, 0x1p64), kInvalid, path + "min_timescale", "");
  }
  for (const double most : {1.0, 0.5, kNan, kInfinity, std::nextafter(0x1p64, 1e20), -10000.0}) {
    ExpectRefused(spec(1, most), kInvalid, path + "max_timescale", "");
  }
  ExpectRefused(Sinusoidal{.width = 8, .base = 10000.0, .ladder = TimescaleLadder{}}, kInvalid,
                "spec.sinusoidal.base", "10000");
  ExpectTaken(spec(0x1p-32, 0x1p64));
  ExpectTaken(spec(0x1p32, 0x1p64));
  ExpectTaken(spec(1, std::nextafter(1.0, 2.0)));
}

TEST(SpecTest, BaseBesideAnExplicitLadderIsRefused) {
  const ExplicitLadder ladder{{1.0, 0.01}};
  ExpectRefused(Sinusoidal{.width = 4, .base = 10000.0, .ladder = ladder}, kInvalid,
                "spec.sinusoidal.base", "10000");
  const CanonicalSpec canonical = Checked(Sinusoidal{.width = 4, .ladder = ladder});
  EXPECT_FALSE(std::get<Sinusoidal>(canonical.spec().scheme).base.has_value());
}

TEST(SpecTest, DefaultsAreFilledIn) {
  const CanonicalSpec canonical = Checked(Sinusoidal{.width = 4});
  EXPECT_EQ(std::get<Sinusoidal>(canonical.spec().scheme).base, 10000.0);
}

TEST(SpecTest, WhatIsRequiredHasNoDefault) {
  ExpectRefused(Sinusoidal{}, kInvalid, "spec.sinusoidal.width", "0 is");
  ExpectRefused(LearnedInit{}, kInvalid, "spec.learned_init.width", "0 is");
  ExpectRefused(LearnedInit{.width = 4}, kInvalid, "spec.learned_init.max_positions", "0 is");
  const LearnedInit init;
  EXPECT_EQ(init.stddev, 0.02);
  EXPECT_EQ(init.seed, 0);
  EXPECT_EQ(init.stream, 0);
}

TEST(SpecTest, DownscaleShiftIsRequiredAndBounded) {
  const char kField[] = "spec.sinusoidal.downscaled.downscale_shift";
  const auto spec = [](std::optional<double> shift) {
    return Sinusoidal{.width = 8, .ladder = DownscaledLadder{shift}};
  };
  ExpectRefused(spec(std::nullopt), kInvalid, kField, "required");
  ExpectRefused(spec(-0.5), kInvalid, kField, "-0.5");
  ExpectRefused(spec(3.75), kInvalid, kField, "3.75");
  ExpectRefused(spec(std::nextafter(3.5, 4.0)), kInvalid, kField, "3.5000000000000004");
  ExpectRefused(spec(-std::numeric_limits<double>::denorm_min()), kInvalid, kField, "-5e-324");
  ExpectRefused(spec(kNan), kInvalid, kField, "nan");
  ExpectRefused(spec(kInfinity), kInvalid, kField, "inf");
  ExpectTaken(spec(0.0));
  ExpectTaken(spec(-0.0));
  ExpectTaken(spec(1.0));
  ExpectTaken(spec(3.5));
}

TEST(SpecTest, ExplicitFrequenciesAreCountedAndBounded) {
  const std::string field = "spec.sinusoidal.explicit.frequencies";
  const auto spec = [](std::vector<double> frequencies) {
    return Sinusoidal{.width = 6, .ladder = ExplicitLadder{std::move(frequencies)}};
  };
  ExpectRefused(spec({}), kInvalid, field, "0 values");
  ExpectRefused(spec({1, 2}), kInvalid, field, "2 values");
  ExpectRefused(spec({1, 2, 3, 4}), kInvalid, field, "exactly 3");
  ExpectRefused(spec({kNan, 1, 1}), kInvalid, field + "[0]", "nan");
  ExpectRefused(spec({1, -kInfinity, 1}), kInvalid, field + "[1]", "-inf");
  ExpectRefused(spec({1, 1, std::nextafter(0x1p32, kInfinity)}), kInvalid, field + "[2]",
                "4294967296.000001");
  ExpectRefused(spec({1, 1, std::nextafter(0x1p-64, 0.0)}), kInvalid, field + "[2]",
                "5.4210108624275216e-20");
  ExpectRefused(spec({1, 5e-324, 1}), kInvalid, field + "[1]", "5e-324");
  ExpectTaken(spec({0.0, 0x1p-64, 0x1p32}));
  ExpectTaken(spec({-0.0, -0x1p-64, -0x1p32}));
}

TEST(SpecTest, OffsetHasToLeaveAPosition) {
  const char kField[] = "spec.sinusoidal.position_offset";
  const std::int64_t most = std::int64_t{1} << 54;
  for (std::int64_t offset : {most + 1, -most - 1, kMin, kMax}) {
    ExpectRefused(Sinusoidal{.width = 4, .position_offset = offset}, kInvalid, kField,
                  std::to_string(offset));
  }
  EXPECT_EQ(Checked(Sinusoidal{.width = 4, .position_offset = most}).first_position(),
            -kMaxPosition);
  EXPECT_EQ(Checked(Sinusoidal{.width = 4, .position_offset = most}).last_position(),
            -kMaxPosition);
  EXPECT_EQ(Checked(Sinusoidal{.width = 4, .position_offset = -most}).first_position(),
            kMaxPosition);
  EXPECT_EQ(Checked(Sinusoidal{.width = 4, .position_offset = -most}).last_position(),
            kMaxPosition);
}

TEST(SpecTest, PositionsStayInRangeBeforeAndAfterTheOffset) {
  const std::int64_t limit = std::int64_t{1} << 53;
  const CanonicalSpec plain = Checked(Sinusoidal{.width = 4});
  EXPECT_EQ(plain.first_position(), -limit);
  EXPECT_EQ(plain.last_position(), limit);
  EXPECT_FALSE(plain.bounded());
  const CanonicalSpec forward = Checked(Sinusoidal{.width = 4, .position_offset = 2});
  EXPECT_EQ(forward.first_position(), -limit);
  EXPECT_EQ(forward.last_position(), limit - 2);
  const CanonicalSpec backward = Checked(Sinusoidal{.width = 4, .position_offset = -2});
  EXPECT_EQ(backward.first_position(), -limit + 2);
  EXPECT_EQ(backward.last_position(), limit);
}

TEST(SpecTest, ZeroRowIsAnyInteger) {
  for (std::int64_t row : {kMin, std::int64_t{-1}, std::int64_t{0}, kMax}) {
    ExpectTaken(Sinusoidal{.width = 4, .zero_row = row});
  }
}

TEST(SpecTest, UnknownEnumerationValuesAreRefused) {
  ExpectRefused(Sinusoidal{.width = 4, .layout = static_cast<Layout>(8)}, kInvalid,
                "spec.sinusoidal.layout", "8");
  ExpectRefused({Sinusoidal{.width = 4}, static_cast<ElementType>(4)}, kInvalid,
                "spec.element_type", "4");
  ExpectRefused({Scheme(Sinusoidal{.width = 4}), ElementType::kFloat32, static_cast<Numerics>(1)},
                kInvalid, "spec.numerics", "1");
}

TEST(SpecTest, SeededTableShape) {
  const char kWidth[] = "spec.learned_init.width";
  const char kRows[] = "spec.learned_init.max_positions";
  ExpectRefused(LearnedInit{.max_positions = 4, .width = 0}, kInvalid, kWidth, "0");
  ExpectRefused(LearnedInit{.max_positions = 4, .width = -1}, kInvalid, kWidth, "-1");
  ExpectRefused(LearnedInit{.max_positions = 4, .width = 65537}, kInvalid, kWidth, "65537");
  ExpectRefused(LearnedInit{.max_positions = 0, .width = 4}, kInvalid, kRows, "0");
  ExpectRefused(LearnedInit{.max_positions = kMin, .width = 4}, kInvalid, kRows, "-92233720");
  const std::int64_t most = std::int64_t{1} << 62;
  ExpectRefused(LearnedInit{.max_positions = most + 1, .width = 1}, kInvalid, kRows,
                "4611686018427387905");
  ExpectRefused(LearnedInit{.max_positions = most / 3 + 1, .width = 3}, kInvalid, kRows,
                "1537228672809129302");
  // The product is 0 modulo 2^64.
  ExpectRefused(LearnedInit{.max_positions = most, .width = 65536}, kInvalid, kRows,
                "4611686018427387904");
  ExpectTaken(LearnedInit{.max_positions = most, .width = 1});
  ExpectTaken(LearnedInit{.max_positions = most / 3, .width = 3});
  ExpectTaken(LearnedInit{.max_positions = most / 65536, .width = 65536});
  const CanonicalSpec canonical = Checked(LearnedInit{.max_positions = 10, .width = 7});
  EXPECT_EQ(canonical.first_position(), 0);
  EXPECT_EQ(canonical.last_position(), 9);
  EXPECT_EQ(canonical.row_width(), 7);
  EXPECT_TRUE(canonical.bounded());
}

TEST(SpecTest, StddevIsPositiveAndFinite) {
  const char kField[] = "spec.learned_init.stddev";
  const auto spec = [](double stddev) {
    return LearnedInit{.max_positions = 4, .width = 4, .stddev = stddev};
  };
  ExpectRefused(spec(0.0), kInvalid, kField, "0");
  ExpectRefused(spec(-0.0), kInvalid, kField, "-0");
  ExpectRefused(spec(-0.02), kInvalid, kField, "-0.02");
  ExpectRefused(spec(kNan), kInvalid, kField, "nan");
  ExpectRefused(spec(kInfinity), kInvalid, kField, "inf");
  ExpectTaken(spec(5e-324));
}

TEST(SpecTest, SubnormalsCountWhereTheThreadTakesThemForZeros) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zeros
  const auto small =
      CanonicalSpec::Create(LearnedInit{.max_positions = 4, .width = 4, .stddev = 5e-324});
  const auto slow =
      CanonicalSpec::Create(Sinusoidal{.width = 2, .ladder = ExplicitLadder{{5e-324}}});
  _mm_setcsr(before);
  EXPECT_TRUE(small.ok()) << small.status();
  ExpectError(slow.status(), kInvalid, "spec.sinusoidal.explicit.frequencies[0]", "5e-324");
}

TEST(SpecTest, StreamIsNotNegative) {
  ExpectRefused(LearnedInit{.max_positions = 4, .width = 4, .stream = -1}, kInvalid,
                "spec.learned_init.stream", "-1");
  ExpectTaken(LearnedInit{.max_positions = 4, .width = 4, .stream = kMax});
}

// Whether the largest draw, that of generator outputs 0 and 0, times `stddev`
// rounds to an infinity of a type with `bits` of significand and largest
// exponent `exponent`.
bool LargestDrawOverflows(double stddev, int bits, int exponent) {
  mpfr_t u, v, limit;
  mpfr_inits2(400, u, v, limit, nullptr);
  mpfr_set_d(u, 0x1p-33, MPFR_RNDN);
  mpfr_log(u, u, MPFR_RNDN);
  mpfr_mul_si(u, u, -2, MPFR_RNDN);
  mpfr_sqrt(u, u, MPFR_RNDN);
  mpfr_const_pi(v, MPFR_RNDN);
  mpfr_mul_2si(v, v, -32, MPFR_RNDN);
  mpfr_cos(v, v, MPFR_RNDN);
  mpfr_mul(u, u, v, MPFR_RNDN);
  mpfr_mul_d(u, u, stddev, MPFR_RNDN);
  mpfr_set_si_2exp(limit, 1, exponent + 1, MPFR_RNDN);
  mpfr_set_si_2exp(v, 1, exponent - bits, MPFR_RNDN);
  mpfr_sub(limit, limit, v, MPFR_RNDN);
  const bool overflows = mpfr_greaterequal_p(u, limit) != 0;
  mpfr_clears(u, v, limit, nullptr);
  return overflows;
}

TEST(SpecTest, StddevWhoseDrawsCouldRoundToInfinityIsOutOfRange) {
  struct Case {
    ElementType type;
    int bits;
    int exponent;
  };
  for (const Case& c :
       {Case{ElementType::kFloat32, 24, 127}, Case{ElementType::kFloat64, 53, 1023},
        Case{ElementType::kFloat16, 11, 15}, Case{ElementType::kBfloat16, 8, 127}}) {
    // The largest stddev that does not overflow, by bisection.
    double low = std::ldexp(1.0, c.exponent - 4);
    double high = std::ldexp(1.0, c.exponent);
    ASSERT_FALSE(LargestDrawOverflows(low, c.bits, c.exponent));
    ASSERT_TRUE(LargestDrawOverflows(high, c.bits, c.exponent));
    while (std::nextafter(low, high) != high) {
      const double middle = low + (high - low) / 2;
      (LargestDrawOverflows(middle, c.bits, c.exponent) ? high : low) = middle;
    }
    ExpectTaken({LearnedInit{.max_positions = 4, .width = 4, .stddev = low}, c.type});
    ExpectRefused({LearnedInit{.max_positions = 4, .width = 4, .stddev = high}, c.type},
                  kOutOfRange, "spec.learned_init.stddev", std::string(ElementTypeName(c.type)));
  }
}

TEST(SpecTest, RowWidthAndBytesFollowTheLayout) {
  const auto spec = [](Layout layout, ElementType type) {
    return Checked({Sinusoidal{.width = 8, .layout = layout}, type});
  };
  EXPECT_EQ(spec(Layout::kSinCosHalves, ElementType::kFloat32).row_width(), 8);
  EXPECT_EQ(spec(Layout::kCosSinDuplicatedHalves, ElementType::kFloat64).row_width(), 16);
  EXPECT_EQ(spec(Layout::kCosSinDuplicatedPairs, ElementType::kFloat64).row_bytes(), 128);
  EXPECT_EQ(spec(Layout::kCosOnly, ElementType::kFloat16).row_width(), 4);
  EXPECT_EQ(spec(Layout::kSinOnly, ElementType::kBfloat16).row_bytes(), 8);
}

TEST(CheckRangeTest, RangeOfAFormula) {
  const CanonicalSpec spec = Checked(Sinusoidal{.width = 4, .position_offset = 2});
  const std::int64_t last = (std::int64_t{1} << 53) - 2;
  EXPECT_TRUE(spec.CheckRange(0, 1).ok());
  EXPECT_TRUE(spec.CheckRange(-kMaxPosition, kMaxPosition + last + 1).ok());
  ExpectError(spec.CheckRange(-kMaxPosition, kMaxPosition + last + 2), kOutOfRange, "row_count",
              "row 9007199254740991 ");
  ExpectError(spec.CheckRange(-kMaxPosition - 1, 1), kOutOfRange, "start_position",
              "row -9007199254740993 ");
  ExpectError(spec.CheckRange(last + 1, 1), kOutOfRange, "start_position", "row 9007199254740991 ");
}

TEST(CheckRangeTest, RangeOfASeededTable) {
  const CanonicalSpec spec = Checked(LearnedInit{.max_positions = 10, .width = 7});
  EXPECT_TRUE(spec.CheckRange(0, 10).ok());
  EXPECT_TRUE(spec.CheckRange(9, 1).ok());
  ExpectError(spec.CheckRange(-1, 1), kOutOfRange, "start_position", "row -1 ");
  ExpectError(spec.CheckRange(-1, 100), kOutOfRange, "start_position", "row -1 ");
  ExpectError(spec.CheckRange(10, 1), kOutOfRange, "start_position", "row 10 ");
  ExpectError(spec.CheckRange(5, 6), kOutOfRange, "row_count",
              "6 rows from 5 run past the end: row 10 does not exist; at most 5 can be read");
  ExpectError(spec.CheckRange(0, 11), kOutOfRange, "row_count", "row 10 ");
}

TEST(CheckPositionsTest, NamesTheFirstThatHasNoRow) {
  const CanonicalSpec formula = Checked(Sinusoidal{.width = 4, .position_offset = 2});
  const CanonicalSpec seeded = Checked(LearnedInit{.max_positions = 10, .width = 4});
  const auto whole = [](std::vector<std::int64_t> p) { return p; };
  const auto real = [](std::vector<double> p) { return p; };
  EXPECT_TRUE(formula.CheckPositions(whole({})).ok());
  EXPECT_TRUE(formula.CheckPositions(whole({0, -kMaxPosition, kMaxPosition - 2})).ok());
  ExpectError(formula.CheckPositions(whole({0, kMaxPosition - 1, kMax})), kOutOfRange,
              "positions[1]", "9007199254740991");
  ExpectError(formula.CheckPositions(whole({kMin})), kOutOfRange, "positions[0]",
              "-9223372036854775808");
  EXPECT_TRUE(seeded.CheckPositions(whole({9, 0, 9})).ok());
  ExpectError(seeded.CheckPositions(whole({0, 1, 10})), kOutOfRange, "positions[2]", "row 10 ");
  ExpectError(seeded.CheckPositions(whole({-1})), kOutOfRange, "positions[0]", "row -1 ");

  EXPECT_TRUE(formula.CheckPositions(real({0.5, -0x1p53, 0x1p53 - 2})).ok());
  ExpectError(formula.CheckPositions(real({0.5, 0x1p53 - 1})), kOutOfRange, "real_positions[1]",
              "9007199254740991");
  ExpectError(formula.CheckPositions(real({-0x1.0000000000001p53})), kOutOfRange,
              "real_positions[0]", "-9007199254740994");
  ExpectError(formula.CheckPositions(real({0, 1, kNan})), kInvalid, "real_positions[2]", "nan");
  ExpectError(formula.CheckPositions(real({-kInfinity})), kInvalid, "real_positions[0]", "-inf");
  EXPECT_TRUE(seeded.CheckPositions(real({})).ok());
  ExpectError(seeded.CheckPositions(real({1})), kInvalid, "real_positions", "learned");
}

TEST(CheckRangeTest, ZeroRowsExistFromFirstToOnePastLast) {
  const CanonicalSpec spec = Checked(LearnedInit{.max_positions = 10, .width = 7});
  for (std::int64_t start : {0, 5, 9, 10}) EXPECT_TRUE(spec.CheckRange(start, 0).ok()) << start;
  ExpectError(spec.CheckRange(-1, 0), kOutOfRange, "start_position", "row -1 ");
  ExpectError(spec.CheckRange(11, 0), kOutOfRange, "start_position", "row 11 ");
  const CanonicalSpec formula = Checked(Sinusoidal{.width = 4});
  EXPECT_TRUE(formula.CheckRange(kMaxPosition + 1, 0).ok());
  ExpectError(formula.CheckRange(kMaxPosition + 2, 0), kOutOfRange, "start_position",
              "9007199254740994");
}

TEST(CheckRangeTest, NegativeCountIsInvalidWhereverItStarts) {
  const CanonicalSpec spec = Checked(LearnedInit{.max_positions = 10, .width = 7});
  for (std::int64_t start : {std::int64_t{0}, std::int64_t{-5}, kMin, kMax}) {
    ExpectError(spec.CheckRange(start, -1), kInvalid, "row_count", "-1");
    ExpectError(spec.CheckRange(start, kMin), kInvalid, "row_count", "-9223372036854775808");
  }
}

TEST(CheckRangeTest, OverflowIsCaught) {
  for (const CanonicalSpec& spec :
       {Checked(LearnedInit{.max_positions = std::int64_t{1} << 62, .width = 1}),
        Checked(Sinusoidal{.width = 4})}) {
    // start + count - 1 is still an int64, then beyond.
    for (std::int64_t start : {1, 2, 1000}) {
      ExpectError(spec.CheckRange(start, kMax), kOutOfRange, "row_count", "9223372036854775807");
    }
    ExpectError(spec.CheckRange(kMax, kMax), kOutOfRange, "start_position", "9223372036854775807");
    ExpectError(spec.CheckRange(kMin, kMax), kOutOfRange, "start_position", "-9223372036854775808");
    ExpectError(spec.CheckRange(kMin, 0), kOutOfRange, "start_position", "-9223372036854775808");
  }
}

TEST(CheckPositionTest, NamesTheFieldGiven) {
  const CanonicalSpec spec = Checked(LearnedInit{.max_positions = 10, .width = 7});
  EXPECT_TRUE(spec.CheckPosition(0, "positions[0]").ok());
  EXPECT_TRUE(spec.CheckPosition(9, "positions[0]").ok());
  ExpectError(spec.CheckPosition(-1, "positions[3]"), kOutOfRange, "positions[3]", "row -1 ");
  ExpectError(spec.CheckPosition(10, "positions[4]"), kOutOfRange, "positions[4]", "row 10 ");
  ExpectError(spec.CheckPosition(kMax, "positions[5]"), kOutOfRange, "positions[5]",
              "row 9223372036854775807 ");
}

}  // namespace
}  // namespace phasor
