#include "core/attention_factor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "core/real.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

Rotary LongRope(double factor, std::int64_t length) {
  return {.width = 2,
          .scaling = LongRopeScaling{.short_factor = {1},
                                     .long_factor = {1},
                                     .original_max_position_embeddings = length,
                                     .sequence_length = 1,
                                     .factor = factor}};
}

Rotary Yarn(double factor, std::optional<double> mscale = {}, std::optional<double> all_dim = {}) {
  return {.width = 2,
          .scaling = YarnScaling{.factor = factor,
                                 .original_max_position_embeddings = 4096,
                                 .mscale = mscale,
                                 .mscale_all_dim = all_dim}};
}

// The formula of phasor/core/rotary.h, to 600 bits: sqrt(1 + ln s / ln M).
void LongRopeFactor(double factor, std::int64_t length, mpfr_ptr out) {
  oracle::Number divisor(600);
  mpfr_set_si(divisor.v, length, MPFR_RNDN);
  mpfr_log2(divisor.v, divisor.v, MPFR_RNDN);
  mpfr_set_d(out, factor, MPFR_RNDN);
  mpfr_log2(out, out, MPFR_RNDN);
  mpfr_div(out, out, divisor.v, MPFR_RNDN);
  mpfr_add_ui(out, out, 1, MPFR_RNDN);
  mpfr_sqrt(out, out, MPFR_RNDN);
}

// (1 + m ln(s)/10) / (1 + n ln(s)/10).
void YarnFactor(double factor, double m, double n, mpfr_ptr out) {
  oracle::Number divisor(600);
  mpfr_set_d(divisor.v, factor, MPFR_RNDN);
  mpfr_log(divisor.v, divisor.v, MPFR_RNDN);
  mpfr_mul_d(out, divisor.v, m, MPFR_RNDN);
  mpfr_div_ui(out, out, 10, MPFR_RNDN);
  mpfr_add_ui(out, out, 1, MPFR_RNDN);
  mpfr_mul_d(divisor.v, divisor.v, n, MPFR_RNDN);
  mpfr_div_ui(divisor.v, divisor.v, 10, MPFR_RNDN);
  mpfr_add_ui(divisor.v, divisor.v, 1, MPFR_RNDN);
  mpfr_div(out, out, divisor.v, MPFR_RNDN);
}

// Whether `got` is within 2^exponent of `want`, relative.
bool IsWithin(mpfr_srcptr got, mpfr_srcptr want, int exponent) {
  oracle::Number error(600);
  mpfr_sub(error.v, got, want, MPFR_RNDN);
  mpfr_div(error.v, error.v, want, MPFR_RNDN);
  mpfr_abs(error.v, error.v, MPFR_RNDN);
  return mpfr_cmp_ui_2exp(error.v, 1, exponent) <= 0;
}

void ExpectFactor(const Rotary& spec, mpfr_srcptr want) {
  const MpfrScope scope;
  const AttentionFactor factor(spec);
  EXPECT_FALSE(factor.is_one());
  EXPECT_FALSE(factor.exact().has_value());
  for (const mpfr_prec_t bits : {24, 53, 54, 107, 256, 500}) {
    Real value(bits);
    factor.Value(value);
    EXPECT_TRUE(IsWithin(value, want, 1 - static_cast<int>(bits))) << bits;
  }
  oracle::Number sum(600);
  mpfr_set_d(sum.v, factor.approximate().hi, MPFR_RNDN);
  mpfr_add_d(sum.v, sum.v, factor.approximate().lo, MPFR_RNDN);
  EXPECT_TRUE(IsWithin(sum.v, want, -106));
  EXPECT_EQ(factor.rounded(), mpfr_get_d(want, MPFR_RNDN));
  for (const ElementType type : kTypes) {
    EXPECT_EQ(factor.Rounded(type), oracle::Round(type, want)) << ElementTypeName(type);
  }
}

