#include "core/phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/real.h"
#include "tests/core/phase_point.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

using oracle::Number;

// The error of `got` over the bound claimed for it.
double ErrorOverBound(DoubleDouble got, double bound, const Number& want) {
  Number error(3000);
  mpfr_sub_d(error.v, want.v, got.hi, MPFR_RNDN);
  mpfr_sub_d(error.v, error.v, got.lo, MPFR_RNDN);
  if (mpfr_zero_p(error.v) != 0) return 0;
  if (bound == 0) return HUGE_VAL;
  mpfr_div_d(error.v, error.v, bound, MPFR_RNDN);
  return std::abs(mpfr_get_d(error.v, MPFR_RNDN));
}

void ExpectWithinBounds(const Sinusoidal& spec, std::int64_t i, Position position) {
  const MpfrScope scope;
  StopCheck never(NeverStop);
  const auto point = PointAt(PhaseLadder(FrequencyLadder(spec), never), i, position);
  ASSERT_TRUE(point.has_value());
  Number angle(3000);
  Number p(1200);
  mpfr_set_si(p.v, position.integer, MPFR_RNDN);
  mpfr_add_d(p.v, p.v, position.fraction, MPFR_RNDN);
  oracle::Table(spec).Frequency(i, angle.v);
  mpfr_mul(angle.v, angle.v, p.v, MPFR_RNDN);
  Number sine(1000);
  Number cosine(1000);
  mpfr_sin_cos(sine.v, cosine.v, angle.v, MPFR_RNDN);
  EXPECT_LE(ErrorOverBound(point->value.sin, point->sin_error(), sine), 1)
      << i << " " << position.integer << " + " << position.fraction;
  EXPECT_LE(ErrorOverBound(point->value.cos, point->cos_error(), cosine), 1)
      << i << " " << position.integer << " + " << position.fraction;
  // The bound is of use: well below what any element type can tell apart.
  EXPECT_LE(point->sin_error(), std::abs(point->value.sin.hi) * 0x1p-60);
}

std::vector<Sinusoidal> Specs() {
  return {{.width = 8, .base = 10000.0},
          {.width = 104, .base = 0x1p52},
          {.width = 6, .base = 0x1p64, .ladder = InclusiveLadder{}},
          {.width = 12, .base = 10000.0, .ladder = DownscaledLadder{5.5}},
          {.width = 16,
           .ladder = ExplicitLadder{{0x1p32, -0x1p32, 0x1p-64, -0x1p-64, 3.0, -0.7,
                                     0x1.fffffffffffffp31, 0x1.921fb54442d18p+2}}}};
}

TEST(PhaseTest, IntegersStayWithinTheirBounds) {
  std::mt19937_64 random(1);
  for (const Sinusoidal& spec : Specs()) {
    for (int n = 0; n < 60; ++n) {
      const auto i = static_cast<std::int64_t>(random() % (spec.width / 2));
      std::int64_t p = static_cast<std::int64_t>(random()) >> (random() % 64);
      if (p == 0) p = std::numeric_limits<std::int64_t>::min();
      ExpectWithinBounds(spec, i, {p, 0});
    }
  }
}

TEST(PhaseTest, FractionsStayWithinTheirBounds) {
  std::mt19937_64 random(2);
  for (const Sinusoidal& spec : Specs()) {
    for (int n = 0; n < 100; ++n) {
      const auto i = static_cast<std::int64_t>(random() % (spec.width / 2));
      const int exponent =
          n % 2 == 0 ? -static_cast<int>(random() % 640) : -static_cast<int>(random() % 8);
      double f = std::ldexp(static_cast<double>((random() >> 11) | 1), exponent - 53);
      if ((random() & 1) != 0) f = -f;
      ExpectWithinBounds(spec, i, {0, f});
      // With an integer part of either sign.
      const std::int64_t whole = (static_cast<std::int64_t>(random()) >> (10 + random() % 53)) | 1;
      ExpectWithinBounds(spec, i, {whole, f});
    }
  }
}

TEST(PhaseTest, ZeroAnglesAreExact) {
  const MpfrScope scope;
  StopCheck never(NeverStop);
  const PhaseLadder phases(
      FrequencyLadder(Sinusoidal{.width = 6, .ladder = ExplicitLadder{{0.0, -0.0, -3.0}}}), never);
  for (const auto& [i, position] : std::vector<std::pair<int, Position>>{
           {0, {5, 0}}, {1, {-5, 0}}, {1, {-5, 0.5}}, {0, {0, 0.5}}, {2, {0, 0}}}) {
    const auto point = PointAt(phases, i, position);
    ASSERT_TRUE(point.has_value());
    EXPECT_EQ(point->value.sin.hi, 0);
    EXPECT_FALSE(std::signbit(point->value.sin.hi));
    EXPECT_EQ(point->value.cos.hi, 1);
    EXPECT_EQ(point->sin_error() + point->value.sin.lo + point->value.cos.lo, 0);
  }
}

TEST(PhaseTest, AnglesOutOfReachAreLeftToOthers) {
  const MpfrScope scope;
  StopCheck never(NeverStop);
  const PhaseLadder phases(
      FrequencyLadder(Sinusoidal{.width = 100, .base = 0x1p64, .ladder = DownscaledLadder{49.5}}),
      never);
  EXPECT_FALSE(phases.is_vanishing(5));
  EXPECT_TRUE(PointAt(phases, 5, {1, 0}).has_value());
  EXPECT_TRUE(phases.is_vanishing(6));
  EXPECT_FALSE(PointAt(phases, 6, {1, 0}).has_value());
  EXPECT_FALSE(PointAt(phases, 49, {1, 0.5}).has_value());
  EXPECT_FALSE(PointAt(phases, 0, {0, 0x1p-800}).has_value());
  EXPECT_TRUE(PointAt(phases, 49, {0, 0}).has_value());
}

TEST(PositionTest, IsTheExactSum) {
  EXPECT_EQ(MakePosition(-2.25, 5).integer, 3);
  EXPECT_EQ(MakePosition(-2.25, 5).fraction, -0.25);
  EXPECT_EQ(MakePosition(0x1p-1074, 7).integer, 7);
  EXPECT_EQ(MakePosition(0x1p-1074, 7).fraction, 0x1p-1074);
  EXPECT_TRUE(MakePosition(-3.0, 3).is_zero());
  EXPECT_TRUE(MakePosition(0x1p53, -1).is_integer());
  EXPECT_EQ(MakePosition(0x1p53, -1).integer, (std::int64_t{1} << 53) - 1);
}

TEST(PositionTest, ExponentBoundsItFromAbove) {
  const auto exponent = [](double value) { return MakePosition(value, 0).exponent(); };
  EXPECT_EQ(exponent(0.5), 0);
  EXPECT_EQ(exponent(-0.75), 0);
  EXPECT_EQ(exponent(0x1p-1074), -1073);
  EXPECT_EQ(exponent(1), 1);
  EXPECT_EQ(exponent(-4.5), 3);
}

}  // namespace
}  // namespace phasor
