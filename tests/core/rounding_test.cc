#include "core/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/real.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

std::uint64_t RoundSumAs(ElementType type, double a, double b) {
  switch (type) {
    case ElementType::kFloat32: return RoundSumToBits<ElementType::kFloat32>(a, b);
    case ElementType::kFloat64: return RoundSumToBits<ElementType::kFloat64>(a, b);
    case ElementType::kFloat16: return RoundSumToBits<ElementType::kFloat16>(a, b);
    case ElementType::kBfloat16: return RoundSumToBits<ElementType::kBfloat16>(a, b);
  }
  return 0;
}

// -1 where the bits are left open.
std::int64_t DecideAs(ElementType type, DoubleDouble v, double error) {
  const auto open_is_minus_one = [](auto bits) {
    return bits.has_value() ? static_cast<std::int64_t>(*bits) : -1;
  };
  switch (type) {
    case ElementType::kFloat32:
      return open_is_minus_one(DecideBits<ElementType::kFloat32>(v, error));
    case ElementType::kFloat64:
      return open_is_minus_one(DecideBits<ElementType::kFloat64>(v, error));
    case ElementType::kFloat16:
      return open_is_minus_one(DecideBits<ElementType::kFloat16>(v, error));
    case ElementType::kBfloat16:
      return open_is_minus_one(DecideBits<ElementType::kBfloat16>(v, error));
  }
  return -2;
}

// Elements of the type, near which rounding can go wrong, as numbers.
std::vector<double> Elements(ElementType type) {
  std::vector<double> result;
  const BinaryFormat format = FormatOf(type);
  std::mt19937_64 random(7);
  if (format.bits == 16) {
    // All subnormals of binary16, then every seventh element.
    for (std::uint64_t bits = 0; bits < format.infinity(); bits += bits < 1100 ? 1 : 7) {
      result.push_back(oracle::Value(type, bits));
    }
    return result;
  }
  for (int n = 0; n < 10000; ++n) {
    const std::uint64_t bits = random() & (format.sign_bit() - 1);
    // Every third among the subnormals and the smallest normal numbers.
    const std::uint64_t small = bits % (std::uint64_t{4} << (format.precision - 1));
    const std::uint64_t chosen = n % 3 == 0 ? small : bits;
    if (chosen < format.infinity()) result.push_back(oracle::Value(type, chosen));
  }
  return result;
}

std::uint64_t Want(ElementType type, double a, double b = 0) {
  oracle::Number exact(2300);
  mpfr_set_d(exact.v, a, MPFR_RNDN);
  if (b != 0) mpfr_add_d(exact.v, exact.v, b, MPFR_RNDN);
  return oracle::Round(type, exact.v);
}

TEST(RoundingTest, ElementsAndTheirSurroundingsRoundOnce) {
  for (const ElementType type : kTypes) {
    SCOPED_TRACE(ElementTypeName(type));
    if (type == ElementType::kFloat64) continue;  // binary64 to itself: nothing to round
    for (const double x : Elements(type)) {
      const double next = oracle::Value(type, Want(type, x) + 1);
      const double middle = std::isfinite(next) ? (x + next) / 2 : x * (1 + 0x1p-12);
      for (const double y : {x, middle, std::nextafter(middle, 0), std::nextafter(middle, HUGE_VAL),
                             std::nextafter(x, 0), std::nextafter(x, HUGE_VAL)}) {
        ASSERT_EQ(RoundToBits(type, y), Want(type, y)) << std::hexfloat << y;
        ASSERT_EQ(RoundToBits(type, -y), Want(type, -y)) << std::hexfloat << -y;
      }
    }
  }
}

TEST(RoundingTest, ASumRoundsAsOneRealNumber) {
  for (const ElementType type : kTypes) {
    SCOPED_TRACE(ElementTypeName(type));
    for (const double x : Elements(type)) {
      const double next = oracle::Value(type, Want(type, x) + 1);
      if (!std::isfinite(next)) continue;
      // A midpoint, and what breaks the tie far below the last bit of a binary64.
      const double half = (next - x) / 2;
      for (const double tail : {0.0, half * 0x1p-60, -half * 0x1p-60, half * 0x1p-30}) {
        const DoubleDouble middle = TwoSum(x, half);
        if (middle.lo != 0 && tail != 0) continue;
        const double lo = middle.lo + tail;
        ASSERT_EQ(RoundSumAs(type, middle.hi, lo), Want(type, middle.hi, lo))
            << std::hexfloat << middle.hi << " + " << lo;
      }
    }
  }
}

