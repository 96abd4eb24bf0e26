// Configurations as their models publish them, read as transformers 5.16 does.

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/families.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "phasor/models/model.h"

namespace phasor {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModelDescription Describe(const std::string& config, const ModelOptions& options = {}) {
  const absl::StatusOr<ModelDescription> model = DescribeModel(config, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : ModelDescription();
}

const Rotary& RotaryOf(const ModelDescription& model, absl::string_view name = "rotary") {
  static const Rotary kNone;
  const ModelTable* table = model.Find(name);
  EXPECT_NE(table, nullptr) << name;
  if (table == nullptr || !table->spec.has_value()) return kNone;
  return std::get<Rotary>(table->spec->scheme);
}

// tests/golden/schemes.json: 50-digit arithmetic by another program.
nlohmann::json Golden(const std::string& key) {
  std::ifstream file(PHASOR_GOLDEN_DIR "/schemes.json");
  return nlohmann::json::parse(file)[key];
}

void ExpectFrequencies(const Rotary& rotary, const nlohmann::json& want) {
  const auto spec = CanonicalSpec::Create(rotary);
  ASSERT_TRUE(spec.ok()) << spec.status();
  const auto frequencies = Frequencies(*spec);
  ASSERT_TRUE(frequencies.ok());
  for (const auto& [i, value] : want.items()) {
    const double expected = std::stod(value.get<std::string>());
    EXPECT_NEAR((*frequencies)[std::stoi(i)] / expected, 1, 1e-15) << i;
  }
}

TEST(RopeModel, LlamaWithoutScaling) {
  const ModelDescription model = Describe(R"({"model_type": "llama", "hidden_size": 4096,
      "num_attention_heads": 32, "num_hidden_layers": 32, "rope_theta": 10000.0,
      "max_position_embeddings": 4096, "rope_scaling": null, "vocab_size": 32000})");
  EXPECT_EQ(RotaryOf(model), (Rotary{.width = 128, .base = 10000}));
  EXPECT_EQ(model.tables[0].use, TableUse::kRotateHalves);
  EXPECT_THAT(model.tables[0].layers, IsEmpty());
  EXPECT_THAT(model.warnings, IsEmpty());
  EXPECT_THAT(model.keys_used, Contains("rope_theta"));
  EXPECT_THAT(model.keys_ignored, testing::Not(Contains("vocab_size")));
}

TEST(RopeModel, Llama31) {
  const ModelDescription model = Describe(R"({"model_type": "llama", "hidden_size": 4096,
      "num_attention_heads": 32, "rope_theta": 500000.0, "max_position_embeddings": 131072,
      "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                       "original_max_position_embeddings": 8192, "rope_type": "llama3"}})");
  EXPECT_EQ(RotaryOf(model),
            (Rotary{.width = 128,
                    .base = 500000,
                    .scaling = Llama3Scaling{.factor = 8,
                                             .low_freq_factor = 1,
                                             .high_freq_factor = 4,
                                             .original_max_position_embeddings = 8192}}));
  ExpectFrequencies(RotaryOf(model), Golden("llama3.1_inv_freq_theta5e5_d128_f8_lf1_hf4_M8192"));
  EXPECT_THAT(model.warnings, IsEmpty());
}

// The same model as old and as new files write it.
TEST(RopeModel, RopeParametersAreRopeScalingAndRopeTheta) {
  const std::string rest = R"("model_type": "qwen2", "head_dim": 128, "hidden_size": 3584,
      "num_attention_heads": 28, "max_position_embeddings": 32768)";
  const ModelDescription older = Describe(absl::StrCat("{", rest, R"(, "rope_theta": 1e6,
      "rope_scaling": {"type": "linear", "factor": 4}})"));
  const ModelDescription newer = Describe(absl::StrCat("{", rest, R"(, "rope_parameters":
      {"rope_type": "linear", "rope_theta": 1e6, "factor": 4}})"));
  EXPECT_EQ(RotaryOf(older), RotaryOf(newer));
  EXPECT_EQ(RotaryOf(newer), (Rotary{.width = 128, .base = 1e6, .scaling = LinearScaling{4}}));
}

