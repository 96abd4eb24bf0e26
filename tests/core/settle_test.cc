#include "core/settle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

void ExpectSettles(const Sinusoidal& spec, std::int64_t i, Position position) {
  const FrequencyLadder ladder(spec);
  for (const ElementType type : kTypes) {
    const oracle::Table table(spec, type);
    const oracle::Position p{position.integer, position.fraction};
    ASSERT_EQ(Settle(ladder, type, Trig::kSine, i, position), table.Sine(i, p))
        << ElementTypeName(type) << " pair " << i << " at " << p.integer << " + " << p.fraction;
    ASSERT_EQ(Settle(ladder, type, Trig::kCosine, i, position), table.Cosine(i, p))
        << ElementTypeName(type) << " pair " << i << " at " << p.integer << " + " << p.fraction;
  }
}

TEST(SettleTest, AgreesWithTheOracle) {
  std::mt19937_64 random(1);
  const std::vector<Sinusoidal> specs = {
      {.width = 8, .base = 10000.0},
      {.width = 10, .base = 3.5, .ladder = InclusiveLadder{}},
      {.width = 10, .base = 1e19, .ladder = DownscaledLadder{4.5}},
      {.width = 8, .ladder = ExplicitLadder{{0x1p32, -0x1p-64, 0x1.921fb54442d18p+2, -0.3}}}};
  for (const Sinusoidal& spec : specs) {
    for (int n = 0; n < 40; ++n) {
      const auto i = static_cast<std::int64_t>(random() % (spec.width / 2));
      const std::int64_t p = static_cast<std::int64_t>(random()) >> (10 + random() % 54);
      ExpectSettles(spec, i, {p, 0});
      ExpectSettles(spec, i, {p, std::ldexp(0.7, -static_cast<int>(random() % 100))});
    }
  }
}

// p w is midway between two elements of a type: x^3/6 alone breaks the tie.
TEST(SettleTest, ApparentTiesOfSmallSines) {
  for (const ElementType type : kTypes) {
    const int precision = type == ElementType::kFloat64   ? 53
                          : type == ElementType::kFloat32 ? 24
                          : type == ElementType::kFloat16 ? 11
                                                          : 8;
    const std::int64_t middle = (std::int64_t{1} << precision) + 1;  // one bit too many
    for (const double w : {0x1p-64, -0x1p-64, 0x1p-60, 0x1p-40}) {
      const Sinusoidal spec{.width = 2, .ladder = ExplicitLadder{{w}}};
      for (const std::int64_t p : {middle, middle + 2, -middle, 3 * middle}) {
        if (std::abs(p) < (std::int64_t{1} << 53)) ExpectSettles(spec, 0, {p, 0});
      }
    }
    // The significand of w makes the tie; then also far below, at fractional positions.
    const double w = std::ldexp(static_cast<double>(std::int64_t{1} << (precision - 1)) + 1, -90);
    const Sinusoidal spec{.width = 2, .ladder = ExplicitLadder{{w}}};
    for (const double p : {3.0, -3.0, 5.0}) {
      ExpectSettles(spec, 0, {static_cast<std::int64_t>(p), 0});
      ExpectSettles(spec, 0, {0, p * 0x1p-40});
      ExpectSettles(spec, 0, {0, p * 0x1p-400});
    }
  }
}

TEST(SettleTest, ZeroAnglesAndSignedUnderflow) {
  const Sinusoidal spec{.width = 6, .ladder = ExplicitLadder{{0.0, 1.0, -1.0}}};
  const FrequencyLadder ladder(spec);
  for (const ElementType type : kTypes) {
    for (const Position p : {Position{0, 0}, Position{-7, 0}, Position{0, -0x1p-1074}}) {
      EXPECT_EQ(Settle(ladder, type, Trig::kSine, 0, p), 0u);
      EXPECT_EQ(Settle(ladder, type, Trig::kCosine, 0, p),
                oracle::Table(spec, type).Cosine(0, {0, 0}));
    }
    EXPECT_EQ(Settle(ladder, type, Trig::kSine, 2, {0, 0}), 0u);
  }
  const std::uint64_t minus_zero = 0x8000;
  EXPECT_EQ(Settle(ladder, ElementType::kFloat16, Trig::kSine, 1, {0, -0x1p-1074}), minus_zero);
  EXPECT_EQ(Settle(ladder, ElementType::kFloat16, Trig::kSine, 2, {0, 0x1p-60}), minus_zero);
  EXPECT_EQ(Settle(ladder, ElementType::kFloat64, Trig::kSine, 1, {0, 0x1p-1074}), 1u);
  ExpectSettles(spec, 1, {0, 0x1p-1074});
  ExpectSettles(spec, 2, {0, 0x1.8p-1070});
}

}  // namespace
}  // namespace phasor
