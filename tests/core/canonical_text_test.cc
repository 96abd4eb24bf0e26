#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "phasor/core/spec.h"

namespace phasor {
namespace {

std::string TextOf(TableSpec spec) {
  const auto canonical = CanonicalSpec::Create(std::move(spec));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return canonical.ok() ? canonical->text() : "";
}

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// The literals are written from the comment of TableSpec in table_spec.proto.

TEST(CanonicalTextTest, ExampleOfTheProtoComment) {
  EXPECT_EQ(TextOf({Sinusoidal{.width = 512, .base = 500000.0}, ElementType::kFloat16}),
            "element_type=ELEMENT_TYPE_FLOAT16\n"
            "sinusoidal.base=411e848000000000\n"
            "sinusoidal.width=512\n");
}

TEST(CanonicalTextTest, DefaultsAreLeftOut) {
  const std::string text = "sinusoidal.width=8\n";
  EXPECT_EQ(TextOf(Sinusoidal{.width = 8}), text);
  EXPECT_EQ(TextOf({Sinusoidal{.width = 8,
                               .base = 10000.0,
                               .ladder = PaperLadder{},
                               .layout = Layout::kSinCosInterleaved,
                               .position_offset = 0},
                    ElementType::kFloat32}),
            text);
  const std::string learned = "learned_init.max_positions=3\nlearned_init.width=5\n";
  EXPECT_EQ(TextOf(LearnedInit{.max_positions = 3, .width = 5}), learned);
  EXPECT_EQ(
      TextOf(LearnedInit{.max_positions = 3, .width = 5, .stddev = 0.02, .seed = 0, .stream = 0}),
      learned);
}

TEST(CanonicalTextTest, EveryFieldOfSinusoidal) {
  EXPECT_EQ(TextOf({Sinusoidal{.width = 6,
                               .base = 2.0,
                               .ladder = InclusiveLadder{},
                               .layout = Layout::kCosSinDuplicatedPairs,
                               .position_offset = -2,
                               .zero_row = 0},
                    ElementType::kBfloat16}),
            "element_type=ELEMENT_TYPE_BFLOAT16\n"
            "sinusoidal.base=4000000000000000\n"
            "sinusoidal.inclusive={}\n"
            "sinusoidal.layout=LAYOUT_COS_SIN_DUPLICATED_PAIRS\n"
            "sinusoidal.position_offset=-2\n"
            "sinusoidal.width=6\n"
            "sinusoidal.zero_row=0\n");
}

TEST(CanonicalTextTest, Ladders) {
  EXPECT_EQ(TextOf(Sinusoidal{.width = 4, .ladder = DownscaledLadder{1.5}}),
            "sinusoidal.downscaled.downscale_shift=3ff8000000000000\nsinusoidal.width=4\n");
  // Zero is not an absent shift, nor is it the paper ladder.
  EXPECT_EQ(TextOf(Sinusoidal{.width = 4, .ladder = DownscaledLadder{0.0}}),
            "sinusoidal.downscaled.downscale_shift=0000000000000000\nsinusoidal.width=4\n");
  EXPECT_EQ(TextOf(Sinusoidal{.width = 4, .ladder = ExplicitLadder{{1.0, -0.5}}}),
            "sinusoidal.explicit.frequencies=3ff0000000000000,bfe0000000000000\n"
            "sinusoidal.width=4\n");
  EXPECT_EQ(TextOf(Sinusoidal{.width = 4, .ladder = TimescaleLadder{}}),
            "sinusoidal.timescales={}\nsinusoidal.width=4\n");
  EXPECT_EQ(TextOf(Sinusoidal{
                .width = 5, .ladder = TimescaleLadder{0.5, 8}, .odd_column = OddColumn::kZero}),
            "sinusoidal.odd_column=ODD_COLUMN_ZERO\n"
            "sinusoidal.timescales.max_timescale=4020000000000000\n"
            "sinusoidal.timescales.min_timescale=3fe0000000000000\n"
            "sinusoidal.width=5\n");
}

TEST(CanonicalTextTest, EveryFieldOfLearnedInit) {
  EXPECT_EQ(TextOf({LearnedInit{.max_positions = std::int64_t{1} << 31,
                                .width = 3,
                                .stddev = 1.0,
                                .seed = kMin,
                                .stream = kMax},
                    ElementType::kFloat64}),
            "element_type=ELEMENT_TYPE_FLOAT64\n"
            "learned_init.max_positions=2147483648\n"
            "learned_init.seed=-9223372036854775808\n"
            "learned_init.stddev=3ff0000000000000\n"
            "learned_init.stream=9223372036854775807\n"
            "learned_init.width=3\n");
}

TEST(CanonicalTextTest, EveryFieldOfTimestep) {
  EXPECT_EQ(TextOf(Timestep{.width = 320, .downscale_freq_shift = 0}),
            "timestep.downscale_freq_shift=0000000000000000\ntimestep.width=320\n");
  EXPECT_EQ(TextOf(Timestep{.width = 3,
                            .max_period = 2,
                            .downscale_freq_shift = 0.5,
                            .scale = 1000,
                            .flip_sin_to_cos = true}),
            "timestep.downscale_freq_shift=3fe0000000000000\n"
            "timestep.flip_sin_to_cos=true\n"
            "timestep.max_period=4000000000000000\n"
            "timestep.scale=408f400000000000\n"
            "timestep.width=3\n");
}

TEST(CanonicalTextTest, EveryFieldOfNone) {
  EXPECT_EQ(TextOf(NoPosition{.width = 8, .layout = Layout::kCosSinHalves}), "none.width=8\n");
  EXPECT_EQ(TextOf(NoPosition{.width = 8, .layout = Layout::kCosOnly}),
            "none.layout=LAYOUT_COS_ONLY\nnone.width=8\n");
  EXPECT_EQ(TextOf(NoPosition{.width = 7, .additive = true}), "none.additive=true\nnone.width=7\n");
}

TEST(CanonicalTextTest, EveryFieldOfAlibi) {
  EXPECT_EQ(TextOf(Alibi{.head_count = 8, .bias_max = 8}), "alibi.head_count=8\n");
  EXPECT_EQ(TextOf(Alibi{.head_count = 8, .bias_max = 16, .form = AlibiForm::kKeyPosition}),
            "alibi.bias_max=4030000000000000\n"
            "alibi.form=ALIBI_FORM_KEY_POSITION\n"
            "alibi.head_count=8\n");
}

TEST(CanonicalTextTest, EveryFieldOfRelativeBuckets) {
  EXPECT_EQ(TextOf(RelativeBuckets{}), "relative_buckets={}\n");
  EXPECT_EQ(TextOf({RelativeBuckets{.num_buckets = 32}, ElementType::kInt32}),
            "relative_buckets={}\n");
  EXPECT_EQ(TextOf(RelativeBuckets{64, 256, false}),
            "relative_buckets.bidirectional=false\n"
            "relative_buckets.max_distance=256\n"
            "relative_buckets.num_buckets=64\n");
}

TEST(CanonicalTextTest, RealsAreDefaultsBitForBitOnly) {
  EXPECT_EQ(TextOf(Sinusoidal{.width = 4, .base = 0x1.3880000000001p+13}),
            "sinusoidal.base=40c3880000000001\nsinusoidal.width=4\n");
  EXPECT_EQ(TextOf(Sinusoidal{.width = 4, .ladder = DownscaledLadder{-0.0}}),
            "sinusoidal.downscaled.downscale_shift=8000000000000000\nsinusoidal.width=4\n");
}

// Each spec differs from the first of its scheme in one field.
std::vector<TableSpec> OneFieldVaried() {
  const Sinusoidal s{.width = 8};
  const LearnedInit l{.max_positions = 8, .width = 8};
  const Rotary r{.width = 4};
  std::vector<TableSpec> specs = {s, l, r};
  const auto vary_r = [&](auto change) {
    Rotary varied = r;
    change(varied);
    specs.push_back(varied);
  };
  vary_r([](Rotary& v) { v.width = 6; });
  vary_r([](Rotary& v) { v.base = 2.0; });
  vary_r([](Rotary& v) { v.attention_factor = 1.0; });
  vary_r([](Rotary& v) { v.attention_factor = 2.0; });
  vary_r([](Rotary& v) { v.layout = Layout::kSinCosInterleaved; });
  vary_r([](Rotary& v) { v.layout = Layout::kSinCosHalves; });
  vary_r([](Rotary& v) { v.mrope_section = {1, 1}; });
  vary_r([](Rotary& v) { v.mrope_section = {2, 0}; });
  vary_r([](Rotary& v) { v.mrope_section = {1, 1, 0}; });
  vary_r([](Rotary& v) {
    v.mrope_section = {1, 1, 0};
    v.mrope_interleaved = true;
  });
  const std::vector<RotaryScaling> scalings = {
      LinearScaling{1},
      LinearScaling{2},
      NtkScaling{1},
      NtkScaling{2},
      DynamicNtkScaling{1, 1, 1},
      DynamicNtkScaling{2, 1, 1},
      DynamicNtkScaling{1, 2, 1},
      DynamicNtkScaling{1, 1, 2},
      YarnScaling{2, 64, 32, 1, {}, {}, true},
      YarnScaling{3, 64, 32, 1, {}, {}, true},
      YarnScaling{2, 65, 32, 1, {}, {}, true},
      YarnScaling{2, 64, 31, 1, {}, {}, true},
      YarnScaling{2, 64, 32, 2, {}, {}, true},
      YarnScaling{2, 64, 32, 1, 1, 1, true},
      YarnScaling{2, 64, 32, 1, 2, 1, true},
      YarnScaling{2, 64, 32, 1, 1, 2, true},
      YarnScaling{2, 64, 32, 1, {}, {}, false},
      LongRopeScaling{{1, 1}, {1, 1}, 64, 1, 1},
      LongRopeScaling{{1, 2}, {1, 1}, 64, 1, 1},
      LongRopeScaling{{1, 1}, {1, 2}, 64, 1, 1},
      LongRopeScaling{{1, 1}, {1, 1}, 65, 1, 1},
      LongRopeScaling{{1, 1}, {1, 1}, 64, 2, 1},
      LongRopeScaling{{1, 1}, {1, 1}, 64, 1, 2},
      Llama3Scaling{8, 1, 4, 64},
      Llama3Scaling{9, 1, 4, 64},
      Llama3Scaling{8, 2, 4, 64},
      Llama3Scaling{8, 1, 5, 64},
      Llama3Scaling{8, 1, 4, 65},
      ProportionalScaling{1, 1},
      ProportionalScaling{0.5, 1},
      ProportionalScaling{1, 2},
      ExplicitLadder{{1, 0.01}},
      ExplicitLadder{{0.01, 1}},
  };
  for (const RotaryScaling& scaling : scalings) {
    vary_r([&](Rotary& v) { v.scaling = scaling; });
  }
  const auto vary_s = [&](auto change) {
    Sinusoidal varied = s;
    change(varied);
    specs.push_back(varied);
  };
  const auto vary_l = [&](auto change) {
    LearnedInit varied = l;
    change(varied);
    specs.push_back(varied);
  };
  specs.insert(specs.end(), {NoPosition{.width = 8}, NoPosition{.width = 10},
                             NoPosition{.width = 8, .layout = Layout::kSinCosInterleaved},
                             NoPosition{.width = 8, .additive = true}});
  specs.insert(specs.end(), {Alibi{.head_count = 8}, Alibi{.head_count = 9},
                             Alibi{.head_count = 8, .bias_max = 16},
                             Alibi{.head_count = 8, .form = AlibiForm::kKeyPosition}});
  specs.insert(specs.end(),
               {RelativeBuckets{}, RelativeBuckets{.num_buckets = 33},
                RelativeBuckets{.max_distance = 129}, RelativeBuckets{.bidirectional = false}});
  const Timestep t{.width = 8, .downscale_freq_shift = 0};
  specs.insert(specs.end(),
               {t, Timestep{.width = 9, .downscale_freq_shift = 0},
                Timestep{.width = 8, .downscale_freq_shift = 1},
                Timestep{.width = 8, .max_period = 2, .downscale_freq_shift = 0},
                Timestep{.width = 8, .downscale_freq_shift = 0, .scale = 2},
                Timestep{.width = 8, .downscale_freq_shift = 0, .flip_sin_to_cos = true}});
  for (ElementType type : {ElementType::kFloat64, ElementType::kFloat16, ElementType::kBfloat16}) {
    specs.push_back({s, type});
    specs.push_back({l, type});
  }
  vary_s([](Sinusoidal& v) { v.width = 10; });
  vary_s([](Sinusoidal& v) { v.base = 10001.0; });
  vary_s([](Sinusoidal& v) { v.ladder = InclusiveLadder{}; });
  vary_s([](Sinusoidal& v) { v.ladder = DownscaledLadder{0.0}; });
  vary_s([](Sinusoidal& v) { v.ladder = DownscaledLadder{1.0}; });
  vary_s([](Sinusoidal& v) { v.ladder = ExplicitLadder{{1, 0.1, 0.01, 0.001}}; });
  vary_s([](Sinusoidal& v) { v.ladder = ExplicitLadder{{1, 0.01, 0.1, 0.001}}; });
  for (int layout = 1; layout < 8; ++layout) {
    vary_s([&](Sinusoidal& v) { v.layout = static_cast<Layout>(layout); });
  }
  vary_s([](Sinusoidal& v) { v.ladder = TimescaleLadder{}; });
  vary_s([](Sinusoidal& v) { v.ladder = TimescaleLadder{2, 10000}; });
  vary_s([](Sinusoidal& v) { v.ladder = TimescaleLadder{1, 10001}; });
  for (const OddColumn odd : {OddColumn::kZero, OddColumn::kSine}) {
    vary_s([&](Sinusoidal& v) {
      v.width = 9;
      v.odd_column = odd;
    });
  }
  vary_s([](Sinusoidal& v) { v.position_offset = 1; });
  vary_s([](Sinusoidal& v) { v.position_offset = -1; });
  vary_s([](Sinusoidal& v) { v.zero_row = 0; });
  vary_s([](Sinusoidal& v) { v.zero_row = 1; });
  vary_l([](LearnedInit& v) { v.max_positions = 9; });
  vary_l([](LearnedInit& v) { v.width = 9; });
  vary_l([](LearnedInit& v) { v.stddev = 0.03; });
  vary_l([](LearnedInit& v) { v.seed = 1; });
  vary_l([](LearnedInit& v) { v.seed = -1; });
  vary_l([](LearnedInit& v) { v.stream = 1; });
  return specs;
}

TEST(CanonicalTextTest, SpecsThatDifferInOneFieldDifferInTextAndFingerprint) {
  std::set<std::string> texts;
  std::set<std::string> fingerprints;
  const std::vector<TableSpec> specs = OneFieldVaried();
  for (const TableSpec& spec : specs) {
    const auto canonical = CanonicalSpec::Create(spec);
    ASSERT_TRUE(canonical.ok()) << canonical.status();
    EXPECT_TRUE(texts.insert(canonical->text()).second) << canonical->text();
    EXPECT_TRUE(fingerprints.insert(canonical->fingerprint()).second) << canonical->text();
  }
  EXPECT_EQ(texts.size(), specs.size());
}

// tests/golden/fingerprints.tsv was made by another program.

double Real(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

std::int64_t Integer(const std::string& text) {
  std::int64_t value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << text;
  return value;
}

using Fields = std::map<std::string, std::string>;

// Takes a field out of `fields`, so that what nobody asked for is noticed.
std::string Take(Fields& fields, const std::string& path, const std::string& standard) {
  const auto it = fields.find(path);
  if (it == fields.end()) return standard;
  std::string value = it->second;
  fields.erase(it);
  return value;
}

std::vector<double> Reals(const std::string& text) {
  std::vector<double> values;
  for (const std::string& value : std::vector<std::string>(absl::StrSplit(text, ','))) {
    values.push_back(Real(value));
  }
  return values;
}

// All but its layout.
Rotary RotaryOf(Fields& fields) {
  const auto has = [&](const std::string& path) { return fields.count("rotary." + path) != 0; };
  const auto text = [&](const std::string& path) { return Take(fields, "rotary." + path, ""); };
  const auto real = [&](const std::string& path) { return Real(text(path)); };
  const auto integer = [&](const std::string& path) { return Integer(text(path)); };
  const auto optional = [&](const std::string& path) {
    return has(path) ? std::optional<double>(real(path)) : std::nullopt;
  };
  Rotary r;
  r.width = integer("width");
  r.base = optional("base");
  r.attention_factor = optional("attention_factor");
  if (has("mrope_section")) {
    for (const double pairs : Reals(text("mrope_section"))) {
      r.mrope_section.push_back(static_cast<std::int64_t>(pairs));
    }
  }
  r.mrope_interleaved = text("mrope_interleaved") == "true";
  if (has("linear.factor")) r.scaling = LinearScaling{real("linear.factor")};
  if (has("ntk.factor")) r.scaling = NtkScaling{real("ntk.factor")};
  if (has("dynamic_ntk.factor")) {
    r.scaling = DynamicNtkScaling{real("dynamic_ntk.factor"),
                                  integer("dynamic_ntk.max_position_embeddings"),
                                  integer("dynamic_ntk.sequence_length")};
  }
  if (has("yarn.factor")) {
    YarnScaling s;
    s.factor = real("yarn.factor");
    s.original_max_position_embeddings = integer("yarn.original_max_position_embeddings");
    s.beta_fast = optional("yarn.beta_fast").value_or(32);
    s.beta_slow = optional("yarn.beta_slow").value_or(1);
    s.mscale = optional("yarn.mscale");
    s.mscale_all_dim = optional("yarn.mscale_all_dim");
    s.truncate = text("yarn.truncate") != "false";
    r.scaling = s;
  }
  if (has("longrope.short_factor")) {
    LongRopeScaling s;
    s.short_factor = Reals(text("longrope.short_factor"));
    s.long_factor = Reals(text("longrope.long_factor"));
    s.original_max_position_embeddings = integer("longrope.original_max_position_embeddings");
    s.sequence_length = integer("longrope.sequence_length");
    s.factor = optional("longrope.factor");
    r.scaling = s;
  }
  if (has("llama3.factor")) {
    r.scaling = Llama3Scaling{real("llama3.factor"), real("llama3.low_freq_factor"),
                              real("llama3.high_freq_factor"),
                              integer("llama3.original_max_position_embeddings")};
  }
  if (text("proportional") == "{}") r.scaling = ProportionalScaling{};
  if (has("proportional.partial_rotary_factor") || has("proportional.factor")) {
    r.scaling = ProportionalScaling{optional("proportional.partial_rotary_factor").value_or(1),
                                    optional("proportional.factor").value_or(1)};
  }
  if (has("explicit.frequencies")) {
    r.scaling = ExplicitLadder{Reals(text("explicit.frequencies"))};
  }
  return r;
}

TableSpec SpecOf(Fields& fields) {
  static const std::map<std::string, ElementType> kTypes = {
      {"ELEMENT_TYPE_FLOAT32", ElementType::kFloat32},
      {"ELEMENT_TYPE_FLOAT64", ElementType::kFloat64},
      {"ELEMENT_TYPE_FLOAT16", ElementType::kFloat16},
      {"ELEMENT_TYPE_BFLOAT16", ElementType::kBfloat16}};
  static const std::map<std::string, Layout> kLayouts = {
      {"LAYOUT_SIN_COS_INTERLEAVED", Layout::kSinCosInterleaved},
      {"LAYOUT_SIN_COS_HALVES", Layout::kSinCosHalves},
      {"LAYOUT_COS_SIN_HALVES", Layout::kCosSinHalves},
      {"LAYOUT_COS_SIN_INTERLEAVED", Layout::kCosSinInterleaved},
      {"LAYOUT_COS_SIN_DUPLICATED_HALVES", Layout::kCosSinDuplicatedHalves},
      {"LAYOUT_COS_SIN_DUPLICATED_PAIRS", Layout::kCosSinDuplicatedPairs},
      {"LAYOUT_COS_ONLY", Layout::kCosOnly},
      {"LAYOUT_SIN_ONLY", Layout::kSinOnly}};
  const ElementType type = kTypes.at(Take(fields, "element_type", "ELEMENT_TYPE_FLOAT32"));
  if (fields.count("learned_init.width") != 0) {
    LearnedInit l;
    l.max_positions = Integer(Take(fields, "learned_init.max_positions", ""));
    l.width = Integer(Take(fields, "learned_init.width", ""));
    l.stddev = Real(Take(fields, "learned_init.stddev", "0.02"));
    l.seed = Integer(Take(fields, "learned_init.seed", "0"));
    l.stream = Integer(Take(fields, "learned_init.stream", "0"));
    return {l, type};
  }
  if (fields.count("learned_table.name") != 0) {
    LearnedTable l;
    l.name = Take(fields, "learned_table.name", "");
    l.content_sha256 = Take(fields, "learned_table.content_sha256", "");
    l.max_positions = Integer(Take(fields, "learned_table.max_positions", ""));
    l.width = Integer(Take(fields, "learned_table.width", ""));
    return {l, type};
  }
  if (fields.begin()->first.rfind("relative_buckets", 0) == 0) {
    Take(fields, "relative_buckets", "");
    RelativeBuckets b;
    b.num_buckets = Integer(Take(fields, "relative_buckets.num_buckets", "32"));
    b.max_distance = Integer(Take(fields, "relative_buckets.max_distance", "128"));
    b.bidirectional = Take(fields, "relative_buckets.bidirectional", "") != "false";
    return b;
  }
  if (fields.count("alibi.head_count") != 0) {
    Alibi a;
    a.head_count = Integer(Take(fields, "alibi.head_count", ""));
    a.bias_max = Real(Take(fields, "alibi.bias_max", "8"));
    if (Take(fields, "alibi.form", "") == "ALIBI_FORM_KEY_POSITION") {
      a.form = AlibiForm::kKeyPosition;
    }
    return {a, type};
  }
  if (fields.count("none.width") != 0) {
    NoPosition n;
    n.width = Integer(Take(fields, "none.width", ""));
    n.layout = kLayouts.at(Take(fields, "none.layout", "LAYOUT_COS_SIN_HALVES"));
    n.additive = Take(fields, "none.additive", "") == "true";
    return {n, type};
  }
  if (fields.count("timestep.width") != 0) {
    Timestep t;
    t.width = Integer(Take(fields, "timestep.width", ""));
    t.max_period = Real(Take(fields, "timestep.max_period", "10000"));
    t.downscale_freq_shift = Real(Take(fields, "timestep.downscale_freq_shift", ""));
    t.scale = Real(Take(fields, "timestep.scale", "1"));
    t.flip_sin_to_cos = Take(fields, "timestep.flip_sin_to_cos", "") == "true";
    return {t, type};
  }
  if (fields.count("rotary.width") != 0) {
    Rotary rotary = RotaryOf(fields);
    rotary.layout = kLayouts.at(Take(fields, "rotary.layout", "LAYOUT_COS_SIN_HALVES"));
    return {rotary, type};
  }
  Sinusoidal s;
  s.width = Integer(Take(fields, "sinusoidal.width", ""));
  if (fields.count("sinusoidal.base") != 0) s.base = Real(Take(fields, "sinusoidal.base", ""));
  if (fields.count("sinusoidal.zero_row") != 0) {
    s.zero_row = Integer(Take(fields, "sinusoidal.zero_row", ""));
  }
  s.layout = kLayouts.at(Take(fields, "sinusoidal.layout", "LAYOUT_SIN_COS_INTERLEAVED"));
  s.position_offset = Integer(Take(fields, "sinusoidal.position_offset", "0"));
  if (Take(fields, "sinusoidal.inclusive", "") == "{}") s.ladder = InclusiveLadder{};
  const std::string shift = Take(fields, "sinusoidal.downscaled.downscale_shift", "");
  if (!shift.empty()) s.ladder = DownscaledLadder{Real(shift)};
  if (Take(fields, "sinusoidal.timescales", "") == "{}") s.ladder = TimescaleLadder{};
  const std::string least = Take(fields, "sinusoidal.timescales.min_timescale", "1");
  const std::string most = Take(fields, "sinusoidal.timescales.max_timescale", "10000");
  if (least != "1" || most != "10000") s.ladder = TimescaleLadder{Real(least), Real(most)};
  static const std::map<std::string, OddColumn> kOddColumns = {
      {"", OddColumn::kNone},
      {"ODD_COLUMN_ZERO", OddColumn::kZero},
      {"ODD_COLUMN_SINE", OddColumn::kSine}};
  s.odd_column = kOddColumns.at(Take(fields, "sinusoidal.odd_column", ""));
  const std::string frequencies = Take(fields, "sinusoidal.explicit.frequencies", "");
  if (!frequencies.empty()) {
    s.ladder = ExplicitLadder{Reals(frequencies)};
  }
  return {s, type};
}

TEST(FingerprintTest, AgreesWithTheGoldenFile) {
  std::ifstream file(PHASOR_GOLDEN_DIR "/fingerprints.tsv");
  ASSERT_TRUE(file.is_open());
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    ASSERT_EQ(columns.size(), 2u) << line;
    Fields fields;
    for (const std::string& field : std::vector<std::string>(absl::StrSplit(columns[1], ' '))) {
      const std::vector<std::string> parts = absl::StrSplit(field, absl::MaxSplits('=', 1));
      fields[parts.at(0)] = parts.at(1);
    }
    const auto canonical = CanonicalSpec::Create(SpecOf(fields));
    ASSERT_TRUE(canonical.ok()) << line << " " << canonical.status();
    EXPECT_TRUE(fields.empty()) << line;
    EXPECT_EQ(canonical->fingerprint(), columns[0]) << line << "\n" << canonical->text();
    ++lines;
  }
  EXPECT_GE(lines, 62);
}

}  // namespace
}  // namespace phasor