TEST(RopeModel, LegacyRopeScalingReplacesRopeParameters) {
  const ModelDescription model = Describe(R"({"model_type": "llama", "head_dim": 64,
      "rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 2},
      "rope_parameters": {"rope_type": "linear", "factor": 8, "rope_theta": 3e5}})");
  EXPECT_EQ(RotaryOf(model), (Rotary{.width = 64, .base = 5e5, .scaling = LinearScaling{2}}));
  EXPECT_THAT(model.keys_ignored, testing::Not(Contains("rope_theta")));
}

TEST(RopeModel, QwenYarn) {
  const ModelDescription model = Describe(R"({"model_type": "qwen2", "hidden_size": 3584,
      "num_attention_heads": 28, "rope_theta": 1e6, "max_position_embeddings": 131072,
      "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}})");
  const nlohmann::json golden = Golden("qwen2.5_yarn_f4_M32768_theta1e6_d128");
  ExpectFrequencies(RotaryOf(model), golden["inv_freq"]);
  EXPECT_DOUBLE_EQ(*CanonicalSpec::Create(RotaryOf(model))->attention_factor(),
                   std::stod(golden["attn"].get<std::string>()));
  // 4.46 takes max_position_embeddings for the original length.
  EXPECT_THAT(model.warnings, ElementsAre(HasSubstr("transformers 4.46 makes another table")));
  const Rotary old = RotaryOf(Describe(R"({"model_type": "qwen2", "hidden_size": 3584,
      "num_attention_heads": 28, "rope_theta": 1e6, "max_position_embeddings": 131072,
      "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}})",
                                       {.version = TransformersVersion::k4_46}));
  EXPECT_EQ(std::get<YarnScaling>(old.scaling).original_max_position_embeddings, 131072);
}

// schemes.md 3.2: with max_position_embeddings left at 32768, 5.0 scales nothing.
TEST(RopeModel, YarnOf50TakesTheRatioOfLengths) {
  const std::string config = R"({"model_type": "qwen2", "head_dim": 128, "rope_theta": 1e6,
      "max_position_embeddings": 32768,
      "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}})";
  const Rotary of_50 = RotaryOf(Describe(config, {.version = TransformersVersion::k5_0}));
  EXPECT_EQ(std::get<YarnScaling>(of_50.scaling).factor, 1);
  EXPECT_EQ(std::get<YarnScaling>(RotaryOf(Describe(config)).scaling).factor, 4);
  EXPECT_THAT(Describe(config).warnings, Contains(HasSubstr("transformers 5.0")));
}

TEST(RopeModel, GptOss) {
  const ModelDescription model = Describe(R"({"model_type": "gpt_oss", "head_dim": 64,
      "hidden_size": 2880, "num_attention_heads": 64, "rope_theta": 150000,
      "max_position_embeddings": 131072, "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0,
      "factor": 32.0, "original_max_position_embeddings": 4096, "rope_type": "yarn",
      "truncate": false}})");
  const nlohmann::json golden = Golden("gpt_oss_yarn_notrunc");
  ExpectFrequencies(RotaryOf(model), golden["inv_freq"]);
  EXPECT_DOUBLE_EQ(*CanonicalSpec::Create(RotaryOf(model))->attention_factor(),
                   std::stod(golden["attn"].get<std::string>()));
}

TEST(RopeModel, DeepSeekPutsItsFactorIntoTheSoftmax) {
  const ModelDescription model = Describe(R"({"model_type": "deepseek_v3", "hidden_size": 7168,
      "num_attention_heads": 128, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128,
      "rope_theta": 10000, "max_position_embeddings": 163840, "rope_scaling": {"beta_fast": 32,
      "beta_slow": 1, "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
      "original_max_position_embeddings": 4096, "type": "yarn"}})");
  const nlohmann::json golden = Golden("deepseek_v3_yarn");
  EXPECT_EQ(RotaryOf(model).width, 64);
  ExpectFrequencies(RotaryOf(model), golden["inv_freq"]);
  EXPECT_EQ(CanonicalSpec::Create(RotaryOf(model))->attention_factor(), 1);
  EXPECT_EQ(model.tables[0].use, TableUse::kRotateToHalves);
  ASSERT_TRUE(model.tables[0].softmax_factor.has_value());
  EXPECT_NEAR(*model.tables[0].softmax_factor, std::stod(golden["softmax_mult"].get<std::string>()),
              1e-14);
}

