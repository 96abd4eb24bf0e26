#include "core/settle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

// Each stage by itself: it agrees with the oracle, or says that it does not know.
void ExpectSettles(const Sinusoidal& spec, std::int64_t i, Position position) {
  const FrequencyLadder ladder(spec);
  const MpfrScope scope;
  StopCheck never(NeverStop);
  const PhaseLadder phases(ladder, never);
  const AttentionFactor one;
  for (const ElementType type : kTypes) {
    const oracle::Table table(spec, type);
    const oracle::Position p{position.integer, position.fraction};
    for (const Trig trig : {Trig::kSine, Trig::kCosine}) {
      const std::uint64_t want = trig == Trig::kSine ? table.Sine(i, p) : table.Cosine(i, p);
      const auto where = [&] {
        return testing::Message() << ElementTypeName(type) << " pair " << i << " at " << p.integer
                                  << " + " << p.fraction << (trig == Trig::kSine ? " sine" : "");
      };
      SettleCounts counts;
      ASSERT_EQ(Settle(ladder, phases, one, type, trig, i, position, counts), want) << where();
      ASSERT_EQ(SettleByMpfr(ladder, one, type, trig, i, position), want) << where();
      ASSERT_EQ(SettleWide<2>(phases, one, type, trig, i, position).value_or(want), want)
          << where();
      ASSERT_EQ(SettleWide<4>(phases, one, type, trig, i, position).value_or(want), want)
          << where();
      ASSERT_EQ(SettleSmall(phases, one, type, trig, i, position).value_or(want), want) << where();
      ASSERT_EQ(SettleTiny(phases, one, type, trig, i, position).value_or(want), want) << where();
    }
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
  const MpfrScope scope;
  StopCheck never(NeverStop);
  const PhaseLadder phases(ladder, never);
  SettleCounts counts;
  const auto sine = [&](ElementType type, std::int64_t i, Position p) {
    return Settle(ladder, phases, {}, type, Trig::kSine, i, p, counts);
  };
  for (const ElementType type : kTypes) {
    for (const Position p : {Position{0, 0}, Position{-7, 0}, Position{0, -0x1p-1074}}) {
      EXPECT_EQ(sine(type, 0, p), 0u);
      EXPECT_EQ(Settle(ladder, phases, {}, type, Trig::kCosine, 0, p, counts),
                oracle::Table(spec, type).Cosine(0, {0, 0}));
    }
    EXPECT_EQ(sine(type, 2, {0, 0}), 0u);
  }
  const std::uint64_t minus_zero = 0x8000;
  EXPECT_EQ(sine(ElementType::kFloat16, 1, {0, -0x1p-1074}), minus_zero);
  EXPECT_EQ(sine(ElementType::kFloat16, 2, {0, 0x1p-60}), minus_zero);
  EXPECT_EQ(sine(ElementType::kFloat64, 1, {0, 0x1p-1074}), 1u);
  EXPECT_EQ(counts.costly, 0);
  ExpectSettles(spec, 1, {0, 0x1p-1074});
  ExpectSettles(spec, 2, {0, 0x1.8p-1070});
}

struct HardAngle {
  bool sine;
  std::string type;
  std::int64_t position;
  double frequency;
};

std::vector<HardAngle> HardAngles() {
  std::ifstream file(PHASOR_GOLDEN_DIR "/hard_angles.tsv");
  std::vector<HardAngle> angles;
  std::string function, type, position, frequency, distance;
  while (file >> function >> type >> position >> frequency >> distance) {
    angles.push_back({function == "sin", type, std::stoll(position), std::stod(frequency)});
  }
  return angles;
}

// Products within 2^-105 of an angle whose sine or cosine is midway between two
// elements: 128 bits leave those open, 256 do not.
TEST(SettleTest, HardAnglesAreSettledWithin256Bits) {
  const std::vector<HardAngle> angles = HardAngles();
  ASSERT_GE(angles.size(), 7u);
  const MpfrScope scope;
  StopCheck never(NeverStop);
  for (const HardAngle& angle : angles) {
    const Sinusoidal spec{.width = 2, .ladder = ExplicitLadder{{angle.frequency}}};
    ExpectSettles(spec, 0, {angle.position, 0});
    ExpectSettles(spec, 0, {-angle.position, 0});
    ExpectSettles(spec, 0, {angle.position - 1, 0});
    const FrequencyLadder ladder(spec);
    const PhaseLadder phases(ladder, never);
    const Trig trig = angle.sine ? Trig::kSine : Trig::kCosine;
    for (const ElementType type : kTypes) {
      SettleCounts counts;
      Settle(ladder, phases, {}, type, trig, 0, {angle.position, 0}, counts);
      EXPECT_EQ(counts.costly, 0) << ElementTypeName(type) << " at " << angle.position;
      EXPECT_TRUE(SettleWide<4>(phases, {}, type, trig, 0, {angle.position, 0}).has_value());
    }
  }
}

}  // namespace
}  // namespace phasor