TEST(RoundingTest, SignsAndLimits) {
  const double smallest = std::numeric_limits<double>::denorm_min();
  for (const ElementType type : kTypes) {
    SCOPED_TRACE(ElementTypeName(type));
    const BinaryFormat format = FormatOf(type);
    EXPECT_EQ(RoundToBits(type, 0.0), 0u);
    EXPECT_EQ(RoundToBits(type, -0.0), format.sign_bit());
    if (type != ElementType::kFloat64) {
      EXPECT_EQ(RoundToBits(type, -smallest), format.sign_bit());
      EXPECT_EQ(RoundToBits(type, smallest), 0u);
      EXPECT_FALSE(IsFiniteBits(type, RoundToBits(type, std::numeric_limits<double>::max())));
      const double half_quantum = std::ldexp(1.0, format.quantum_exponent - 1);
      EXPECT_EQ(RoundToBits(type, half_quantum), 0u);
      EXPECT_EQ(RoundToBits(type, std::nextafter(half_quantum, 1)), 1u);
    }
    const double largest = oracle::Value(type, format.infinity() - 1);
    EXPECT_TRUE(IsFiniteBits(type, RoundToBits(type, largest)));
    EXPECT_EQ(RoundToBits(type, largest), format.infinity() - 1);
    EXPECT_FALSE(IsFiniteBits(type, format.infinity()));
    EXPECT_FALSE(IsFiniteBits(type, format.infinity() + 1));
    EXPECT_FALSE(IsFiniteBits(type, format.sign_bit() | format.infinity()));
  }
  // Known bits.
  EXPECT_EQ(RoundToBits(ElementType::kFloat16, 65504), 0x7bffu);
  EXPECT_EQ(RoundToBits(ElementType::kFloat16, 65520), 0x7c00u);
  EXPECT_EQ(RoundToBits(ElementType::kFloat16, std::nextafter(65520.0, 0.0)), 0x7bffu);
  EXPECT_EQ(RoundToBits(ElementType::kBfloat16, 1 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(RoundToBits(ElementType::kBfloat16, 1 + 0x1p-8 + 0x1p-40), 0x3f81u);
}

TEST(RoundingTest, WideningIsExact) {
  std::mt19937_64 random(3);
  for (const ElementType type : kTypes) {
    const BinaryFormat format = FormatOf(type);
    for (int n = 0; n < 70000; ++n) {
      const std::uint64_t all = (format.sign_bit() << 1) - 1;
      const std::uint64_t bits = (format.bits == 16 ? n : random()) & all;
      const double want = oracle::Value(type, bits);
      const double got = WidenBits(type, bits);
      ASSERT_EQ(std::isnan(got), std::isnan(want));
      if (!std::isnan(want)) {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(want));
      }
    }
  }
}

TEST(RoundingTest, AnIntervalIsDecidedOnlyWhereAllOfItAgrees) {
  std::mt19937_64 random(11);
  int open = 0;
  for (const ElementType type : kTypes) {
    SCOPED_TRACE(ElementTypeName(type));
    const int precision = FormatOf(type).precision;
    for (int n = 0; n < 20000; ++n) {
      // Values a few errors away from a midpoint.
      const double unit = std::ldexp(1.0, -precision);
      const double x = 0.5 + static_cast<double>(random() % (1 << 8)) * unit;
      const double error = std::ldexp(unit, -50 - static_cast<int>(random() % 20));
      const double away = (static_cast<double>(random() % 17) - 8) / 4 * error;
      const DoubleDouble v = TwoSum(x + unit / 2, away);
      const std::int64_t got = DecideAs(type, v, error);
      const bool agrees =
          Want(type, x + unit / 2, away - error) == Want(type, x + unit / 2, away + error);
      if (got == -1) {
        ++open;
        // May be cautious by its own last bits, no more.
        ASSERT_LE(std::abs(away), error) << std::hexfloat << v.hi << " + " << v.lo;
      } else {
        ASSERT_TRUE(agrees) << std::hexfloat << v.hi << " + " << v.lo << " +- " << error;
        ASSERT_EQ(static_cast<std::uint64_t>(got), Want(type, v.hi, v.lo));
      }
    }
    // Either side of zero keeps its sign, so zero is open, but not without an error.
    EXPECT_EQ(DecideAs(type, {0, 0}, 0x1p-200), -1);
    EXPECT_EQ(DecideAs(type, {0, 0}, 0), 0);
  }
  EXPECT_GT(open, 1000);
}

// value.hi + value.lo + more, times 2^scale, as MPFR rounds it.
std::uint64_t WantScaled(DoubleDouble value, double more, int scale) {
  oracle::Number exact(2300);
  mpfr_set_d(exact.v, value.hi, MPFR_RNDN);
  mpfr_add_d(exact.v, exact.v, value.lo, MPFR_RNDN);
  mpfr_add_d(exact.v, exact.v, more, MPFR_RNDN);
  mpfr_mul_2si(exact.v, exact.v, scale, MPFR_RNDN);
  return oracle::Round(ElementType::kFloat64, exact.v);
}

TEST(RoundingTest, ScaledIntervalsReachSubnormalsAndInfinities) {
  std::mt19937_64 random(13);
  int decided = 0;
  for (int n = 0; n < 20000; ++n) {
    // Results around the smallest normal and subnormal numbers, and the largest.
    const double hi = std::ldexp(static_cast<double>(random() >> (11 + random() % 53)), -40);
    const DoubleDouble v = TwoSum(n % 4 == 0 ? -hi : hi, hi * 0x1p-55);
    const int scale = n % 5 == 0 ? 1024 - static_cast<int>(random() % 20)
                                 : -1022 - static_cast<int>(random() % 70);
    const double error = std::ldexp(hi, -static_cast<int>(random() % 120));
    const auto got = DecideScaledBits(v, error, scale);
    if (!got.has_value()) continue;
    ++decided;
    ASSERT_EQ(*got, WantScaled(v, -error, scale)) << v.hi << " +- " << error << " 2^" << scale;
    ASSERT_EQ(*got, WantScaled(v, error, scale)) << v.hi << " +- " << error << " 2^" << scale;
  }
  EXPECT_GT(decided, 10000);
  // The sign of what underflows has to be known too.
  EXPECT_FALSE(DecideScaledBits({0x1p-90, 0}, 0x1p-89, -1074).has_value());
  EXPECT_EQ(DecideScaledBits({-0x1p-90, 0}, 0x1p-100, -1074), std::uint64_t{1} << 63);
}

TEST(RoundingTest, MpfrNumbersRoundOnce) {
  const MpfrScope scope;
  std::mt19937_64 random(5);
  for (const ElementType type : kTypes) {
    SCOPED_TRACE(ElementTypeName(type));
    const BinaryFormat format = FormatOf(type);
    for (int n = 0; n < 15000; ++n) {
      // A midpoint or an element, moved a little or not at all; all exponents.
      Real x(200);
      const std::uint64_t steps = random() % (std::uint64_t{1} << (format.precision + 1));
      mpfr_set_ui(x, steps, MPFR_RNDN);
      if (n % 3 != 0) mpfr_add_d(x, x, n % 3 == 1 ? 0x1p-90 : -0x1p-90, MPFR_RNDN);
      const int span = n % 2 == 0 ? 40 : 1 << (format.bits - format.precision);
      const int least = format.quantum_exponent - 5;
      mpfr_mul_2si(x, x, least + static_cast<int>(random() % span), MPFR_RNDN);
      if (n % 5 == 0) mpfr_neg(x, x, MPFR_RNDN);
      ASSERT_EQ(RoundToBits(type, x), oracle::Round(type, x))
          << mpfr_get_d(x, MPFR_RNDN) << " " << steps;
    }
  }
}

TEST(RoundingTest, MpfrIntervals) {
  const MpfrScope scope;
  Real x(100);
  mpfr_set_d(x, 1 + 0x1p-24, MPFR_RNDN);  // midway between two binary32
  EXPECT_FALSE(DecideBits(ElementType::kFloat32, x, -200).has_value());
  mpfr_add_d(x, x, 0x1p-90, MPFR_RNDN);
  EXPECT_FALSE(DecideBits(ElementType::kFloat32, x, -89).has_value());
  EXPECT_EQ(DecideBits(ElementType::kFloat32, x, -91), 0x3f800001u);
  EXPECT_EQ(DecideBits(ElementType::kFloat64, x, -91), std::bit_cast<std::uint64_t>(1 + 0x1p-24));
  mpfr_set_zero(x, 1);
  EXPECT_FALSE(DecideBits(ElementType::kFloat16, x, -3000).has_value());
}

}  // namespace
}  // namespace phasor
