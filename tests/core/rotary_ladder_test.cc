#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/ladder.h"
#include "core/real.h"
#include "phasor/core/local_table.h"
#include "tests/oracle/rotary.h"

namespace phasor {
namespace {

CanonicalSpec Checked(const Rotary& spec) {
  auto canonical = CanonicalSpec::Create(spec);
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return *std::move(canonical);
}

std::vector<double> FrequenciesOf(const Rotary& spec) {
  const auto frequencies = Frequencies(Checked(spec));
  EXPECT_TRUE(frequencies.ok()) << frequencies.status();
  return *frequencies;
}

// tests/golden/schemes.json: 50-digit arithmetic by another program, after the
// functions of transformers, vLLM and others.
nlohmann::json Golden() {
  std::ifstream file(PHASOR_GOLDEN_DIR "/schemes.json");
  EXPECT_TRUE(file.is_open());
  return nlohmann::json::parse(file);
}

double FromText(const nlohmann::json& text) {
  return std::strtod(text.get<std::string>().c_str(), nullptr);
}

// To the 17 digits that are printed there.
void ExpectFrequencies(const Rotary& spec, const nlohmann::json& golden) {
  const std::vector<double> got = FrequenciesOf(spec);
  ASSERT_FALSE(golden.empty());
  for (const auto& [index, value] : golden.items()) {
    const double want = FromText(value);
    EXPECT_NEAR(got.at(std::stoul(index)), want, std::abs(want) * 0x1p-52) << index;
  }
}

Rotary GptOss() {
  return {.width = 64,
          .base = 150000.0,
          .scaling = YarnScaling{
              .factor = 32, .original_max_position_embeddings = 4096, .truncate = false}};
}

Rotary DeepSeekV3() {
  return {.width = 64,
          .scaling = YarnScaling{.factor = 40,
                                 .original_max_position_embeddings = 4096,
                                 .mscale = 1.0,
                                 .mscale_all_dim = 1.0}};
}

Rotary Qwen25() {
  return {.width = 128,
          .base = 1e6,
          .scaling = YarnScaling{.factor = 4, .original_max_position_embeddings = 32768}};
}

Rotary Llama31() {
  return {.width = 128, .base = 500000.0, .scaling = Llama3Scaling{8, 1, 4, 8192}};
}

TEST(RotaryLadderTest, GoldenValues) {
  const nlohmann::json golden = Golden();
  ExpectFrequencies(Llama31(), golden["llama3.1_inv_freq_theta5e5_d128_f8_lf1_hf4_M8192"]);
  ExpectFrequencies(GptOss(), golden["gpt_oss_yarn_notrunc"]["inv_freq"]);
  ExpectFrequencies(DeepSeekV3(), golden["deepseek_v3_yarn"]["inv_freq"]);
  ExpectFrequencies(Qwen25(), golden["qwen2.5_yarn_f4_M32768_theta1e6_d128"]["inv_freq"]);
  ExpectFrequencies({.width = 128, .scaling = DynamicNtkScaling{2, 4096, 8192}},
                    golden["dynamic_ntk_llama2_f2_L8192_M4096_theta1e4_d128"]["inv_freq"]);
}

TEST(RotaryLadderTest, GoldenAttentionFactors) {
  const nlohmann::json golden = Golden();
  const auto factor = [](const Rotary& spec) { return *Checked(spec).attention_factor(); };
  const auto expect = [](double got, const nlohmann::json& text) {
    EXPECT_NEAR(got, FromText(text), FromText(text) * 0x1p-52);
  };
  expect(factor(GptOss()), golden["gpt_oss_yarn_notrunc"]["attn"]);
  expect(factor(DeepSeekV3()), golden["deepseek_v3_yarn"]["cos_sin_scale_mscale1_alldim1"]);
  expect(factor(Qwen25()), golden["qwen2.5_yarn_f4_M32768_theta1e6_d128"]["attn"]);
  Rotary plain = DeepSeekV3();
  std::get<YarnScaling>(plain.scaling).mscale.reset();
  std::get<YarnScaling>(plain.scaling).mscale_all_dim.reset();
  expect(factor(plain), golden["deepseek_v3_yarn"]["plain_yarn_attn_f40"]);
  const std::vector<double> ones(48, 1);
  expect(factor({.width = 96, .scaling = LongRopeScaling{ones, ones, 4096, 1, 32.0}}),
         golden["phi3_128k_longrope_attn_M4096_s32"]);
}

// Printed in the test-suite of transformers.
TEST(RotaryLadderTest, ValuesOfTransformersTests) {
  const std::vector<double> dynamic =
      FrequenciesOf({.width = 128, .scaling = DynamicNtkScaling{10, 2048, 16384}});
  EXPECT_NEAR(dynamic[1], 0.80931, 1e-5);
  EXPECT_NEAR(dynamic[63], 1.6265e-6, 1e-10);
  const std::vector<double> yarn = FrequenciesOf(
      {.width = 128,
       .scaling = YarnScaling{.factor = 10, .original_max_position_embeddings = 2048}});
  EXPECT_NEAR(yarn[17], 0.083479, 1e-6);
  EXPECT_NEAR(yarn[40], 4.3007e-4, 1e-8);
  EXPECT_NEAR(yarn[41], 2.7384e-4, 1e-8);
  for (const double factor : {2.0, 10.0, 20.0}) {
    const std::vector<double> linear =
        FrequenciesOf({.width = 128, .scaling = LinearScaling{factor}});
    const std::vector<double> plain = FrequenciesOf({.width = 128});
    for (int i = 0; i < 64; ++i) {
      EXPECT_NEAR(linear[i], plain[i] / factor, plain[i] / factor * 0x1p-52);
    }
  }
}

std::vector<Rotary> Scaled() {
  std::vector<double> listed;
  for (int i = 0; i < 5; ++i) listed.push_back(1 + 0.7 * i);
  std::vector<double> longer(listed.rbegin(), listed.rend());
  std::vector<RotaryScaling> scalings = {
      NoScaling{},
      LinearScaling{3},
      LinearScaling{1},
      LinearScaling{0x1p64},
      NtkScaling{2.5},
      NtkScaling{1},
      NtkScaling{1 + 0x1p-52},
      NtkScaling{0x1p64},
      DynamicNtkScaling{2, 100, 100},
      DynamicNtkScaling{2, 100, 1},
      DynamicNtkScaling{2, 100, 101},
      DynamicNtkScaling{10, 2048, 16384},
      DynamicNtkScaling{0x1p64, 1, std::int64_t{1} << 53},
      DynamicNtkScaling{1, 3, std::int64_t{1} << 53},
      LongRopeScaling{listed, longer, 4096, 4096, 32.0},
      LongRopeScaling{listed, longer, 4096, 4097, 32.0},
      Llama3Scaling{8, 1, 4, 8192},
      Llama3Scaling{8, 1, 4, 100},
      Llama3Scaling{8, 0x1p-32, 0x1p32, 3000},
      Llama3Scaling{0x1p64, 1, 1 + 0x1p-52, 64},
      Llama3Scaling{1, 1, 4, 8192},
      Llama3Scaling{32, 5, 1e9, 1},
      ProportionalScaling{0.4, 1},
      ProportionalScaling{0.5, 7},
      ProportionalScaling{1, 1},
      ProportionalScaling{0x1p-60, 1},
      ExplicitLadder{{1, -0.3, 0, 0x1p32, 0x1p-64}},
  };
  for (const bool truncate : {true, false}) {
    for (const std::int64_t length : {1, 7, 20, 50, 300, 4096, 1 << 20}) {
      for (const auto& [fast, slow] :
           std::vector<std::pair<double, double>>{{32, 1}, {1, 1}, {3, 2.5}, {1e4, 1e-4}}) {
        scalings.push_back(YarnScaling{.factor = 6.5,
                                       .original_max_position_embeddings = length,
                                       .beta_fast = fast,
                                       .beta_slow = slow,
                                       .truncate = truncate});
      }
    }
    scalings.push_back(YarnScaling{
        .factor = 0x1p64, .original_max_position_embeddings = 300, .truncate = truncate});
    scalings.push_back(
        YarnScaling{.factor = 1, .original_max_position_embeddings = 300, .truncate = truncate});
  }
  std::vector<Rotary> specs;
  for (const RotaryScaling& scaling : scalings) {
    if (std::holds_alternative<ExplicitLadder>(scaling)) {
      specs.push_back({.width = 10, .scaling = scaling});
      continue;
    }
    for (const double base : {10000.0, 32.0, 1 + 0x1p-52, 0x1p64, 1.5}) {
      specs.push_back({.width = 10, .base = base, .scaling = scaling});
    }
  }
  return specs;
}

std::string Words(const Rotary& spec) { return Checked(spec).text(); }

TEST(RotaryLadderTest, FrequenciesAreCorrectlyRounded) {
  for (const Rotary& spec : Scaled()) {
    const oracle::RotaryTable table(spec);
    const std::vector<double> got = FrequenciesOf(spec);
    ASSERT_EQ(std::ssize(got), table.pairs());
    for (std::int64_t i = 0; i < table.pairs(); ++i) {
      ASSERT_EQ(got[i], table.Frequency(i)) << "pair " << i << "\n" << Words(spec);
    }
  }
}

TEST(RotaryLadderTest, EveryPrecisionKeepsItsBound) {
  const MpfrScope scope;
  for (const Rotary& spec : Scaled()) {
    const FrequencyLadder ladder = FrequencyLadder::Of(Checked(spec));
    const oracle::RotaryTable table(spec);
    for (std::int64_t i = 0; i < ladder.size(); ++i) {
      for (const mpfr_prec_t bits : {64, 512}) {
        Real got(bits);
        ladder.Frequency(i, got);
        oracle::Number want(bits + 64);
        table.Frequency(i, want.v);
        mpfr_sub(want.v, want.v, got, MPFR_RNDN);
        if (mpfr_zero_p(want.v) != 0) continue;
        ASSERT_LE(mpfr_get_exp(want.v), mpfr_get_exp(static_cast<mpfr_ptr>(got)) + 1 - bits)
            << "pair " << i << "\n"
            << Words(spec);
      }
    }
  }
}

TEST(RotaryLadderTest, TheChainKeepsItsBound) {
  const MpfrScope scope;
  std::vector<Rotary> specs = Scaled();
  specs.push_back({.width = 65536, .scaling = NtkScaling{8}});
  specs.push_back({.width = 65536, .scaling = Llama3Scaling{8, 1, 4, 8192}});
  specs.push_back({.width = 65536,
                   .scaling = YarnScaling{
                       .factor = 40, .original_max_position_embeddings = 4096, .truncate = false}});
  for (const Rotary& spec : specs) {
    const oracle::RotaryTable table(spec);
    FrequencyLadder::Of(Checked(spec)).ForEach([&](std::int64_t i, mpfr_srcptr w) {
      if (i % 9973 > 4 && i + 1 != table.pairs()) return true;
      oracle::Number want(640);
      table.Frequency(i, want.v);
      mpfr_sub(want.v, want.v, w, MPFR_RNDN);
      if (mpfr_zero_p(want.v) != 0) return true;
      EXPECT_LE(mpfr_get_exp(want.v), mpfr_get_exp(w) + FrequencyLadder::kChainErrorExponent)
          << i << "\n"
          << Words(spec);
      return true;
    });
  }
}

// Frequencies that are binary64 numbers or midway between two, whatever they
// are made of.
TEST(RotaryLadderTest, ExactFrequenciesAreFound) {
  const auto exact = [](const Rotary& spec) {
    const FrequencyLadder ladder = FrequencyLadder::Of(Checked(spec));
    const MpfrScope scope;
    std::vector<double> result;
    ladder.ForEach([&](std::int64_t i, mpfr_srcptr w) {
      result.push_back(ladder.ExactFrequency(i, w).value_or(-1));
      return true;
    });
    return result;
  };
  // b_i = 1, 1/2, 1/4, 1/8; by NTK with 8: 2^(-i - 3i/3).
  EXPECT_EQ(exact({.width = 8, .base = 16.0, .scaling = NtkScaling{8}}),
            (std::vector<double>{1, 0x1p-2, 0x1p-4, 0x1p-6}));
  // 9^-i/2 over 4, or over a half: 1/4 alone is a binary64.
  EXPECT_EQ(exact({.width = 4, .base = 9.0, .scaling = LinearScaling{4}}),
            (std::vector<double>{0.25, -1}));
  // 1/3 over a binary64 that is not quite a third, and (2/3) over 4/3 and 1/3.
  EXPECT_EQ(
      exact({.width = 4, .base = 9.0, .scaling = LongRopeScaling{{1, 1}, {2, 1.0 / 3}, 2, 3, 1.0}}),
      (std::vector<double>{0.5, -1}));
  // 2.25^-1/2 t^-1 with t = 1.5^-1 is no stretch, as t is 1 or more; with 12 it
  // is (2/3) / 12, with t = 4/3 given as a length it is a half.
  EXPECT_EQ(exact({.width = 4, .base = 2.25, .scaling = NtkScaling{12}}),
            (std::vector<double>{1, -1}));
  EXPECT_EQ(exact({.width = 4, .base = 2.25, .scaling = DynamicNtkScaling{1, 3, 4}}),
            (std::vector<double>{1, 0.5}));
  // The ramp is 0, 1/4, 1/2, 3/4, 1.
  YarnScaling yarn{.factor = 4, .original_max_position_embeddings = 60};
  EXPECT_EQ(exact({.width = 10, .base = 32.0, .scaling = yarn}),
            (std::vector<double>{1, 0.5 * (0.75 + 0.25 * 0.25), 0.25 * (0.5 + 0.5 * 0.25),
                                 0.125 * (0.25 + 0.75 * 0.25), 0.0625 * 0.25}));
  EXPECT_EQ(exact({.width = 10, .base = 32.0, .scaling = ProportionalScaling{0.5, 2}}),
            (std::vector<double>{0.5, 0.25, 0, 0, 0}));
  // 3/4 + 2^-52 / 4, halved, is midway between 0.375 and the next binary64.
  yarn.factor = 0x1p52;
  EXPECT_EQ(
      exact({.width = 10, .base = 32.0, .scaling = yarn}),
      (std::vector<double>{1, -1, 0.25 * (0.5 + 0x1p-53), 0.125 * (0.25 + 0x3p-54), 0x1p-56}));
  EXPECT_EQ(FrequenciesOf({.width = 10, .base = 32.0, .scaling = yarn})[1], 0.375);
  // Without floor and ceiling: the ends are log2(60 / (2 pi beta)), or meet there.
  yarn = {.factor = 4, .original_max_position_embeddings = 60, .beta_fast = 4, .truncate = false};
  EXPECT_EQ(exact({.width = 10, .base = 32.0, .scaling = yarn}),
            (std::vector<double>{1, 0.5, -1, -1, 0.0625 * 0.25}));
  yarn.beta_fast = yarn.beta_slow = 2;
  EXPECT_EQ(exact({.width = 10, .base = 32.0, .scaling = yarn}),
            (std::vector<double>{1, 0.5, 0.25, 0.125 * 0.25, 0.0625 * 0.25}));
  // The slow end between 0 and 1, and below 0.
  yarn = {.factor = 4, .original_max_position_embeddings = 9, .truncate = false};
  EXPECT_EQ(exact({.width = 10, .base = 32.0, .scaling = yarn}),
            (std::vector<double>{1, 0.125, 0.0625, 0.03125, 0.0625 * 0.25}));
  yarn.original_max_position_embeddings = 6;
  EXPECT_EQ(exact({.width = 10, .base = 32.0, .scaling = yarn}),
            (std::vector<double>{1, 0.5, 0.25, 0.125, 0.0625}));
}

TEST(RotaryLadderTest, LengthsAtTheThresholdBelongToTheShortSide) {
  const LongRopeScaling at{{2, 2}, {4, 4}, 4096, 4096, 1.0};
  LongRopeScaling above = at;
  above.sequence_length = 4097;
  EXPECT_EQ(FrequenciesOf({.width = 4, .scaling = at})[0], 0.5);
  EXPECT_EQ(FrequenciesOf({.width = 4, .scaling = above})[0], 0.25);
  EXPECT_EQ(FrequenciesOf({.width = 4, .scaling = DynamicNtkScaling{4, 100, 100}}),
            FrequenciesOf({.width = 4}));
}

// The denominator of the exponent is the rotary width in an ordinary partial
// table, the head's in a proportional one.
TEST(RotaryLadderTest, PartialAndProportionalDiffer) {
  const std::vector<double> partial = FrequenciesOf({.width = 4});
  const std::vector<double> proportional =
      FrequenciesOf({.width = 8, .scaling = ProportionalScaling{0.5, 1}});
  EXPECT_EQ(partial, (std::vector<double>{1, 0.01}));
  EXPECT_EQ(proportional, (std::vector<double>{1, 0.1, 0, 0}));
}

TEST(AttentionFactorTest, IsCorrectlyRounded) {
  for (const Rotary& spec : Scaled()) {
    ASSERT_EQ(Checked(spec).attention_factor(), oracle::RotaryTable(spec).AttentionFactor())
        << Words(spec);
  }
  Rotary deepseek = DeepSeekV3();
  for (const auto& [mscale, all] :
       std::vector<std::pair<double, double>>{{0.707, 1}, {1, 0.707}, {0x1p-32, 0x1p32}, {3, 3}}) {
    std::get<YarnScaling>(deepseek.scaling).mscale = mscale;
    std::get<YarnScaling>(deepseek.scaling).mscale_all_dim = all;
    EXPECT_EQ(Checked(deepseek).attention_factor(),
              oracle::RotaryTable(deepseek).AttentionFactor());
  }
}

TEST(AttentionFactorTest, RationalRootsAreExact) {
  const auto factor = [](std::int64_t length, double s) {
    return *Checked({.width = 2, .scaling = LongRopeScaling{{1}, {1}, length, 1, s}})
                .attention_factor();
  };
  EXPECT_EQ(factor(4096, 0x1p15), 1.5);    // 1 + 15/12
  EXPECT_EQ(factor(65536, 512.0), 1.25);   // 1 + 9/16
  EXPECT_EQ(factor(10, 1000.0), 2);        // 1 + 3
  EXPECT_EQ(factor(512, 128.0), 4.0 / 3);  // 1 + 7/9, no binary64
  EXPECT_EQ(factor(4096, 1.0), 1);
}

TEST(AttentionFactorTest, GivenWins) {
  Rotary spec = GptOss();
  spec.attention_factor = 1.0;
  EXPECT_EQ(Checked(spec).attention_factor(), 1);
  spec.attention_factor = 0x1p-64;
  EXPECT_EQ(Checked(spec).attention_factor(), 0x1p-64);
}

}  // namespace
}  // namespace phasor