TEST(RopeModel, Phi3LongRopeHasATableForEachSideOfItsOriginalLength) {
  std::string ones = "1.0";
  std::string twos = "2.0";
  for (int i = 1; i < 48; ++i) {
    ones += ", 1.0";
    twos += ", 2.0";
  }
  const std::string config = absl::StrCat(
      R"({"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32,
          "max_position_embeddings": 131072, "original_max_position_embeddings": 4096,
          "rope_theta": 10000.0, "rope_scaling": {"type": "su", "short_factor": [)",
      ones, R"(], "long_factor": [)", twos, "]}}");
  const ModelDescription model = Describe(config);
  ASSERT_EQ(model.tables.size(), 2U);
  EXPECT_EQ((*Frequencies(*CanonicalSpec::Create(RotaryOf(model, "rotary_short"))))[0], 1);
  EXPECT_EQ((*Frequencies(*CanonicalSpec::Create(RotaryOf(model, "rotary_long"))))[0], 0.5);
  const double golden = std::stod(Golden("phi3_128k_longrope_attn_M4096_s32").get<std::string>());
  for (const char* name : {"rotary_short", "rotary_long"}) {
    EXPECT_DOUBLE_EQ(*CanonicalSpec::Create(RotaryOf(model, name))->attention_factor(), golden);
  }
  // With a length there is one; M itself is still short.
  EXPECT_EQ(RotaryOf(Describe(config, {.sequence_length = 4096})).attention_factor, std::nullopt);
  const auto first = [&](std::int64_t length) {
    return (*Frequencies(
        *CanonicalSpec::Create(RotaryOf(Describe(config, {.sequence_length = length})))))[0];
  };
  EXPECT_EQ(first(4096), 1);
  EXPECT_EQ(first(4097), 0.5);
}

TEST(RopeModel, DynamicNtkIsForALength) {
  const std::string config = R"({"model_type": "llama", "head_dim": 128,
      "max_position_embeddings": 4096, "rope_scaling": {"type": "dynamic", "factor": 2.0}})";
  const Rotary rotary = RotaryOf(Describe(config, {.sequence_length = 8192}));
  ExpectFrequencies(rotary, Golden("dynamic_ntk_llama2_f2_L8192_M4096_theta1e4_d128")["inv_freq"]);
  const ModelDescription without = Describe(config);
  EXPECT_THAT(without.warnings, Contains(HasSubstr("lengths up to 4096")));
  EXPECT_EQ(*Frequencies(*CanonicalSpec::Create(RotaryOf(without))),
            *Frequencies(*CanonicalSpec::Create(Rotary{.width = 128})));
}

TEST(RopeModel, LengthsOutOfRangeAreRefusedWhateverTheScaling) {
  for (const char* config :
       {R"({"model_type": "llama", "head_dim": 128})",
        R"({"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096,
            "rope_scaling": {"type": "dynamic", "factor": 2.0}})"}) {
    for (const std::int64_t length : {std::int64_t{0}, std::int64_t{-1}, kMaxPosition + 1}) {
      EXPECT_EQ(FieldOf(DescribeModel(config, {.sequence_length = length}).status()),
                "sequence_length")
          << config << length;
    }
    EXPECT_TRUE(DescribeModel(config, {.sequence_length = kMaxPosition}).ok());
  }
}

TEST(RopeModel, HunyuanAlphaIsStatic) {
  const ModelDescription model = Describe(R"({"model_type": "hunyuan_v1_dense", "head_dim": 128,
      "max_position_embeddings": 32768, "rope_theta": 10000.0,
      "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}})");
  EXPECT_EQ(RotaryOf(model), (Rotary{.width = 128, .base = 10000, .scaling = NtkScaling{1000}}));
}

TEST(RopeModel, HeadDimBeatsTheQuotient) {
  const ModelDescription model = Describe(R"({"model_type": "qwen3", "head_dim": 128,
      "hidden_size": 1024, "num_attention_heads": 16, "rope_theta": 1000000})");
  EXPECT_EQ(RotaryOf(model).width, 128);
}

