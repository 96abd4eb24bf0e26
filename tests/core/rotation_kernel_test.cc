#include "core/rotation_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tests/core/vector_targets.h"
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

SinCos ToDoubleDoubles(double angle) {
  Number exact(53);
  mpfr_set_d(exact.v, angle, MPFR_RNDN);
  return ToDoubleDoubles(exact.v);
}

double Distance(DoubleDouble got, const Number& want) {
  Number error(300);
  mpfr_sub_d(error.v, want.v, got.hi, MPFR_RNDN);
  mpfr_sub_d(error.v, error.v, got.lo, MPFR_RNDN);
  return std::abs(mpfr_get_d(error.v, MPFR_RNDN));
}

TEST(RotationKernelTest, TurnsKeepTheirBound) {
  ForEachVectorTarget([] {
    std::mt19937_64 random(1);
    constexpr std::int64_t kPairs = 21;
    PairRows turns(kMaxTurns, kPairs, /*with_low_parts=*/true);
    std::vector<double> angles(kPairs);
    for (std::int64_t i = 0; i < kPairs; ++i) {
      // Fast pairs and slow ones.
      angles[i] =
          std::ldexp(static_cast<double>(random() >> 11), -51 - static_cast<int>(random() % 60));
      turns[1].Set(i, ToDoubleDoubles(angles[i]));
    }
    for (std::int64_t r = 0; r < kMaxTurns; ++r) FillTurn(r, turns);
    for (std::int64_t i = 0; i < kPairs; ++i) {
      double largest = 0;
      for (std::int64_t r = 0; r < kMaxTurns; ++r) {
        largest = std::max(largest, std::abs(turns[r].sin[i]));
      }
      for (std::int64_t r = 0; r < kMaxTurns; ++r) {
        Number sine(300);
        Number cosine(300);
        Number multiple(300);
        mpfr_set_d(multiple.v, angles[i], MPFR_RNDN);
        mpfr_mul_si(multiple.v, multiple.v, r, MPFR_RNDN);
        mpfr_sin_cos(sine.v, cosine.v, multiple.v, MPFR_RNDN);
        ASSERT_LE(Distance(turns[r].At(i).sin, sine), kTurnError * largest)
            << angles[i] << " " << r;
        ASSERT_LE(Distance(turns[r].At(i).cos, cosine), kTurnError) << angles[i] << " " << r;
      }
    }
  });
}

// A base, an anchor's rotation and a row's, by random angles.
template <ElementType kType>
struct RandomRow {
  static constexpr bool kLowParts = kType == ElementType::kFloat64;

  RandomRow(std::int64_t size, std::uint64_t seed)
      : pairs(size),
        base(1, size, kLowParts),
        stride(1, size, kLowParts),
        turn(1, size, kLowParts),
        largest_sin(size + PairRows::kOverrun),
        anchor(size, kLowParts),
        sines(size, 300),
        cosines(size, 300) {
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < size; ++i) {
      Number sum(300);
      mpfr_set_zero(sum.v, 1);
      for (PairRows* row : {&base, &stride, &turn}) {
        const double sign = random() % 2 == 0 ? 1 : -1;
        const double angle = sign * std::ldexp(static_cast<double>(random() >> 12),
                                               -51 - static_cast<int>(random() % 20));
        (*row)[0].Set(i, ToDoubleDoubles(angle));
        mpfr_add_d(sum.v, sum.v, angle, MPFR_RNDN);
      }
      mpfr_sin_cos(sines.numbers[i].v, cosines.numbers[i].v, sum.v, MPFR_RNDN);
      largest_sin[i] = std::abs(turn[0].sin[i]);
    }
    RotateAnchor<kType>(pairs, std::as_const(base)[0], std::as_const(stride)[0], largest_sin.data(),
                        nullptr, anchor);
  }

  struct Numbers {
    Numbers(std::int64_t size, mpfr_prec_t bits) {
      for (std::int64_t i = 0; i < size; ++i) numbers.emplace_back(bits);
    }
    std::deque<Number> numbers;
  };

  std::int64_t pairs;
  PairRows base;
  PairRows stride;
  PairRows turn;
  std::vector<double> largest_sin;
  Anchor anchor;
  // Of the sums of the three angles.
  Numbers sines;
  Numbers cosines;
};

