#include "core/rotary_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "phasor/core/errors.h"
#include "phasor/core/spec.h"

namespace phasor {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kTooLong = (std::int64_t{1} << 53) + 1;

void ExpectRefused(const Rotary& spec, const std::string& field, const std::string& value,
                   absl::StatusCode code = absl::StatusCode::kInvalidArgument,
                   ElementType type = ElementType::kFloat32) {
  const absl::Status status = CanonicalSpec::Create({spec, type}).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(FieldOf(status), "spec.rotary." + field) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(value));
}

void ExpectTaken(const Rotary& spec, ElementType type = ElementType::kFloat32) {
  const absl::Status status = CanonicalSpec::Create({spec, type}).status();
  EXPECT_TRUE(status.ok()) << status;
}

Rotary With(RotaryScaling scaling) { return {.width = 8, .scaling = std::move(scaling)}; }

TEST(RotaryCheckTest, Widths) {
  for (const std::int64_t width : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{7},
                                   std::int64_t{65538}, std::int64_t{4294967300}}) {
    ExpectRefused({.width = width}, "width", std::to_string(width));
  }
  ExpectTaken({.width = 2});
  ExpectTaken({.width = 65536});
}

TEST(RotaryCheckTest, Bases) {
  for (const double base : {0.0, 1.0, -3.0, kInfinity, kNan}) {
    ExpectRefused({.width = 8, .base = base}, "base", "");
  }
  ExpectTaken({.width = 8, .base = 0x1p64});
  const ExplicitLadder four{{1, 2, 3, 4}};
  ExpectRefused({.width = 8, .base = 10000.0, .scaling = four}, "base", "10000");
  ExpectTaken(With(four));
}

TEST(RotaryCheckTest, Factors) {
  for (const double factor : {0.0, 0.999, -1.0, kInfinity, kNan, std::nextafter(0x1p64, 1e30)}) {
    ExpectRefused(With(LinearScaling{factor}), "linear.factor", "not in 1 ... 2^64");
    ExpectRefused(With(NtkScaling{factor}), "ntk.factor", "not in 1 ... 2^64");
    ExpectRefused(With(DynamicNtkScaling{factor, 1, 1}), "dynamic_ntk.factor", "1 ... 2^64");
    ExpectRefused(With(YarnScaling{.factor = factor, .original_max_position_embeddings = 1}),
                  "yarn.factor", "1 ... 2^64");
    ExpectRefused(With(Llama3Scaling{factor, 1, 4, 1}), "llama3.factor", "1 ... 2^64");
    ExpectRefused(With(ProportionalScaling{1, factor}), "proportional.factor", "1 ... 2^64");
    const std::vector<double> ones(4, 1);
    ExpectRefused(With(LongRopeScaling{ones, ones, 2, 1, factor}), "longrope.factor", "1 ... 2^64");
  }
  ExpectTaken(With(LinearScaling{1}));
  ExpectTaken(With(LinearScaling{0x1p64}));
}

TEST(RotaryCheckTest, Lengths) {
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{-1}, kTooLong}) {
    const std::string text = std::to_string(length);
    ExpectRefused(With(DynamicNtkScaling{2, length, 1}), "dynamic_ntk.max_position_embeddings",
                  text);
    ExpectRefused(With(DynamicNtkScaling{2, 1, length}), "dynamic_ntk.sequence_length", text);
    ExpectRefused(With(YarnScaling{.factor = 2, .original_max_position_embeddings = length}),
                  "yarn.original_max_position_embeddings", text);
    ExpectRefused(With(Llama3Scaling{2, 1, 4, length}), "llama3.original_max_position_embeddings",
                  text);
    const std::vector<double> ones(4, 1);
    ExpectRefused(With(LongRopeScaling{ones, ones, length, 1, 1.0}),
                  "longrope.original_max_position_embeddings", text);
    ExpectRefused(With(LongRopeScaling{ones, ones, 2, length, 1.0}), "longrope.sequence_length",
                  text);
  }
  // ln 1 is no divisor.
  const std::vector<double> ones(4, 1);
  ExpectRefused(With(LongRopeScaling{ones, ones, 1, 1, 1.0}),
                "longrope.original_max_position_embeddings", "2 ... 2^53");
}