TEST(RopeModel, PartialWidthsChangeTheExponent) {
  EXPECT_EQ(RotaryOf(Describe(R"({"model_type": "gpt_neox", "hidden_size": 512,
      "num_attention_heads": 8, "rotary_pct": 0.25, "rotary_emb_base": 10000})"))
                .width,
            16);
  EXPECT_EQ(RotaryOf(Describe(R"({"model_type": "phi", "hidden_size": 2560,
      "num_attention_heads": 32})"))
                .width,
            40);
  const ModelDescription glm = Describe(R"({"model_type": "glm4", "head_dim": 128,
      "rope_theta": 10000.0, "partial_rotary_factor": 0.5})");
  EXPECT_EQ(RotaryOf(glm).width, 64);
  EXPECT_EQ(glm.tables[0].use, TableUse::kRotatePairs);
  EXPECT_EQ(RotaryOf(Describe(R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16,
      "rotary_dim": 64})"))
                .width,
            64);
}

// schemes.md 3.1: since 5.0 the plain models' default takes no notice of it.
TEST(RopeModel, PlainModelsIgnoreAPartialWidthSince50) {
  const std::string config = R"({"model_type": "llama", "head_dim": 128,
      "partial_rotary_factor": 0.5})";
  EXPECT_EQ(RotaryOf(Describe(config)).width, 128);
  EXPECT_EQ(RotaryOf(Describe(config, {.version = TransformersVersion::k4_46})).width, 64);
  EXPECT_THAT(Describe(config).warnings, ElementsAre(HasSubstr("transformers 4.46")));
  EXPECT_THAT(Describe(config).keys_ignored, Contains("partial_rotary_factor"));
  const std::string scaled = R"({"model_type": "llama", "head_dim": 128,
      "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 2}})";
  EXPECT_EQ(RotaryOf(Describe(scaled)).width, 64);
}

TEST(RopeModel, Gemma3HasTwoTables) {
  const ModelDescription model = Describe(R"({"model_type": "gemma3", "text_config":
      {"model_type": "gemma3_text", "head_dim": 256, "hidden_size": 2560,
       "num_attention_heads": 8, "num_hidden_layers": 13, "sliding_window_pattern": 6,
       "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}})");
  EXPECT_EQ(RotaryOf(model, "full_attention"),
            (Rotary{.width = 256, .base = 1e6, .scaling = LinearScaling{8}}));
  EXPECT_EQ(RotaryOf(model, "sliding_attention"), (Rotary{.width = 256, .base = 1e4}));
  EXPECT_THAT(model.Find("full_attention")->layers, ElementsAre(5, 11));
  EXPECT_EQ(model.Find("sliding_attention")->layers.size(), 11U);
}

TEST(RopeModel, NestedParametersAreATableEach) {
  const ModelDescription model = Describe(R"({"model_type": "gemma4_text", "head_dim": 256,
      "global_head_dim": 512, "layer_types": ["sliding_attention", "full_attention"],
      "rope_parameters": {
        "full_attention": {"rope_type": "proportional", "rope_theta": 1e6,
                           "partial_rotary_factor": 0.25},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})");
  EXPECT_EQ(RotaryOf(model, "full_attention"),
            (Rotary{.width = 512,
                    .base = 1e6,
                    .scaling = ProportionalScaling{.partial_rotary_factor = 0.25}}));
  EXPECT_EQ(RotaryOf(model, "sliding_attention"), (Rotary{.width = 256, .base = 1e4}));
  EXPECT_THAT(model.Find("full_attention")->layers, ElementsAre(1));
}

// 0.3 * 20 / 2 is 3 in binary64, a little less exactly.
TEST(RopeModel, ProportionalCountsItsPairsInBinary64) {
  const Rotary rotary = RotaryOf(Describe(R"({"model_type": "gemma4_text", "head_dim": 20,
      "rope_parameters": {"rope_type": "proportional", "rope_theta": 1e6,
                          "partial_rotary_factor": 0.3}, "layer_types": []})"));
  const auto frequencies = *Frequencies(*CanonicalSpec::Create(rotary));
  EXPECT_NE(frequencies[2], 0);
  EXPECT_EQ(frequencies[3], 0);
}

TEST(RopeModel, NoRopeLayersAreNamedTheOtherWayRound) {
  const ModelDescription listed = Describe(R"({"model_type": "smollm3", "hidden_size": 2048,
      "num_attention_heads": 16, "num_hidden_layers": 4, "rope_theta": 5e6,
      "no_rope_layers": [1, 1, 0, 1]})");
  EXPECT_THAT(listed.Find("none")->layers, ElementsAre(2));
  EXPECT_THAT(listed.Find("rotary")->layers, ElementsAre(0, 1, 3));
  const ModelDescription counted = Describe(R"({"model_type": "smollm3", "hidden_size": 2048,
      "num_attention_heads": 16, "num_hidden_layers": 8})");
  EXPECT_THAT(counted.Find("none")->layers, ElementsAre(3, 7));
  EXPECT_EQ(*RotaryOf(counted).base, 2e6);
}