// What is not marked has to be right, and little is marked.
template <ElementType kType>
void ExpectRightOrMarked(std::int64_t pairs) {
  RandomRow<kType> row(pairs, pairs);
  const PairRow turn = std::as_const(row.turn)[0];
  std::vector<BitsOf<kType>> sine_doubt(pairs + PairRows::kOverrun);
  std::vector<BitsOf<kType>> cosine_doubt(pairs + PairRows::kOverrun);
  std::vector<std::byte> out(2 * pairs * sizeof(BitsOf<kType>));
  const bool any = RotateRow<kType>(pairs, row.anchor, turn,
                                    {.row = out.data(), .layout = Layout::kSinCosInterleaved});
  MarkDoubt<kType>(pairs, row.anchor, turn, sine_doubt.data(), cosine_doubt.data());
  int marked = 0;
  for (std::int64_t i = 0; i < pairs; ++i) {
    if (sine_doubt[i] == 0) {
      ASSERT_EQ(oracle::Element(kType, out.data(), 2 * i),
                oracle::Round(kType, row.sines.numbers[i].v))
          << i;
    }
    if (cosine_doubt[i] == 0) {
      ASSERT_EQ(oracle::Element(kType, out.data(), 2 * i + 1),
                oracle::Round(kType, row.cosines.numbers[i].v))
          << i;
    }
    if (sine_doubt[i] != 0 || cosine_doubt[i] != 0) ++marked;
  }
  EXPECT_EQ(any, marked > 0);
  EXPECT_LE(marked, pairs / 100);
}

TEST(RotationKernelTest, WhatIsNotMarkedIsRight) {
  ForEachVectorTarget([] {
    for (const std::int64_t pairs : {1, 2, 3, 7, 8, 17, 61, 600}) {
      ExpectRightOrMarked<ElementType::kFloat32>(pairs);
      ExpectRightOrMarked<ElementType::kFloat64>(pairs);
      ExpectRightOrMarked<ElementType::kFloat16>(pairs);
      ExpectRightOrMarked<ElementType::kBfloat16>(pairs);
    }
  });
}

// The anchors' own values, and their rows': within the bounds that are given for rows.
template <ElementType kType>
void ExpectWithinBounds() {
  constexpr std::int64_t kPairs = 400;
  const RandomRow<kType> row(kPairs, 5);
  for (std::int64_t i = 0; i < kPairs; ++i) {
    // The row from the anchor, without any error of its own.
    Number sine(300);
    Number cosine(300);
    const auto exact = [](DoubleDouble v, Number& out) {
      mpfr_set_d(out.v, v.hi, MPFR_RNDN);
      mpfr_add_d(out.v, out.v, v.lo, MPFR_RNDN);
    };
    const SinCos at = row.anchor.row[0].At(i);
    const SinCos by = row.turn[0].At(i);
    Number sa(300);
    Number ca(300);
    Number sr(300);
    Number cr(300);
    exact(at.sin, sa);
    exact(at.cos, ca);
    exact(by.sin, sr);
    exact(by.cos, cr);
    mpfr_fmma(sine.v, sa.v, cr.v, ca.v, sr.v, MPFR_RNDN);
    mpfr_fmms(cosine.v, ca.v, cr.v, sa.v, sr.v, MPFR_RNDN);
    mpfr_sub(sine.v, sine.v, row.sines.numbers[i].v, MPFR_RNDN);
    mpfr_sub(cosine.v, cosine.v, row.cosines.numbers[i].v, MPFR_RNDN);
    ASSERT_LE(std::abs(mpfr_get_d(sine.v, MPFR_RNDN)), row.anchor.error[0].sin[i]) << i;
    ASSERT_LE(std::abs(mpfr_get_d(cosine.v, MPFR_RNDN)), row.anchor.error[0].cos[i]) << i;
  }
}

