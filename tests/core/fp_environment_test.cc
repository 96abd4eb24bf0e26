#include "core/fp_environment.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>

namespace phasor {
namespace {

// Kept from the compiler's own arithmetic, and in its place.
double Quotient(double a, double b) {
  volatile double divisor = b;
  volatile double quotient = a / divisor;
  return quotient;
}

TEST(FpEnvironmentTest, RoundsToNearestInsideAndGivesTheCallersModeBack) {
  const double nearest = Quotient(1, 3);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const double callers = Quotient(-1, 3);
    {
      const FpEnvironment environment;
      EXPECT_EQ(Quotient(1, 3), nearest);
      EXPECT_EQ(Quotient(-1, 3), -nearest);
    }
    EXPECT_EQ(std::fegetround(), mode);
    EXPECT_EQ(Quotient(-1, 3), callers);
  }
  std::fesetround(FE_TONEAREST);
}

TEST(FpEnvironmentTest, LeavesTheCallersStatusFlagsAlone) {
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const FpEnvironment environment;
    Quotient(1, 0);
  }
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
  std::feraiseexcept(FE_OVERFLOW);
  { const FpEnvironment environment; }
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
  std::feclearexcept(FE_ALL_EXCEPT);
}

#if defined(__SSE2__)
TEST(FpEnvironmentTest, KeepsSubnormalsInsideWhereTheCallerFlushesThem) {
  const unsigned callers = _mm_getcsr();
  _mm_setcsr(callers | 0x8040);  // flush to zero, denormals are zero
  constexpr double kLeast = std::numeric_limits<double>::min();
  EXPECT_EQ(Quotient(kLeast, 4), 0);
  {
    const FpEnvironment environment;
    EXPECT_GT(Quotient(kLeast, 4), 0);
    EXPECT_EQ(Quotient(std::numeric_limits<double>::denorm_min(), 1),
              std::numeric_limits<double>::denorm_min());
  }
  EXPECT_EQ(Quotient(kLeast, 4), 0);
  _mm_setcsr(callers);
}
#endif

}  // namespace
}  // namespace phasor