TEST(RopeModel, Cohere2TurnsOnSlidingLayersAlone) {
  const ModelDescription model = Describe(R"({"model_type": "cohere2", "head_dim": 128,
      "num_hidden_layers": 8, "sliding_window_pattern": 4, "rope_theta": 50000})");
  EXPECT_THAT(model.Find("none")->layers, ElementsAre(3, 7));
  EXPECT_EQ(model.Find("rotary")->use, TableUse::kRotatePairs);
  const ModelDescription exaone = Describe(R"({"model_type": "exaone4", "head_dim": 128,
      "num_hidden_layers": 8, "sliding_window": null, "rope_theta": 1000000})");
  EXPECT_EQ(exaone.Find("none"), nullptr);
}

TEST(RopeModel, MRopeSections) {
  const ModelDescription model = Describe(R"({"model_type": "qwen2_vl", "hidden_size": 3584,
      "num_attention_heads": 28, "rope_theta": 1000000.0,
      "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})");
  EXPECT_EQ(RotaryOf(model), (Rotary{.width = 128, .base = 1e6, .mrope_section = {16, 24, 24}}));
  const ModelDescription newer = Describe(R"({"model_type": "qwen3_vl", "text_config": {
      "model_type": "qwen3_vl_text", "head_dim": 128, "rope_theta": 5000000,
      "rope_scaling": {"rope_type": "default", "mrope_interleaved": true,
                       "mrope_section": [24, 20, 20]}}})");
  EXPECT_TRUE(RotaryOf(newer).mrope_interleaved);
}

TEST(RopeModel, ChatGlm) {
  const ModelDescription model = Describe(R"({"model_type": "chatglm", "kv_channels": 128,
      "rope_ratio": 500, "original_rope": true, "seq_length": 131072})");
  EXPECT_EQ(RotaryOf(model), (Rotary{.width = 64, .base = 5e6}));
  EXPECT_EQ(model.tables[0].use, TableUse::kRotatePairs);
}

TEST(RopeModel, ModernBert) {
  const ModelDescription model = Describe(R"({"model_type": "modernbert", "hidden_size": 768,
      "num_attention_heads": 12, "num_hidden_layers": 7, "global_attn_every_n_layers": 3,
      "global_rope_theta": 160000.0, "local_rope_theta": 10000.0})");
  EXPECT_EQ(RotaryOf(model, "full_attention"), (Rotary{.width = 64, .base = 160000}));
  EXPECT_EQ(RotaryOf(model, "sliding_attention"), (Rotary{.width = 64, .base = 10000}));
  EXPECT_THAT(model.Find("full_attention")->layers, ElementsAre(0, 3, 6));
}

TEST(RopeModel, DeepSeek4TurnsTheLastChannels) {
  const ModelDescription model = Describe(R"({"model_type": "deepseek_v4", "head_dim": 512,
      "qk_rope_head_dim": 64, "rope_theta": 10000, "compress_rope_theta": 160000,
      "max_position_embeddings": 1048576, "rope_scaling": {"type": "yarn", "factor": 16,
      "original_max_position_embeddings": 65536}})");
  EXPECT_EQ(RotaryOf(model, "main"), (Rotary{.width = 64, .base = 10000}));
  EXPECT_EQ(*RotaryOf(model, "compress").base, 160000);
  EXPECT_EQ(RotaryOf(model, "compress").attention_factor, 1);
  EXPECT_EQ(model.tables[0].first_channel, 448);
}