TEST(RotationKernelTest, AnchorsKeepTheirBounds) {
  ForEachVectorTarget([] {
    ExpectWithinBounds<ElementType::kFloat32>();
    ExpectWithinBounds<ElementType::kFloat64>();
  });
}

// An anchor of one pair that is turned by nothing.
template <ElementType kType>
class StillPair {
 public:
  static constexpr bool kLowParts = kType == ElementType::kFloat64;
  StillPair(SinCos at, double sin_error, double cos_error)
      : anchor_(1, kLowParts), turn_(1, 1, kLowParts) {
    anchor_.row[0].Set(0, at);
    anchor_.error[0].sin[0] = sin_error;
    anchor_.error[0].cos[0] = cos_error;
    turn_[0].Set(0, {{0, 0}, {1, 0}});
  }
  // The two elements.
  std::pair<std::uint64_t, std::uint64_t> Elements() {
    std::byte out[2 * sizeof(BitsOf<kType>)];
    any_ = RotateRow<kType>(1, anchor_, std::as_const(turn_)[0],
                            {.row = out, .layout = Layout::kSinCosInterleaved});
    return {oracle::Element(kType, out, 0), oracle::Element(kType, out, 1)};
  }
  // Whether sine and cosine are in doubt.
  std::pair<bool, bool> Doubt() {
    std::vector<BitsOf<kType>> sines(1 + PairRows::kOverrun);
    std::vector<BitsOf<kType>> cosines(1 + PairRows::kOverrun);
    MarkDoubt<kType>(1, anchor_, std::as_const(turn_)[0], sines.data(), cosines.data());
    Elements();
    EXPECT_EQ(any_, sines[0] != 0 || cosines[0] != 0);
    return {sines[0] != 0, cosines[0] != 0};
  }

 private:
  Anchor anchor_;
  PairRows turn_;
  bool any_ = false;
};

using Doubt = std::pair<bool, bool>;

