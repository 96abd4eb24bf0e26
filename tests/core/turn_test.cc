#include "core/turn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

using oracle::Number;

template <std::size_t kLimbs>
void Set(Number& n, const TurnFraction<kLimbs>& turn) {
  mpfr_set_zero(n.v, 1);
  for (std::size_t k = kLimbs; k-- > 0;) {
    mpfr_mul_2ui(n.v, n.v, 64, MPFR_RNDN);
    mpfr_add_ui(n.v, n.v, turn.limbs[k], MPFR_RNDN);
  }
  mpfr_div_2ui(n.v, n.v, 64 * kLimbs, MPFR_RNDN);
}

Turn Draw(std::mt19937_64& random) {
  Turn turn;
  for (std::uint64_t& limb : turn.limbs) limb = random();
  return turn;
}

// How far `split` is from `turn` (mod 1), relative to the exact residue.
template <std::size_t kLimbs>
void ExpectSplits(const TurnFraction<kLimbs>& turn) {
  const SplitTurn split = Split(turn);
  ASSERT_GE(split.node, 0);
  ASSERT_LT(split.node, kTurnNodes);
  ASSERT_LE(std::abs(split.residue.hi), 1.0 / 512);
  Number exact(600);
  Set(exact, turn);
  mpfr_mul_ui(exact.v, exact.v, kTurnNodes, MPFR_RNDN);
  mpfr_sub_ui(exact.v, exact.v, split.node, MPFR_RNDN);
  mpfr_div_ui(exact.v, exact.v, kTurnNodes, MPFR_RNDN);
  if (mpfr_cmp_d(exact.v, 0.5) > 0) mpfr_sub_ui(exact.v, exact.v, 1, MPFR_RNDN);
  Number error(600);
  mpfr_sub_d(error.v, exact.v, split.residue.hi, MPFR_RNDN);
  mpfr_sub_d(error.v, error.v, split.residue.lo, MPFR_RNDN);
  if (mpfr_zero_p(exact.v) != 0) {
    ASSERT_NE(mpfr_zero_p(error.v), 0);
    return;
  }
  mpfr_div(error.v, error.v, exact.v, MPFR_RNDN);
  ASSERT_LE(std::abs(mpfr_get_d(error.v, MPFR_RNDN)), kSplitError);
}

TEST(TurnTest, MultiplicationDropsWholeTurnsAndNothingElse) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 5000; ++n) {
    const Turn turn = Draw(random);
    std::int64_t factor = static_cast<std::int64_t>(random()) >> (random() % 64);
    if (n == 0) factor = std::numeric_limits<std::int64_t>::min();
    if (n == 1) factor = std::numeric_limits<std::int64_t>::max();
    if (n == 2) factor = 0;
    if (n == 3) factor = -1;
    Number want(400);
    Set(want, turn);
    mpfr_mul_si(want.v, want.v, factor, MPFR_RNDN);
    Number whole(400);
    mpfr_floor(whole.v, want.v);
    mpfr_sub(want.v, want.v, whole.v, MPFR_RNDN);
    Number got(400);
    Set(got, turn * factor);
    ASSERT_TRUE(mpfr_equal_p(got.v, want.v)) << factor;
  }
}

TEST(TurnTest, SplitsAtTheNearestNodeWithFullRelativePrecision) {
  std::mt19937_64 random(2);
  for (int n = 0; n < 5000; ++n) {
    Turn turn = Draw(random);
    ExpectSplits(turn);
    // Close to a node, on either side, as close as the format allows.
    const int bits = static_cast<int>(random() % 256);
    for (int k = 0; k < 4; ++k) {
      const int keep = std::min(64, std::max(0, bits - 64 * k));
      turn.limbs[k] = keep == 0 ? 0 : turn.limbs[k] >> (64 - keep);
    }
    turn.limbs[3] += random() << 56;
    ExpectSplits(turn);
    ExpectSplits(turn * -1);
    WideTurn wide{{random() >> (random() % 64), 0, turn.limbs[0], turn.limbs[1], turn.limbs[2],
                   turn.limbs[3]}};
    ExpectSplits(wide);
  }
}

TEST(TurnTest, SplitsTheExactFractions) {
  const Turn quarter{{0, 0, 0, std::uint64_t{1} << 62}};
  for (int k = 0; k < 8; ++k) {
    const SplitTurn split = Split(quarter * k);
    EXPECT_EQ(split.node, k % 4 * 64);
    EXPECT_EQ(split.residue.hi, 0);
    EXPECT_FALSE(std::signbit(split.residue.hi));
  }
  const Turn least{{1, 0, 0, 0}};
  EXPECT_EQ(Split(least).residue.hi, 0x1p-256);
  EXPECT_EQ(Split(least * -1).residue.hi, -0x1p-256);
  EXPECT_EQ(Split(least * -1).node, 0);
}

}  // namespace
}  // namespace phasor