TEST(RopeModel, AnUnknownModelWithRopeKeysIsReadAsLlama) {
  const ModelDescription model = Describe(R"({"model_type": "newest", "head_dim": 128,
      "rope_theta": 5e5})");
  EXPECT_EQ(RotaryOf(model), (Rotary{.width = 128, .base = 5e5}));
  EXPECT_THAT(model.warnings, ElementsAre(HasSubstr("\"newest\" is not known")));
}

TEST(RopeModel, RefusesWhatItDoesNotUnderstand) {
  const auto expect = [](const std::string& config, const std::string& field,
                         const std::string& what) {
    const absl::Status status = DescribeModel(config).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << config;
    EXPECT_EQ(FieldOf(status), field) << config;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  };
  const std::string head = R"({"model_type": "llama", "head_dim": 128, )";
  expect(head + R"("rope_scaling": {"rope_type": "fancy", "factor": 2}})",
         "config_json.rope_scaling.rope_type", "\"fancy\"");
  expect(head + R"("rope_scaling": {"rope_type": "linear"}})", "config_json.rope_scaling.factor",
         "is missing");
  expect(head + R"("rope_scaling": {"rope_type": "linear", "factor": "two"}})",
         "config_json.rope_scaling.factor", "\"two\" is not a number");
  expect(head + R"("rope_scaling": {"rope_type": "linear", "factor": 0.5}})",
         "config_json.rope_scaling", "means no table");
  expect(head + R"("rope_theta": 0.5})", "config_json", "means no table");
  expect(head + R"("rope_theta": true})", "config_json.rope_theta", "true is not a number");
  expect(R"({"model_type": "llama", "rope_theta": 1e4})", "config_json.head_dim", "is missing");
  expect(R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 0})",
         "config_json.num_attention_heads", "0");
  expect(R"({"model_type": "llama", "head_dim": 127})", "config_json", "means no table");
  expect(R"({"model_type": "mamba", "hidden_size": 8})", "config_json.model_type", "\"mamba\"");
  expect("{}", "config_json.model_type", "is missing");
  expect(R"({"model_type": "smollm3", "head_dim": 64, "num_hidden_layers": 100000})",
         "config_json.num_hidden_layers", "100000");
}

TEST(RopeModel, ATableIsChosenByItsName) {
  const ModelDescription one = Describe(R"({"model_type": "llama", "head_dim": 128})");
  EXPECT_TRUE(one.SpecOf("").ok());
  EXPECT_TRUE(one.SpecOf("rotary").ok());
  const ModelDescription two = Describe(R"({"model_type": "gemma3_text", "head_dim": 256})");
  EXPECT_EQ(std::get<Rotary>(two.SpecOf("sliding_attention")->scheme).base, 1e4);
  const auto expect = [](const ModelDescription& model, const char* name, const char* what) {
    const absl::Status status = model.SpecOf(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldOf(status), "table");
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  };
  expect(two, "", "full_attention, sliding_attention");
  expect(two, "global", "\"global\" is no table");
  expect(Describe(R"({"model_type": "gpt2", "n_embd": 8})"), "learned", "learned, 1024 rows");
}

// How each model type turns its queries and keys, as read off its source.
TEST(RopeModel, FamiliesTurnAsTheirSourcesSay) {
  std::ifstream file(PHASOR_GOLDEN_DIR "/hf_rope_layouts.tsv");
  int seen = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t tab = line.find('\t');
    const std::string type = line.substr(0, tab);
    const std::string style = line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1);
    for (const models::RopeFamily& family : models::RopeFamilies()) {
      if (family.model_type != type) continue;
      ++seen;
      if (absl::StrContains(style, "half_out")) {
        EXPECT_EQ(family.use, TableUse::kRotateToHalves) << type;
      } else if (absl::StartsWith(style, "interleaved")) {
        EXPECT_EQ(family.use, TableUse::kRotatePairs) << type;
      } else {
        EXPECT_EQ(family.use, TableUse::kRotateHalves) << type << style;
      }
    }
  }
  EXPECT_GT(seen, 90);
}

}  // namespace
}  // namespace phasor
