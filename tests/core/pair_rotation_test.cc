#include "core/pair_rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/fp_environment.h"
#include "core/rounding.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

// Rotates by `angle`, which is exact, and compares with the oracle.
void ExpectRotation(ElementType type, double angle, double s, double c, SettleCounts& counts) {
  const MpfrScope scope;
  constexpr mpfr_prec_t kBits = 1472;
  AngleSplitter splitter(kBits);
  Real exact(53);
  mpfr_set_d(exact, angle, MPFR_RNDN);
  PairRotation rotation = splitter.Split(exact, -kBits);
  const RotatedPair got = Rotate(
      type, rotation, s, c, [&](mpfr_ptr out) { mpfr_set(out, exact, MPFR_RNDN); }, counts);
  // (x, y) = (c, s) turned by the angle.
  const auto [cosine, sine] = oracle::Turned(type, angle, c, s);
  ASSERT_EQ(got.sine, sine) << ElementTypeName(type) << " " << angle << " " << s << " " << c;
  ASSERT_EQ(got.cosine, cosine) << ElementTypeName(type) << " " << angle << " " << s << " " << c;
}

class PairRotationTest : public ::testing::TestWithParam<ElementType> {
 protected:
  // An element of the type, of about this exponent.
  double ElementNear(int exponent) {
    const double value = std::ldexp(1 + static_cast<double>(random_() >> 11) * 0x1p-53, exponent) *
                         ((random_() & 1) != 0 ? -1 : 1);
    return WidenBits(GetParam(), RoundToBits(GetParam(), value));
  }

  const FpEnvironment environment_;
  std::mt19937_64 random_{11};
};

// Half of the interval that double-double leaves is 2^-96 of the elements, and
// what it has to tell apart 2^-54: one in 2^40 is open.
TEST_P(PairRotationTest, OrdinaryPairsAreDecidedByDoubleDouble) {
  SettleCounts counts;
  for (int n = 0; n < 2000; ++n) {
    const double angle = std::ldexp(static_cast<double>(random_() >> 11) - 0x1p52,
                                    static_cast<int>(random_() % 100) - 110);
    ExpectRotation(GetParam(), angle, ElementNear(-static_cast<int>(random_() % 8)),
                   ElementNear(-static_cast<int>(random_() % 8)), counts);
  }
  EXPECT_EQ(counts.settled, 0);
  EXPECT_EQ(counts.costly, 0);
}

// Elements at the ends of what the type holds are no harder.
TEST_P(PairRotationTest, LargeAndSmallElementsAreDecidedByDoubleDouble) {
  const bool is_half = GetParam() == ElementType::kFloat16;
  const int most = GetParam() == ElementType::kFloat64 ? 1000 : is_half ? 13 : 120;
  SettleCounts counts;
  for (int exponent = -most; exponent <= most; exponent += is_half ? 1 : 15) {
    for (int n = 0; n < 20; ++n) {
      const double angle = 0.25 + static_cast<double>(random_() >> 11) * 0x1p-53;
      ExpectRotation(GetParam(), angle, ElementNear(exponent), ElementNear(exponent), counts);
    }
  }
  EXPECT_EQ(counts.settled, 0);
}

// What an angle next to nothing, or next to an axis, leaves open takes integers,
// and no arbitrary precision.
TEST_P(PairRotationTest, NoAngleSendsPairsToArbitraryPrecision) {
  SettleCounts counts;
  const double angles[] = {0x1p-1074,
                           -0x1.8p-1000,
                           0x1.0000000000001p-500,
                           257 * 0x1p-200,
                           0x1.000001p-100,
                           1e-300,
                           0x1p-30,
                           M_PI,
                           M_PI / 2,
                           -M_PI,
                           0x1.8p+900,
                           0x1.6ac5b262ca1ffp+849};
  for (const double angle : angles) {
    for (int n = 0; n < 20; ++n) {
      ExpectRotation(GetParam(), angle, ElementNear(-static_cast<int>(random_() % 10)),
                     ElementNear(-static_cast<int>(random_() % 10)), counts);
    }
    ExpectRotation(GetParam(), angle, 0, 1, counts);
    ExpectRotation(GetParam(), angle, 1, 0, counts);
  }
  EXPECT_EQ(counts.costly, 0);
}

TEST_P(PairRotationTest, AZeroPairTurnsToPlusZeros) {
  const MpfrScope scope;
  AngleSplitter splitter(1472);
  Real angle(53);
  mpfr_set_d(angle, 0.5, MPFR_RNDN);
  PairRotation rotation = splitter.Split(angle, -1472);
  SettleCounts counts;
  for (const double s : {0.0, -0.0}) {
    for (const double c : {0.0, -0.0}) {
      const RotatedPair got = Rotate(
          GetParam(), rotation, s, c, [&](mpfr_ptr out) { mpfr_set(out, angle, MPFR_RNDN); },
          counts);
      EXPECT_EQ(got.sine, 0U);
      EXPECT_EQ(got.cosine, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PairRotationTest, ::testing::ValuesIn(kTypes),
                         [](const auto& type) { return std::string(ElementTypeName(type.param)); });

}  // namespace
}  // namespace phasor