// Where elements change: midway between neighbours, subnormals too, and at zero.
template <ElementType kType>
void ExpectDoubtAtMidpoints() {
  constexpr bool kLowParts = kType == ElementType::kFloat64;
  const BinaryFormat format = FormatOf(kType);
  const double ulp = std::ldexp(1.0, 1 - format.precision);  // of numbers from 1 on
  const double quantum = std::max(std::ldexp(1.0, format.quantum_exponent), 0x1p-300);
  const auto halfway = [&](double low, double step) {
    return kLowParts ? DoubleDouble{low, step / 2} : DoubleDouble{low + step / 2, 0};
  };
  struct Case {
    DoubleDouble value;
    double step;
  };
  std::vector<Case> cases = {{halfway(1, ulp), ulp},
                             {halfway(1 + 5 * ulp, ulp), ulp},
                             {halfway(0.5, ulp / 2), ulp / 2},
                             {halfway(0.25 - ulp / 8, ulp / 8), ulp / 8}};
  if constexpr (!kLowParts) {
    cases.push_back({halfway(quantum, quantum), quantum});
    cases.push_back({halfway(7 * quantum, quantum), quantum});
    cases.push_back({halfway(0, quantum), quantum});
  }
  for (const Case& c : cases) {
    for (const double sign : {1.0, -1.0}) {
      const DoubleDouble v = {sign * c.value.hi, sign * c.value.lo};
      SCOPED_TRACE(v.hi);
      const double error = c.step * 0x1p-20;
      EXPECT_EQ(StillPair<kType>({v, {1, 0}}, error, error).Doubt(), Doubt(true, false));
      EXPECT_EQ(StillPair<kType>({{1, 0}, v}, error, error).Doubt(), Doubt(false, true));
      // Twice as far off as the error.
      for (const double off : {2 * error, -2 * error}) {
        DoubleDouble beside = v;
        (kLowParts ? beside.lo : beside.hi) += off;
        StillPair<kType> pair({beside, {1, 0}}, error, error);
        EXPECT_EQ(pair.Doubt(), Doubt(false, false));
        Number exact(200);
        mpfr_set_d(exact.v, beside.hi, MPFR_RNDN);
        mpfr_add_d(exact.v, exact.v, beside.lo, MPFR_RNDN);
        EXPECT_EQ(pair.Elements().first, oracle::Round(kType, exact.v));
      }
    }
  }
  // Just below a power of two elements are half as far apart.
  for (const double power : {1.0, 0.25}) {
    const DoubleDouble v = {power, 0};
    const auto [sine, cosine] =
        StillPair<kType>({v, {-power, 0}}, 0.3 * ulp * power, 0.3 * ulp * power).Doubt();
    EXPECT_TRUE(sine) << power;
    EXPECT_TRUE(cosine) << power;
    EXPECT_EQ(StillPair<kType>({v, {1, 0}}, 0.1 * ulp * power, 0).Doubt(), Doubt(false, false));
  }
  // The sign of zero, however small all of it is; and no doubt where there is no error.
  for (const double tiny : {0.0, 0x1p-200, -0x1p-200, 0x1p-60, -0x1p-60}) {
    const double error = 1.5 * std::abs(tiny) + 0x1p-201;
    EXPECT_EQ(StillPair<kType>({{tiny, 0}, {1, 0}}, error, 0).Doubt(), Doubt(true, false)) << tiny;
  }
  StillPair<kType> exact({{0, 0}, {1, 0}}, 0, 0);
  EXPECT_EQ(exact.Doubt(), Doubt(false, false));
  EXPECT_EQ(exact.Elements().first, 0u);
  // An error without bound leaves everything open.
  constexpr double kAny = std::numeric_limits<double>::infinity();
  EXPECT_EQ(StillPair<kType>({{0.7, 0}, {-0.7, 0}}, kAny, kAny).Doubt(), Doubt(true, true));
}

TEST(RotationKernelTest, WhatIsInDoubtIsMarked) {
  ForEachVectorTarget([] {
    ExpectDoubtAtMidpoints<ElementType::kFloat32>();
    ExpectDoubtAtMidpoints<ElementType::kFloat64>();
    ExpectDoubtAtMidpoints<ElementType::kFloat16>();
    ExpectDoubtAtMidpoints<ElementType::kBfloat16>();
  });
}

// Elements of 16 bits are made by adding: every one of them, and what lies around.
template <ElementType kType>
void ExpectEveryElement() {
  const BinaryFormat format = FormatOf(kType);
  for (std::uint64_t bits = 0; bits < format.infinity(); bits += 3) {
    const double value = oracle::Value(kType, bits);
    if (value > 1) break;
    const double next = oracle::Value(kType, bits + 1);
    for (const double part : {0.0, 0.25, 0.4999, 0.5001, 0.75}) {
      const double x = value + (next - value) * part;
      Number exact(53);
      mpfr_set_d(exact.v, x, MPFR_RNDN);
      StillPair<kType> pair({{x, 0}, {-x, 0}}, 0, 0);
      const auto [sine, cosine] = pair.Elements();
      ASSERT_EQ(sine, oracle::Round(kType, exact.v)) << x;
      if (x == 0) continue;  // minus zero plus zero is zero
      ASSERT_EQ(cosine, sine | format.sign_bit()) << x;
    }
  }
}

TEST(RotationKernelTest, SixteenBitsRoundFromBinary64) {
  ForEachVectorTarget([] {
    ExpectEveryElement<ElementType::kFloat16>();
    ExpectEveryElement<ElementType::kBfloat16>();
  });
}

}  // namespace
}  // namespace phasor
