#include "core/ladder.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <vector>

#include "core/real.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

std::vector<double> FrequenciesOf(const Sinusoidal& spec) {
  const auto canonical = CanonicalSpec::Create(spec);
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  const auto frequencies = Frequencies(*canonical);
  EXPECT_TRUE(frequencies.ok());
  return *frequencies;
}

std::vector<Sinusoidal> Ladders() {
  std::vector<Sinusoidal> result;
  for (const std::int64_t width : {2, 4, 10, 104, 512}) {
    for (const double base : {10000.0, 1 + 0x1p-52, 2.0, 0x1p52, 0x1p64, 500000.0, 3.7}) {
      result.push_back({.width = width, .base = base});
      result.push_back({.width = width, .base = base, .ladder = InclusiveLadder{}});
      const double h = static_cast<double>(width) / 2;
      for (const double shift : {0.0, 0.5, 1.0, h - 0.5, h - 1, 0x1p-70, 0x1p-1074, h / 2}) {
        if (shift < 0 || shift > h - 0.5) continue;
        result.push_back({.width = width, .base = base, .ladder = DownscaledLadder{shift}});
      }
    }
    for (const TimescaleLadder& ladder :
         {TimescaleLadder{}, TimescaleLadder{2, 10000}, TimescaleLadder{0x1p-32, 0x1p64},
          TimescaleLadder{0x1p32, 0x1p33}, TimescaleLadder{0.1, 0.1 + 0x1p-56},
          TimescaleLadder{3, 3 * 0x1p40}, TimescaleLadder{0.75, 768}}) {
      result.push_back({.width = width, .ladder = ladder});
      result.push_back({.width = width + 1, .ladder = ladder, .odd_column = OddColumn::kZero});
    }
    // The middle of five is 262143^3 2^-38, 54 bits: midway between two binary64.
    result.push_back(
        {.width = 10, .ladder = TimescaleLadder{262143.0 * 262143.0 * 0x1p-20, 0x1p36}});
    result.push_back({.width = width + 1, .base = 0x1p64, .odd_column = OddColumn::kZero});
    result.push_back({.width = width + 1, .base = 0x1p35, .odd_column = OddColumn::kSine});
    result.push_back({.width = width + 1, .base = 500000.0, .odd_column = OddColumn::kSine});
    result.push_back({.width = width - 1,
                      .base = 0x1p20,
                      .ladder = InclusiveLadder{},
                      .odd_column = OddColumn::kSine});
  }
  return result;
}

TEST(LadderTest, WorkedExample) {
  EXPECT_EQ(FrequenciesOf({.width = 4}), (std::vector<double>{1, 0.01}));
}

TEST(LadderTest, FrequenciesAreCorrectlyRounded) {
  for (const Sinusoidal& spec : Ladders()) {
    const oracle::Table table(spec);
    const std::vector<double> got = FrequenciesOf(spec);
    ASSERT_EQ(static_cast<std::int64_t>(got.size()), table.pairs());
    const std::int64_t step = table.pairs() > 60 ? 7 : 1;
    for (std::int64_t i = 0; i < table.pairs(); i += step) {
      ASSERT_EQ(got[i], table.Frequency(i))
          << "width " << spec.width << " base " << spec.base.value_or(0) << " ladder "
          << spec.ladder.index() << " pair " << i;
      ASSERT_FALSE(std::signbit(got[i]));
    }
  }
}

TEST(LadderTest, TheWidestLadderIsCorrectlyRoundedToItsEnd) {
  const Sinusoidal spec{.width = 65536};
  const oracle::Table table(spec);
  const std::vector<double> got = FrequenciesOf(spec);
  for (std::int64_t i = 0; i < table.pairs(); i += 151) ASSERT_EQ(got[i], table.Frequency(i));
  ASSERT_EQ(got.back(), table.Frequency(table.pairs() - 1));
}

TEST(LadderTest, PowersOfTwoAreExact) {
  const std::vector<double> steps = FrequenciesOf({.width = 104, .base = 0x1p52});
  for (int i = 0; i < 52; ++i) EXPECT_EQ(steps[i], std::ldexp(1.0, -i));
  const std::vector<double> wide =
      FrequenciesOf({.width = 10, .base = 0x1p64, .ladder = InclusiveLadder{}});
  EXPECT_EQ(wide, (std::vector<double>{1, 0x1p-16, 0x1p-32, 0x1p-48, 0x1p-64}));
  // h - shift = 1/2: exponents 0, -128, ..., down to where rounding meets 2^-1075, a tie.
  const std::vector<double> fall =
      FrequenciesOf({.width = 50, .base = 0x1p43, .ladder = DownscaledLadder{12.5 + 12}});
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(fall[i], i == 0 ? 1 : std::ldexp(1.0, -86 * i)) << i;
  }
  EXPECT_EQ(FrequenciesOf({.width = 1076 * 2, .base = 2, .ladder = DownscaledLadder{1075.0}})[1074],
            0x1p-1074);
  EXPECT_EQ(FrequenciesOf({.width = 1076 * 2, .base = 2, .ladder = DownscaledLadder{1075.0}})[1075],
            0);
}