TEST(AttentionFactorTest, LongRopesIsTheFormulas) {
  oracle::Number want(600);
  for (const double factor : {1.0000000000000002, 1.5, 4.0, 32.0, 31.0, 0x1p64}) {
    for (const std::int64_t length :
         {std::int64_t{2}, std::int64_t{4096}, std::int64_t{131072}, (std::int64_t{1} << 53) - 1}) {
      LongRopeFactor(factor, length, want.v);
      const double rounded = mpfr_get_d(want.v, MPFR_RNDN);
      // Those that are a multiple of a quarter are exact: below.
      if (mpfr_cmp_d(want.v, rounded) == 0) continue;
      ExpectFactor(LongRope(factor, length), want.v);
    }
  }
}

TEST(AttentionFactorTest, YarnsIsTheFormulas) {
  oracle::Number want(600);
  for (const double factor : {1.0000000000000002, 4.0, 40.0, 0x1p64}) {
    YarnFactor(factor, 1, 0, want.v);
    ExpectFactor(Yarn(factor), want.v);
    for (const double m : {0x1p-32, 0.707, 1.0, 0x1p32}) {
      for (const double n : {0x1p-32, 0.5, 3.0}) {
        if (m == n) continue;
        YarnFactor(factor, m, n, want.v);
        ExpectFactor(Yarn(factor, m, n), want.v);
      }
    }
  }
}

// 1 + ln s / ln M is the square of a multiple of a quarter.
TEST(AttentionFactorTest, LongRopesQuartersAreExact) {
  struct Case {
    double factor;
    std::int64_t length;
    double want;
  };
  for (const Case& c : {Case{512, 65536, 1.25}, Case{32, 16, 1.5}, Case{0x1p33, 65536, 1.75},
                        Case{64, 4, 2}, Case{27, 3, 2}, Case{125, 5, 2}, Case{1e12, 10000, 2}}) {
    const AttentionFactor factor(LongRope(c.factor, c.length));
    EXPECT_EQ(factor.exact(), c.want) << c.factor << " " << c.length;
    EXPECT_EQ(factor.rounded(), c.want);
    EXPECT_EQ(factor.approximate().lo, 0);
    EXPECT_FALSE(factor.is_one());
  }
  // sqrt(17) is none.
  EXPECT_FALSE(AttentionFactor(LongRope(0x1p64, 16)).exact().has_value());
}

TEST(AttentionFactorTest, IsOneWhereNothingIsToBeMultiplied) {
  for (const Rotary& spec :
       {Rotary{.width = 2}, Rotary{.width = 2, .scaling = LinearScaling{8}},
        Rotary{.width = 4, .scaling = NtkScaling{8}},
        Rotary{.width = 2, .scaling = Llama3Scaling{8, 1, 4, 8192}},
        Rotary{.width = 2, .scaling = ProportionalScaling{0.5, 8}},
        Rotary{.width = 2, .scaling = ExplicitLadder{{1}}}, Yarn(1), Yarn(8, 0.7, 0.7),
        LongRope(1, 4096), Rotary{.width = 2, .attention_factor = 1.0}}) {
    const AttentionFactor factor(spec);
    EXPECT_TRUE(factor.is_one());
    EXPECT_EQ(factor.exact(), 1.0);
    EXPECT_EQ(factor.rounded(), 1.0);
  }
}

TEST(AttentionFactorTest, OneThatIsGivenIsTaken) {
  for (const double given : {0x1p-64, 0.1, 1.3, 0x1p64}) {
    Rotary spec = Yarn(8);
    spec.attention_factor = given;
    const AttentionFactor factor(spec);
    EXPECT_EQ(factor.exact(), given);
    EXPECT_EQ(factor.approximate().hi, given);
    EXPECT_EQ(factor.approximate().lo, 0);
    oracle::Number want(53);
    mpfr_set_d(want.v, given, MPFR_RNDN);
    for (const ElementType type : kTypes) {
      EXPECT_EQ(factor.Rounded(type), oracle::Round(type, want.v));
    }
  }
}

}  // namespace
}  // namespace phasor
