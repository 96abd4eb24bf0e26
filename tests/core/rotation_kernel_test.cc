#include "core/rotation_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

using oracle::Number;

SinCos ToDoubleDoubles(mpfr_srcptr angle) {
  Number sine(300);
  Number cosine(300);
  mpfr_sin_cos(sine.v, cosine.v, angle, MPFR_RNDN);
  const auto split = [](Number& n) {
    const double hi = mpfr_get_d(n.v, MPFR_RNDN);
    mpfr_sub_d(n.v, n.v, hi, MPFR_RNDN);
    return DoubleDouble{hi, mpfr_get_d(n.v, MPFR_RNDN)};
  };
  return {split(sine), split(cosine)};
}

double Distance(DoubleDouble got, const Number& want) {
  Number error(300);
  mpfr_sub_d(error.v, want.v, got.hi, MPFR_RNDN);
  mpfr_sub_d(error.v, error.v, got.lo, MPFR_RNDN);
  return std::abs(mpfr_get_d(error.v, MPFR_RNDN));
}

TEST(RotationKernelTest, TurnsKeepTheirBound) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 60; ++n) {
    // Fast pairs and slow ones.
    const double angle =
        std::ldexp(static_cast<double>(random() >> 11), -51 - static_cast<int>(random() % 60));
    std::vector<SinCos> turns(256);
    Number one(300);
    mpfr_set_d(one.v, angle, MPFR_RNDN);
    turns[1] = ToDoubleDoubles(one.v);
    FillTurns(absl::MakeSpan(turns));
    double largest = 0;
    for (const SinCos& turn : turns) largest = std::max(largest, std::abs(turn.sin.hi));
    for (int r = 1; r < 256; ++r) {
      Number sine(300);
      Number cosine(300);
      Number multiple(300);
      mpfr_mul_si(multiple.v, one.v, r, MPFR_RNDN);
      mpfr_sin_cos(sine.v, cosine.v, multiple.v, MPFR_RNDN);
      ASSERT_LE(Distance(turns[r].sin, sine), kTurnError * largest) << angle << " " << r;
      ASSERT_LE(Distance(turns[r].cos, cosine), kTurnError) << angle << " " << r;
    }
  }
}

// Rotates by random angles; what is not marked has to be right, and little is marked.
template <ElementType kType>
void ExpectRightOrMarked() {
  std::mt19937_64 random(2);
  constexpr std::int64_t kPairs = 600;
  constexpr bool kLowParts = kType == ElementType::kFloat64;
  Anchor anchor(kPairs, kLowParts);
  PairArrays rotations(2 * kPairs, kLowParts);
  std::vector<double> at(kPairs);
  std::vector<double> by(kPairs);
  for (std::int64_t i = 0; i < kPairs; ++i) {
    const auto draw = [&] {
      return std::ldexp(static_cast<double>(random() >> 12), -51 - static_cast<int>(random() % 20));
    };
    const double a = draw();
    const double r = draw();
    Number exact(300);
    mpfr_set_d(exact.v, a, MPFR_RNDN);
    const SinCos at_anchor = ToDoubleDoubles(exact.v);
    anchor.pairs.Set(i, at_anchor);
    mpfr_set_d(exact.v, r, MPFR_RNDN);
    const SinCos turn = ToDoubleDoubles(exact.v);
    rotations.Set(kPairs + i, turn);
    const double s = std::abs(at_anchor.sin.hi);
    const double c = std::abs(at_anchor.cos.hi);
    anchor.sin_error[i] = kRotationError<kType> * (s + c * std::abs(turn.sin.hi));
    anchor.cos_error[i] = kRotationError<kType> * (c + s * std::abs(turn.sin.hi));
    at[i] = a;
    by[i] = r;
  }
  std::vector<BitsOf<kType>> sines(kPairs);
  std::vector<BitsOf<kType>> cosines(kPairs);
  std::vector<BitsOf<kType>> doubt(kPairs);
  const bool any =
      Rotate<kType>(anchor, rotations, kPairs, sines.data(), cosines.data(), doubt.data());
  int marked = 0;
  for (std::int64_t i = 0; i < kPairs; ++i) {
    Number exact(300);
    Number sine(300);
    Number cosine(300);
    mpfr_set_d(exact.v, at[i], MPFR_RNDN);
    mpfr_add_d(exact.v, exact.v, by[i], MPFR_RNDN);
    mpfr_sin_cos(sine.v, cosine.v, exact.v, MPFR_RNDN);
    if ((doubt[i] & kSineInDoubt) == 0) {
      ASSERT_EQ(sines[i], oracle::Round(kType, sine.v));
    }
    if ((doubt[i] & kCosineInDoubt) == 0) {
      ASSERT_EQ(cosines[i], oracle::Round(kType, cosine.v));
    }
    if (doubt[i] != 0) ++marked;
  }
  EXPECT_EQ(any, marked > 0);
  EXPECT_LT(marked, kPairs / 100);
}

TEST(RotationKernelTest, WhatIsNotMarkedIsRight) {
  ExpectRightOrMarked<ElementType::kFloat32>();
  ExpectRightOrMarked<ElementType::kFloat64>();
  ExpectRightOrMarked<ElementType::kFloat16>();
  ExpectRightOrMarked<ElementType::kBfloat16>();
}

TEST(RotationKernelTest, WhatIsInDoubtIsMarked) {
  // Sine 1 + 2^-24, midway between two binary32, and cosine 0 of either sign.
  Anchor anchor(1, false);
  anchor.pairs.Set(0, {{1 + 0x1p-24, 0}, {0, 0}});
  anchor.sin_error[0] = anchor.cos_error[0] = 0x1p-60;
  PairArrays rotations(1, false);
  rotations.Set(0, {{0, 0}, {1, 0}});
  std::uint32_t sine = 0;
  std::uint32_t cosine = 0;
  std::uint32_t doubt = 0;
  EXPECT_TRUE(Rotate<ElementType::kFloat32>(anchor, rotations, 0, &sine, &cosine, &doubt));
  EXPECT_EQ(doubt, kCosineInDoubt);  // 2^-60 is lost in the sine's binary64
  anchor.sin_error[0] = 0x1p-50;
  EXPECT_TRUE(Rotate<ElementType::kFloat32>(anchor, rotations, 0, &sine, &cosine, &doubt));
  EXPECT_EQ(doubt, kSineInDoubt | kCosineInDoubt);
  anchor.cos_error[0] = 0;
  anchor.pairs.Set(0, {{1, 0}, {0, 0}});
  EXPECT_FALSE(Rotate<ElementType::kFloat32>(anchor, rotations, 0, &sine, &cosine, &doubt));
  EXPECT_EQ(sine, 0x3f800000u);
  EXPECT_EQ(cosine, 0u);
}

}  // namespace
}  // namespace phasor