TEST(LadderTest, TheInclusiveLadderEndsAtExactlyOneOverTheBase) {
  for (const double base : {10000.0, 3.0, 1 + 0x1p-52, 0x1p64, 1e19}) {
    for (const std::int64_t width : {4, 6, 512}) {
      EXPECT_EQ(FrequenciesOf({.width = width, .base = base, .ladder = InclusiveLadder{}}).back(),
                1 / base);
    }
    EXPECT_EQ(FrequenciesOf({.width = 2, .base = base, .ladder = InclusiveLadder{}}),
              std::vector<double>{1});
  }
}

TEST(LadderTest, TheSmallerTimescaleIsTheFirstFrequency) {
  // tensor2tensor multiplies by it: m, ..., m^2 / T, whatever its comment says.
  EXPECT_EQ(FrequenciesOf({.width = 6, .ladder = TimescaleLadder{4, 64}}),
            (std::vector<double>{4, 1, 0.25}));
  EXPECT_EQ(FrequenciesOf({.width = 4, .ladder = TimescaleLadder{2, 10000}}),
            (std::vector<double>{2, 4.0 / 10000}));
  // tensor2tensor guards the division by h - 1 = 0.
  EXPECT_EQ(FrequenciesOf({.width = 2, .ladder = TimescaleLadder{3, 10000}}),
            std::vector<double>{3});
  EXPECT_EQ(FrequenciesOf({.width = 8, .ladder = TimescaleLadder{}}),
            FrequenciesOf({.width = 8, .ladder = InclusiveLadder{}}));
}

TEST(LadderTest, FrequenciesThatAreBinaryNumbersAreTold) {
  const MpfrScope scope;
  const FrequencyLadder ladder(Sinusoidal{.width = 10, .ladder = TimescaleLadder{3, 768}});
  const auto exact = [](const FrequencyLadder& of, std::int64_t i) {
    Real w(FrequencyLadder::kChainBits);
    of.Frequency(i, w);
    return of.ExactFrequency(i, w);
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(exact(ladder, i), std::ldexp(3, -2 * i)) << i;
  // 3 * 2^(-9 i/4): binary numbers but for every fourth they are not.
  const FrequencyLadder roots(Sinusoidal{.width = 10, .ladder = TimescaleLadder{3, 1536}});
  EXPECT_EQ(exact(roots, 4), 3.0 / 512);
  EXPECT_EQ(exact(roots, 2), std::nullopt);
}

TEST(LadderTest, ExplicitFrequenciesComeBackAndMinusZeroIsZero) {
  const std::vector<double> got = FrequenciesOf(
      {.width = 10, .ladder = ExplicitLadder{{-0.0, 0x1p-64, -0x1p32, 0.1, -1.0 / 3}}});
  EXPECT_EQ(got, (std::vector<double>{0, 0x1p-64, -0x1p32, 0.1, -1.0 / 3}));
  EXPECT_FALSE(std::signbit(got[0]));
  std::fesetround(FE_DOWNWARD);
  const double zero = FrequenciesOf({.width = 2, .ladder = ExplicitLadder{{-0.0}}})[0];
  std::fesetround(FE_TONEAREST);
  EXPECT_FALSE(std::signbit(zero));
}

TEST(LadderTest, EveryPrecisionKeepsItsBound) {
  const MpfrScope scope;
  for (const Sinusoidal& spec : Ladders()) {
    const FrequencyLadder ladder(spec);
    const oracle::Table table(spec);
    ASSERT_EQ(ladder.size(), table.pairs());
    for (std::int64_t i = 0; i < ladder.size(); i += 1 + ladder.size() / 5) {
      for (const mpfr_prec_t bits : {64, 256, 700}) {
        Real got(bits);
        ladder.Frequency(i, got);
        oracle::Number want(bits + 64);
        table.Frequency(i, want.v);
        mpfr_sub(want.v, want.v, got, MPFR_RNDN);
        if (mpfr_zero_p(want.v) != 0) continue;
        ASSERT_LE(mpfr_get_exp(want.v), mpfr_get_exp(static_cast<mpfr_ptr>(got)) + 1 - bits) << i;
      }
    }
  }
}

TEST(LadderTest, TheChainKeepsItsBound) {
  const MpfrScope scope;
  for (const Sinusoidal& spec :
       {Sinusoidal{.width = 65536}, Sinusoidal{.width = 65536, .base = 0x1p64},
        Sinusoidal{.width = 2048, .ladder = DownscaledLadder{1023.5}}}) {
    const oracle::Table table(spec);
    FrequencyLadder canonical(Sinusoidal{spec.width, spec.base.value_or(10000), spec.ladder});
    canonical.ForEach([&](std::int64_t i, mpfr_srcptr w) {
      if (i % 997 != 0 && i + 1 != table.pairs()) return true;
      oracle::Number want(640);
      table.Frequency(i, want.v);
      mpfr_sub(want.v, want.v, w, MPFR_RNDN);
      if (mpfr_zero_p(want.v) != 0) return true;
      EXPECT_LE(mpfr_get_exp(want.v), mpfr_get_exp(w) + FrequencyLadder::kChainErrorExponent) << i;
      return true;
    });
  }
}

TEST(LadderTest, LearnedTablesHaveNoFrequencies) {
  const auto canonical = CanonicalSpec::Create(LearnedInit{.max_positions = 4, .width = 4});
  ASSERT_TRUE(canonical.ok());
  const absl::Status status = Frequencies(*canonical).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status), "spec");
}

}  // namespace
}  // namespace phasor
