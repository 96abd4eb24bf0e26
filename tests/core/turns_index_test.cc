#include "core/turns_index.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/real.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

// Printed with 16 digits in tests/golden/schemes.json: gpt-oss's range.
TEST(TurnsIndexTest, GoldenRange) {
  const MpfrScope scope;
  const TurnsIndex index(32, 150000, 4096);
  Real value(256);
  index.Value(32, value);
  EXPECT_NEAR(mpfr_get_d(value, MPFR_RNDN), 8.092779115512401, 1e-14);
  index.Value(1, value);
  EXPECT_NEAR(mpfr_get_d(value, MPFR_RNDN), 17.398024501588556, 1e-14);
  EXPECT_EQ(index.Floor(32), 8);
  EXPECT_EQ(index.Floor(1), 17);
}

// base^(c/h) 2 pi turns = M, by MPFR's own power.
TEST(TurnsIndexTest, SolvesItsEquation) {
  const MpfrScope scope;
  for (const double base : {10000.0, 1 + 0x1p-40, 0x1p64}) {
    for (const double turns : {32.0, 1.0, 0x1p-32, 1e9}) {
      for (const std::int64_t positions :
           {std::int64_t{1}, std::int64_t{4096}, std::int64_t{1} << 53}) {
        Real c(512);
        TurnsIndex(64, base, positions).Value(turns, c);
        mpfr_div_ui(c, c, 64, MPFR_RNDN);
        oracle::Number left(512);
        mpfr_set_d(left.v, base, MPFR_RNDN);
        mpfr_pow(left.v, left.v, c, MPFR_RNDN);
        mpfr_mul_d(left.v, left.v, 2 * turns, MPFR_RNDN);
        oracle::Number pi(512);
        mpfr_const_pi(pi.v, MPFR_RNDN);
        mpfr_mul(left.v, left.v, pi.v, MPFR_RNDN);
        mpfr_div_si(left.v, left.v, positions, MPFR_RNDN);
        mpfr_sub_ui(left.v, left.v, 1, MPFR_RNDN);
        EXPECT_TRUE(mpfr_zero_p(left.v) != 0 || mpfr_get_exp(left.v) < -440)
            << base << " " << turns;
      }
    }
  }
}

// What is promised of the error holds at every precision, and is of use.
TEST(TurnsIndexTest, StaysWithinItsBound) {
  const MpfrScope scope;
  for (const double base : {1 + 0x1p-40, 10000.0, 0x1p64}) {
    for (const double turns : {0x1p-32, 0.3, 1.0, 32.0, 1e9}) {
      for (const std::int64_t positions :
           {std::int64_t{1}, std::int64_t{4096}, (std::int64_t{1} << 53) - 1}) {
        const TurnsIndex index(64, base, positions);
        Real exact(512);
        index.Value(turns, exact);
        for (mpfr_prec_t bits = 60; bits < 90; ++bits) {
          Real value(bits);
          const mpfr_exp_t bound = index.Value(turns, value) - bits;
          Real error(64);
          mpfr_sub(error, exact, value, MPFR_RNDN);
          if (mpfr_zero_p(error) == 0) {
            EXPECT_LE(mpfr_get_exp(error), bound) << base << " " << turns << " " << positions;
          }
          // Of the two factors the larger one's last bits, and a few.
          EXPECT_LE(bound, std::max<mpfr_exp_t>(mpfr_get_exp(exact), 20) + 32 - bits);
        }
      }
    }
  }
}

TEST(TurnsIndexTest, FloorsAreCutFarOutside) {
  const MpfrScope scope;
  EXPECT_EQ(TurnsIndex(8, 1 + 0x1p-52, std::int64_t{1} << 53).Floor(1), 32);
  EXPECT_EQ(TurnsIndex(8, 1 + 0x1p-52, 1).Floor(1), -32);
}

TEST(TurnsIndexTest, ThousandthsCount) {
  const MpfrScope scope;
  const TurnsIndex index(32, 150000, 4096);  // c(1) = 17.398...
  EXPECT_EQ(index.Floor(1, 601), 17);
  EXPECT_EQ(index.Floor(1, 602), 18);
}

}  // namespace
}  // namespace phasor