// The message names the value that was given.
TEST(RotaryCheckTest, RefusalsNameTheValue) {
  const std::vector<double> ones(4, 1);
  ExpectRefused(With(LinearScaling{0.75}), "linear.factor", "0.75 is");
  ExpectRefused(
      With(YarnScaling{.factor = 2, .original_max_position_embeddings = 1, .beta_fast = -2.5}),
      "yarn.beta_fast", "-2.5 is");
  ExpectRefused(
      With(YarnScaling{.factor = 2, .original_max_position_embeddings = 1, .beta_slow = 33.5}),
      "yarn.beta_fast", "32 is below beta_slow = 33.5");
  ExpectRefused(With(LongRopeScaling{ones, {1, -7.5, 1, 1}, 2, 1, 1.0}), "longrope.long_factor[1]",
                "-7.5 is");
  ExpectRefused(With(LongRopeScaling{{1, 1, 1}, ones, 2, 1, 1.0}), "longrope.short_factor",
                "3 values");
  ExpectRefused(With(Llama3Scaling{8, 5.5, 4.5, 64}), "llama3.high_freq_factor",
                "4.5 is not above low_freq_factor = 5.5");
  ExpectRefused(With(ProportionalScaling{1.25, 1}), "proportional.partial_rotary_factor",
                "1.25 is");
  ExpectRefused({.width = 8, .attention_factor = -3.5}, "attention_factor", "-3.5 is");
  ExpectRefused({.width = 8, .base = -3.5}, "base", "-3.5 is");
}

TEST(RotaryCheckTest, TheEndsOfEveryRangeAreTaken) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 53;
  const std::vector<double> ones(4, 1);
  for (const double factor : {1.0, 0x1p64}) {
    ExpectTaken(With(NtkScaling{factor}));
    ExpectTaken(With(DynamicNtkScaling{factor, 1, 1}));
    ExpectTaken(With(YarnScaling{.factor = factor, .original_max_position_embeddings = 1}));
    ExpectTaken(With(LongRopeScaling{ones, ones, 2, 1, factor}));
    ExpectTaken(With(Llama3Scaling{factor, 1, 4, 1}));
    ExpectTaken(With(ProportionalScaling{1, factor}));
  }
  for (const std::int64_t length : {std::int64_t{1}, kLongest}) {
    ExpectTaken(With(DynamicNtkScaling{2, length, 1}));
    ExpectTaken(With(DynamicNtkScaling{2, 1, length}));
    ExpectTaken(With(YarnScaling{.factor = 2, .original_max_position_embeddings = length}));
    ExpectTaken(With(Llama3Scaling{2, 1, 4, length}));
    ExpectTaken(With(LongRopeScaling{ones, ones, 2, length, 1.0}));
  }
  ExpectTaken(With(LongRopeScaling{ones, ones, kLongest, 1, 1.0}));
  ExpectTaken(With(YarnScaling{.factor = 2,
                               .original_max_position_embeddings = 64,
                               .beta_fast = 0x1p32,
                               .beta_slow = 0x1p-32,
                               .mscale = 0x1p-32,
                               .mscale_all_dim = 0x1p32}));
  ExpectTaken(With(Llama3Scaling{2, 0x1p-32, 0x1p32, 64}));
  ExpectTaken(With(LongRopeScaling{{0x1p-32, 0x1p64, 1, 1}, {1, 1, 0x1p64, 0x1p-32}, 2, 1, 1.0}));
  ExpectTaken({.width = 8, .attention_factor = 0x1p-64});
  ExpectTaken({.width = 16, .mrope_section = std::vector<std::int64_t>(8, 1)});
}

// A required field that was forgotten has no value that would pass for one.
TEST(RotaryCheckTest, WhatIsRequiredHasNoDefault) {
  const std::vector<double> ones(4, 1);
  ExpectRefused({}, "width", "0 is");
  ExpectRefused(With(LinearScaling{}), "linear.factor", "0 is");
  ExpectRefused(With(NtkScaling{}), "ntk.factor", "0 is");
  ExpectRefused(With(DynamicNtkScaling{}), "dynamic_ntk.factor", "0 is");
  ExpectRefused(With(DynamicNtkScaling{.factor = 2, .sequence_length = 1}),
                "dynamic_ntk.max_position_embeddings", "0 is");
  ExpectRefused(With(DynamicNtkScaling{.factor = 2, .max_position_embeddings = 1}),
                "dynamic_ntk.sequence_length", "0 is");
  ExpectRefused(With(YarnScaling{}), "yarn.factor", "0 is");
  ExpectRefused(With(YarnScaling{.factor = 2}), "yarn.original_max_position_embeddings", "0 is");
  ExpectRefused(With(LongRopeScaling{}), "longrope.short_factor", "0 values");
  ExpectRefused(With(LongRopeScaling{.short_factor = ones, .long_factor = ones, .factor = 1}),
                "longrope.original_max_position_embeddings", "0 is");
  ExpectRefused(With(LongRopeScaling{.short_factor = ones,
                                     .long_factor = ones,
                                     .original_max_position_embeddings = 2,
                                     .factor = 1}),
                "longrope.sequence_length", "0 is");
  ExpectRefused(With(Llama3Scaling{}), "llama3.factor", "0 is");
  ExpectRefused(With(Llama3Scaling{.factor = 2}), "llama3.low_freq_factor", "0 is");
  ExpectRefused(With(Llama3Scaling{.factor = 2, .low_freq_factor = 1}), "llama3.high_freq_factor",
                "0 is");
  ExpectRefused(With(Llama3Scaling{.factor = 2, .low_freq_factor = 1, .high_freq_factor = 4}),
                "llama3.original_max_position_embeddings", "0 is");
}

