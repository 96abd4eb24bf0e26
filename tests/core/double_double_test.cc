#include "core/double_double.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

using oracle::Number;

void Set(Number& n, DoubleDouble d) {
  mpfr_set_d(n.v, d.hi, MPFR_RNDN);
  mpfr_add_d(n.v, n.v, d.lo, MPFR_RNDN);
}

// |got - want| / |want|
double RelativeError(DoubleDouble got, const Number& want) {
  Number error(2000);
  Set(error, got);
  mpfr_sub(error.v, error.v, want.v, MPFR_RNDN);
  mpfr_div(error.v, error.v, want.v, MPFR_RNDN);
  return std::abs(mpfr_get_d(error.v, MPFR_RNDN));
}

class DoubleDoubleTest : public ::testing::Test {
 protected:
  double Draw(int exponents) {
    const double significand = std::ldexp(static_cast<double>(random_() >> 11), -53) + 0.5;
    const int exponent = static_cast<int>(random_() % (2 * exponents + 1)) - exponents;
    return std::ldexp((random_() & 1) != 0 ? significand : -significand, exponent);
  }
  DoubleDouble DrawPair(int exponents) {
    const double hi = Draw(exponents);
    return TwoSum(hi, hi * 0x1p-54 * std::abs(Draw(0)));
  }

  std::mt19937_64 random_{20240117};
};

TEST_F(DoubleDoubleTest, SumsAndProductsOfTwoNumbersAreExact) {
  for (int n = 0; n < 20000; ++n) {
    const double a = Draw(60);
    const double b = Draw(60);
    Number exact(400);
    mpfr_set_d(exact.v, a, MPFR_RNDN);
    mpfr_add_d(exact.v, exact.v, b, MPFR_RNDN);
    ASSERT_EQ(RelativeError(TwoSum(a, b), exact), 0) << a << " + " << b;
    mpfr_set_d(exact.v, a, MPFR_RNDN);
    mpfr_mul_d(exact.v, exact.v, b, MPFR_RNDN);
    ASSERT_EQ(RelativeError(TwoProd(a, b), exact), 0) << a << " * " << b;
  }
}

TEST_F(DoubleDoubleTest, ErrorsStayWithinTheirBounds) {
  for (int n = 0; n < 20000; ++n) {
    const DoubleDouble a = DrawPair(30);
    // Every other time nearly the negative of a, so that most of it cancels.
    const DoubleDouble b = n % 2 == 0 ? DrawPair(30) : -a * (1 + std::ldexp(1.0, -n % 50));
    const double d = Draw(30);
    Number left(2000);
    Number right(2000);
    Number exact(2000);
    Set(left, a);
    Set(right, b);
    mpfr_add(exact.v, left.v, right.v, MPFR_RNDN);
    ASSERT_LE(RelativeError(a + b, exact), kDoubleDoubleError);
    mpfr_mul(exact.v, left.v, right.v, MPFR_RNDN);
    ASSERT_LE(RelativeError(a * b, exact), kDoubleDoubleError);
    mpfr_add_d(exact.v, left.v, d, MPFR_RNDN);
    ASSERT_LE(RelativeError(a + d, exact), kDoubleDoubleError);
    mpfr_mul_d(exact.v, left.v, d, MPFR_RNDN);
    ASSERT_LE(RelativeError(a * d, exact), kDoubleDoubleError);
  }
}

}  // namespace
}  // namespace phasor
