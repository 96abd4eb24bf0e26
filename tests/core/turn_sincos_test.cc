#include "core/turn_sincos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

using oracle::Number;

double RelativeError(DoubleDouble got, const Number& want) {
  Number error(600);
  mpfr_sub_d(error.v, want.v, got.hi, MPFR_RNDN);
  mpfr_sub_d(error.v, error.v, got.lo, MPFR_RNDN);
  mpfr_div(error.v, error.v, want.v, MPFR_RNDN);
  return std::abs(mpfr_get_d(error.v, MPFR_RNDN));
}

// The larger of the two relative errors at a turn's exact angle.
double Error(const Turn& turn) {
  Number angle(600);
  mpfr_set_zero(angle.v, 1);
  for (int k = 4; k-- > 0;) {
    mpfr_mul_2ui(angle.v, angle.v, 64, MPFR_RNDN);
    mpfr_add_ui(angle.v, angle.v, turn.limbs[k], MPFR_RNDN);
  }
  mpfr_div_2ui(angle.v, angle.v, 255, MPFR_RNDN);
  Number pi(1000);
  mpfr_const_pi(pi.v, MPFR_RNDN);
  Number radians(1000);
  mpfr_mul(radians.v, angle.v, pi.v, MPFR_RNDN);
  Number sine(600);
  Number cosine(600);
  mpfr_sin_cos(sine.v, cosine.v, radians.v, MPFR_RNDN);
  const SinCos got = TurnSinCos(turn);
  return std::max(RelativeError(got.sin, sine), RelativeError(got.cos, cosine));
}

TEST(TurnSinCosTest, RelativeErrorStaysWithinItsBound) {
  std::mt19937_64 random(4);
  double worst = 0;
  for (int n = 0; n < 20000; ++n) {
    Turn turn{{random(), random(), random(), random()}};
    if (n % 3 == 1) {
      // Close to a node: sine or cosine near zero for one node in 64.
      const int zeros = static_cast<int>(random() % 150) + 1;
      turn.limbs[3] = zeros >= 64 ? 0 : turn.limbs[3] >> zeros;
      turn.limbs[2] = zeros >= 128 ? 0 : zeros > 64 ? turn.limbs[2] >> (zeros - 64) : turn.limbs[2];
      if (n % 2 == 0) turn = turn * -1;
      turn.limbs[3] += (random() % 4 * 64) << 56;
    } else if (n % 3 == 2) {
      // Far from all nodes.
      turn.limbs[3] = (turn.limbs[3] & ~((std::uint64_t{1} << 56) - 1)) + (std::uint64_t{1} << 55) +
                      (random() >> 20) - (random() >> 20);
    }
    const double error = Error(turn);
    ASSERT_LE(error, kSinCosError) << std::hex << turn.limbs[3] << " " << turn.limbs[2];
    worst = std::max(worst, error);
  }
  RecordProperty("worst_log2", std::to_string(std::log2(worst)));
}

TEST(TurnSinCosTest, TheAxesAreExact) {
  const double sines[] = {0, 1, 0, -1};
  const double cosines[] = {1, 0, -1, 0};
  for (int k = 0; k < 4; ++k) {
    const SinCos got = TurnSinCos(Turn{{0, 0, 0, static_cast<std::uint64_t>(k) << 62}});
    EXPECT_EQ(got.sin.hi, sines[k]);
    EXPECT_EQ(got.sin.lo, 0);
    EXPECT_EQ(got.cos.hi, cosines[k]);
    EXPECT_EQ(got.cos.lo, 0);
    EXPECT_EQ(std::signbit(got.sin.hi), sines[k] < 0);
    EXPECT_EQ(std::signbit(got.cos.hi), cosines[k] < 0);
  }
}

TEST(TurnSinCosTest, TinyAnglesKeepTheirRelativePrecision) {
  for (int exponent = -800; exponent < -100; exponent += 7) {
    const double residue = std::ldexp(-1.3, exponent);
    const SinCos got = TurnSinCos(SplitTurn{0, {residue, 0}});
    Number want(600);
    mpfr_const_pi(want.v, MPFR_RNDN);
    mpfr_mul_d(want.v, want.v, 2 * residue, MPFR_RNDN);
    mpfr_sin(want.v, want.v, MPFR_RNDN);
    ASSERT_LE(RelativeError(got.sin, want), kSinCosError) << exponent;
    ASSERT_EQ(got.cos.hi, 1);
  }
}

}  // namespace
}  // namespace phasor