TEST(RotaryCheckTest, DefaultsAreTheModels) {
  const YarnScaling yarn;
  EXPECT_EQ(yarn.beta_fast, 32);
  EXPECT_EQ(yarn.beta_slow, 1);
  EXPECT_TRUE(yarn.truncate);
  const ProportionalScaling proportional;
  EXPECT_EQ(proportional.partial_rotary_factor, 1);
  EXPECT_EQ(proportional.factor, 1);
  const Rotary rotary;
  EXPECT_FALSE(rotary.base.has_value());
  EXPECT_FALSE(rotary.attention_factor.has_value());
  EXPECT_FALSE(rotary.mrope_interleaved);
}

TEST(RotaryCheckTest, NtkNeedsMoreThanOnePair) {
  ExpectRefused({.width = 2, .scaling = NtkScaling{2}}, "width", "4 or more");
  ExpectRefused({.width = 2, .scaling = DynamicNtkScaling{2, 1, 1}}, "width", "4 or more");
  ExpectTaken({.width = 4, .scaling = NtkScaling{2}});
  ExpectTaken({.width = 2, .scaling = LinearScaling{2}});
}

TEST(RotaryCheckTest, YarnsKnobs) {
  const YarnScaling yarn{.factor = 2, .original_max_position_embeddings = 64};
  const auto with = [&](auto change) {
    YarnScaling varied = yarn;
    change(varied);
    return With(varied);
  };
  for (const double beta : {0.0, -1.0, 0x1p-33, 0x1p33, kNan, kInfinity}) {
    ExpectRefused(with([&](YarnScaling& s) { s.beta_fast = beta; }), "yarn.beta_fast", "2^-32");
    ExpectRefused(with([&](YarnScaling& s) { s.beta_slow = beta; }), "yarn.beta_slow", "2^-32");
    ExpectRefused(with([&](YarnScaling& s) {
                    s.mscale = beta;
                    s.mscale_all_dim = 1;
                  }),
                  "yarn.mscale", "2^-32");
    ExpectRefused(with([&](YarnScaling& s) {
                    s.mscale = 1;
                    s.mscale_all_dim = beta;
                  }),
                  "yarn.mscale_all_dim", "2^-32");
  }
  ExpectRefused(with([](YarnScaling& s) { s.beta_slow = 33; }), "yarn.beta_fast", "32");
  ExpectTaken(with([](YarnScaling& s) { s.beta_slow = 32; }));
  // What one mscale alone means differs between implementations.
  ExpectRefused(with([](YarnScaling& s) { s.mscale = 1; }), "yarn.mscale_all_dim", "required");
  ExpectRefused(with([](YarnScaling& s) { s.mscale_all_dim = 1; }), "yarn.mscale", "required");
}

TEST(RotaryCheckTest, LongRopesLists) {
  const std::vector<double> ones(4, 1);
  ExpectRefused(With(LongRopeScaling{{1, 1, 1}, ones, 2, 1, 1.0}), "longrope.short_factor",
                "exactly 4");
  ExpectRefused(With(LongRopeScaling{ones, {}, 2, 1, 1.0}), "longrope.long_factor", "0 values");
  for (const double factor : {0.0, -1.0, 0x1p-33, 0x1p65, kNan}) {
    ExpectRefused(With(LongRopeScaling{{1, factor, 1, 1}, ones, 2, 1, 1.0}),
                  "longrope.short_factor[1]", "2^-32 ... 2^64");
    ExpectRefused(With(LongRopeScaling{ones, {1, 1, 1, factor}, 2, 1, 1.0}),
                  "longrope.long_factor[3]", "2^-32 ... 2^64");
  }
  Rotary spec = With(LongRopeScaling{ones, ones, 2, 1, std::nullopt});
  ExpectRefused(spec, "longrope.factor", "required unless attention_factor");
  spec.attention_factor = 1.0;
  ExpectTaken(spec);
}

