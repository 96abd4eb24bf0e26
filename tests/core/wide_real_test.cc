#include "core/wide_real.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "core/real.h"
#include "core/rounding.h"

namespace phasor {
namespace {

template <typename Wide>
void ToMpfr(const Wide& value, mpfr_ptr out) {
  mpfr_set_ui(out, 0, MPFR_RNDN);
  for (std::size_t k = value.limbs.size(); k-- > 0;) {
    mpfr_mul_2ui(out, out, 64, MPFR_RNDN);
    mpfr_add_ui(out, out, value.limbs[k], MPFR_RNDN);
  }
  mpfr_mul_2si(out, out, value.exponent, MPFR_RNDN);
  if (value.negative) mpfr_neg(out, out, MPFR_RNDN);
}

template <typename T>
class WideRealTest : public testing::Test {
 protected:
  static constexpr std::size_t kLimbs = T::value;
  using Wide = WideReal<kLimbs>;

  Wide Random(int exponents) {
    WideLimbs<kLimbs> limbs;
    for (std::uint64_t& limb : limbs) {
      const std::uint64_t kind = random_() % 4;
      limb = kind == 0 ? 0 : kind == 1 ? ~std::uint64_t{0} : random_();
    }
    limbs[kLimbs - 1] |= std::uint64_t{1} << 63;
    return {limbs, static_cast<std::int64_t>(random_() % exponents) - exponents / 2,
            (random_() & 1) != 0};
  }
  // |a - b| <= 2^(exponent of larger + 2 - bits).
  static void ExpectNear(mpfr_srcptr got, mpfr_srcptr want, std::int64_t larger) {
    Real error(64);
    mpfr_sub(error, got, want, MPFR_RNDU);
    if (mpfr_zero_p(error) != 0) return;
    EXPECT_LE(mpfr_get_exp(error), larger + 2 - Wide::kBits);
  }

  std::mt19937_64 random_{7};
};
using Sizes =
    testing::Types<std::integral_constant<std::size_t, 2>, std::integral_constant<std::size_t, 4>>;
TYPED_TEST_SUITE(WideRealTest, Sizes);

TYPED_TEST(WideRealTest, SumsAndProductsKeepTheirBounds) {
  const MpfrScope scope;
  Real x(2000);
  Real y(2000);
  Real want(2000);
  Real got(2000);
  for (int n = 0; n < 20000; ++n) {
    const auto a = this->Random(n % 2 == 0 ? 4 : 600);
    const auto b = this->Random(4);
    ToMpfr(a, x);
    ToMpfr(b, y);
    mpfr_add(want, x, y, MPFR_RNDN);
    ToMpfr(a + b, got);
    this->ExpectNear(got, want, std::max(a.magnitude_exponent(), b.magnitude_exponent()));
    mpfr_mul(want, x, y, MPFR_RNDN);
    ToMpfr(a * b, got);
    this->ExpectNear(got, want, mpfr_get_exp(want));
  }
}

TYPED_TEST(WideRealTest, DoublesAreExact) {
  const MpfrScope scope;
  Real got(2000);
  for (const double x :
       {1.0, -1.0, 0.1, 0x1p-1074, -0x1.8p-1073, 0x1.fffffffffffffp1023, 0x1p-1022}) {
    ToMpfr(MakeWide<TestFixture::kLimbs>(x), got);
    EXPECT_EQ(mpfr_cmp_d(got, x), 0) << x;
  }
  EXPECT_TRUE(MakeWide<TestFixture::kLimbs>(0.0).is_zero());
}

// MPFR's own rounding of both ends decides what is to come out.
TYPED_TEST(WideRealTest, DecidesAsMpfrDoes) {
  const MpfrScope scope;
  constexpr std::int64_t kBits = TestFixture::Wide::kBits;
  Real x(2000);
  Real end(2000);
  Real error(2);
  int undecided = 0;
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                 ElementType::kFloat16, ElementType::kBfloat16}) {
    const BinaryFormat format = FormatOf(type);
    for (int n = 0; n < 20000; ++n) {
      auto value = this->Random(8);
      // Around the least subnormal, the least normal, 1 and the largest.
      const std::int64_t exponents[] = {format.quantum_exponent,
                                        format.quantum_exponent + format.precision, 0,
                                        std::int64_t{1} << (format.bits - format.precision - 1)};
      value.exponent += exponents[n % 4] - kBits;
      if (n % 3 == 0) {  // next to a midpoint, or on it
        value.limbs = {};
        value.limbs[TestFixture::kLimbs - 1] =
            ((this->random_() >> 1 | std::uint64_t{1} << 62) >> (62 - format.precision) | 1)
            << (63 - format.precision);
        if (n % 2 == 0) --value.limbs[0];
        if (value.limbs[TestFixture::kLimbs - 1] >> 63 == 0) continue;
      }
      const std::int64_t error_exponent =
          value.exponent + static_cast<std::int64_t>(this->random_() % (kBits - 1)) - (n % 5) * 20;
      const auto got = DecideBits(type, value, error_exponent);
      ToMpfr(value, x);
      // At least one unit, as the function says.
      mpfr_set_ui_2exp(error, 1, std::max(error_exponent, value.exponent), MPFR_RNDN);
      mpfr_sub(end, x, error, MPFR_RNDN);
      const std::uint64_t below = RoundToBits(type, end);
      mpfr_add(end, x, error, MPFR_RNDN);
      const std::uint64_t above = RoundToBits(type, end);
      ASSERT_EQ(got.has_value(), below == above) << ElementTypeName(type) << " " << n;
      if (got.has_value()) {
        ASSERT_EQ(*got, below);
      } else {
        ++undecided;
      }
    }
  }
  EXPECT_GT(undecided, 100);
}

}  // namespace
}  // namespace phasor