TEST(RotaryCheckTest, Llama3sBands) {
  ExpectRefused(With(Llama3Scaling{8, 4, 4, 64}), "llama3.high_freq_factor", "not above");
  ExpectRefused(With(Llama3Scaling{8, 5, 4, 64}), "llama3.high_freq_factor", "not above");
  for (const double factor : {0.0, -1.0, 0x1p33, kNan}) {
    ExpectRefused(With(Llama3Scaling{8, factor, 4, 64}), "llama3.low_freq_factor", "2^-32");
    ExpectRefused(With(Llama3Scaling{8, 1, factor, 64}), "llama3.high_freq_factor", "2^-32");
  }
}

TEST(RotaryCheckTest, ProportionsAreParts) {
  for (const double part : {0.0, -0.5, 1.0001, kNan}) {
    ExpectRefused(With(ProportionalScaling{part, 1}), "proportional.partial_rotary_factor",
                  "above 0 and at most 1");
  }
  ExpectTaken(With(ProportionalScaling{5e-324, 1}));
}

TEST(RotaryCheckTest, Frequencies) {
  ExpectRefused(With(ExplicitLadder{{1, 2, 3}}), "explicit.frequencies", "exactly 4");
  ExpectRefused(With(ExplicitLadder{{1, 2, kNan, 4}}), "explicit.frequencies[2]", "nan");
}

TEST(RotaryCheckTest, AttentionFactors) {
  for (const double factor : {0.0, -1.0, 0x1p-65, 0x1p65, kNan, kInfinity}) {
    ExpectRefused({.width = 8, .attention_factor = factor}, "attention_factor", "2^-64 ... 2^64");
  }
  ExpectTaken({.width = 8, .attention_factor = 0x1p64});
  // The largest that does not round to an infinity of FLOAT16.
  ExpectTaken({.width = 8, .attention_factor = std::nextafter(65520.0, 0)}, ElementType::kFloat16);
  ExpectRefused({.width = 8, .attention_factor = 65520.0}, "attention_factor", "65520",
                absl::StatusCode::kOutOfRange, ElementType::kFloat16);
  // One that follows from the scaling: (1 + 2^32 ln(2)/10) / (1 + 2^-32 ln(2)/10).
  ExpectRefused(With(YarnScaling{.factor = 2,
                                 .original_max_position_embeddings = 64,
                                 .mscale = 0x1p32,
                                 .mscale_all_dim = 0x1p-32}),
                "attention_factor", "FLOAT16", absl::StatusCode::kOutOfRange,
                ElementType::kFloat16);
}

TEST(RotaryCheckTest, Layouts) {
  ExpectRefused({.width = 8, .layout = static_cast<Layout>(8)}, "layout", "8");
}

TEST(RotaryCheckTest, Sections) {
  const auto with = [](std::vector<std::int64_t> sections, bool interleaved = false) {
    return Rotary{
        .width = 16, .mrope_section = std::move(sections), .mrope_interleaved = interleaved};
  };
  ExpectRefused(with({8}), "mrope_section", "1 axes");
  ExpectRefused(with(std::vector<std::int64_t>(9, 1)), "mrope_section", "9 axes");
  ExpectRefused(with({4, 3}), "mrope_section", "7 pairs");
  ExpectRefused(with({4, -1, 5}), "mrope_section[1]", "-1");
  ExpectRefused(with({4, 9}), "mrope_section[1]", "9");
  ExpectRefused(with({}, true), "mrope_interleaved", "mrope_section");
  ExpectRefused(with({4, 4}, true), "mrope_section", "3");
  // Of 8 pairs 1, 4, 7 may take axis 1, and 2, 5 axis 2.
  ExpectRefused(with({2, 4, 2}, true), "mrope_section[1]", "at most 3");
  ExpectRefused(with({2, 3, 3}, true), "mrope_section[2]", "at most 2");
  ExpectTaken(with({3, 3, 2}, true));
  ExpectTaken(with({0, 8}));
  ExpectTaken(with({2, 2, 2, 2}));
}

TEST(RotaryCheckTest, ShapesFollow) {
  const CanonicalSpec spec = *CanonicalSpec::Create(
      Rotary{.width = 16, .layout = Layout::kCosSinDuplicatedHalves, .mrope_section = {2, 3, 3}});
  EXPECT_EQ(spec.row_width(), 32);
  EXPECT_EQ(spec.pairs(), 8);
  EXPECT_EQ(spec.axes(), 3);
  EXPECT_FALSE(spec.bounded());
  EXPECT_EQ(spec.first_position(), -kMaxPosition);
  EXPECT_EQ(spec.last_position(), kMaxPosition);
  EXPECT_EQ(std::get<Rotary>(spec.spec().scheme).base, 10000.0);
}

}  // namespace
}  // namespace phasor
