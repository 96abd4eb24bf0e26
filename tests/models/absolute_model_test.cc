// Models that add rows: schemes.md's catalogue of sinusoidal and learned tables.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/core/local_table.h"
#include "phasor/models/model.h"

namespace phasor {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

ModelDescription Describe(const std::string& config) {
  const absl::StatusOr<ModelDescription> model = DescribeModel(config);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : ModelDescription();
}

std::vector<float> Row(const ModelTable& table, std::int64_t position) {
  const auto local = LocalTable::Create(*CanonicalSpec::Create(*table.spec));
  std::vector<float> row(static_cast<std::size_t>(local->spec().row_width()));
  const auto bytes = absl::MakeSpan(reinterpret_cast<std::byte*>(row.data()), 4 * row.size());
  EXPECT_TRUE(local->ReadInto(position, 1, bytes).ok());
  return row;
}

// The values are those of transformers' own tests of these models.
TEST(AbsoluteModel, FsmtCountsFromBehindItsPadding) {
  const ModelDescription model =
      Describe(R"({"model_type": "fsmt", "d_model": 6, "pad_token_id": 1})");
  ASSERT_EQ(model.tables.size(), 1U);
  EXPECT_THAT(
      Row(model.tables[0], 0),
      ElementsAre(FloatNear(0.90930F, 1e-5), FloatNear(0.019999F, 1e-5), FloatNear(2.0e-4F, 1e-5),
                  FloatNear(-0.41615F, 1e-5), FloatNear(0.99980F, 1e-5), FloatNear(1.0F, 1e-5)));
  EXPECT_THAT(
      Row(model.tables[0], 1),
      ElementsAre(FloatNear(0.14112F, 1e-5), FloatNear(0.029995F, 1e-5), FloatNear(3.0e-4F, 1e-5),
                  FloatNear(-0.98999F, 1e-5), FloatNear(0.99955F, 1e-5), FloatNear(1.0F, 1e-5)));
  EXPECT_THAT(Row(model.tables[0], -1), testing::Each(0.0F));
}

TEST(AbsoluteModel, RoFormerAndMarianHaveHalves) {
  for (const char* type : {"roformer", "marian", "pegasus"}) {
    const ModelDescription model = Describe(std::string(R"({"model_type": ")") + type +
                                            R"(", "d_model": 6, "hidden_size": 6})");
    EXPECT_THAT(Row(model.tables[0], 0), ElementsAre(0, 0, 0, 1, 1, 1));
    EXPECT_THAT(
        Row(model.tables[0], 1),
        ElementsAre(FloatNear(0.8415F, 1e-4), FloatNear(0.0464F, 1e-4), FloatNear(0.0022F, 1e-4),
                    FloatNear(0.5403F, 1e-4), FloatNear(0.9989F, 1e-4), FloatNear(1.0F, 1e-4)));
  }
}

TEST(AbsoluteModel, WhisperHasASinusoidalAndALearnedTable) {
  const ModelDescription model = Describe(R"({"model_type": "whisper", "d_model": 384,
      "max_source_positions": 1500, "max_target_positions": 448})");
  const auto& encoder = std::get<Sinusoidal>(model.Find("encoder")->spec->scheme);
  EXPECT_EQ(
      encoder,
      (Sinusoidal{.width = 384, .ladder = InclusiveLadder(), .layout = Layout::kSinCosHalves}));
  const ModelTable* decoder = model.Find("decoder");
  EXPECT_FALSE(decoder->spec.has_value());
  EXPECT_EQ(decoder->checkpoint->rows, 448);
  EXPECT_EQ(decoder->checkpoint->row_offset, 0);
}

TEST(AbsoluteModel, MusicGenHasCosinesFirst) {
  const ModelDescription model =
      Describe(R"({"model_type": "musicgen_decoder", "hidden_size": 4})");
  EXPECT_THAT(Row(model.tables[0], 0), ElementsAre(1, 1, 0, 0));
}

struct LearnedCase {
  std::string config;  // without its braces
  std::string tensor;  // as the table's section of the catalogue writes it
  std::int64_t rows;
  std::int64_t width;
  std::int64_t offset;
};

// Tensors, shapes and index rules: schemes.md 2. Numbers of its own where it
// gives one, else the rule's for a made-up configuration.
std::vector<LearnedCase> LearnedCases() {
  const std::string positions = R"("max_position_embeddings": )";
  std::vector<LearnedCase> cases;
  for (const char* type : {"gpt2", "gpt_bigcode", "imagegpt"}) {
    cases.push_back(
        {absl::StrCat("\"model_type\": \"", type, R"(", "n_positions": 1024, "n_embd": 768)"),
         "transformer.wpe.weight", 1024, 768, 0});
  }
  cases.push_back({R"("model_type": "decision_transformer", "n_positions": 1024,
                      "hidden_size": 128)",
                   "wpe.weight", 1024, 128, 0});
  cases.push_back({R"("model_type": "gpt_neo", "max_position_embeddings": 2048,
                      "hidden_size": 2048)",
                   "transformer.wpe.weight", 2048, 2048, 0});
  for (const char* type : {"bert", "layoutlm"}) {
    cases.push_back(
        {absl::StrCat("\"model_type\": \"", type, "\", ", positions, R"(512, "hidden_size": 768)"),
         "bert.embeddings.position_embeddings.weight", 512, 768, 0});
  }
  for (const char* type : {"electra", "albert", "convbert"}) {
    cases.push_back({absl::StrCat("\"model_type\": \"", type, "\", ", positions,
                                  R"(512, "hidden_size": 768, "embedding_size": 128)"),
                     "embeddings.position_embeddings.weight", 512, 128, 0});
  }
  for (const char* type : {"deberta", "deberta-v2"}) {
    cases.push_back(
        {absl::StrCat("\"model_type\": \"", type, "\", ", positions, R"(512, "hidden_size": 768)"),
         "deberta.embeddings.position_embeddings.weight", 512, 768, 0});
  }
  cases.push_back({R"("model_type": "distilbert", "max_position_embeddings": 512, "dim": 768)",
                   "distilbert.embeddings.position_embeddings.weight", 512, 768, 0});
  for (const char* type :
       {"roberta", "xlm-roberta", "camembert", "data2vec-text", "mpnet", "esm"}) {
    cases.push_back({absl::StrCat("\"model_type\": \"", type, "\", ", positions,
                                  R"(514, "hidden_size": 768, "pad_token_id": 1)"),
                     "roberta.embeddings.position_embeddings.weight", 514, 768, 2});
  }
  cases.push_back({R"("model_type": "opt", "max_position_embeddings": 2048, "hidden_size": 768,
                      "word_embed_proj_dim": 512)",
                   "model.decoder.embed_positions.weight", 2050, 768, 2});
  for (const char* type : {"bart", "mbart", "plbart", "mvp"}) {
    cases.push_back(
        {absl::StrCat("\"model_type\": \"", type, "\", ", positions, R"(1024, "d_model": 1024)"),
         "model.encoder.embed_positions.weight", 1026, 1024, 2});
    cases.push_back(cases.back());
    cases.back().tensor = "decoder.embed_positions.weight";
  }
  cases.push_back({R"("model_type": "biogpt", "max_position_embeddings": 1024,
                      "hidden_size": 1024)",
                   "biogpt.embed_positions.weight", 1026, 1024, 2});
  for (const char* type : {"blenderbot", "blenderbot-small", "bigbird_pegasus"}) {
    cases.push_back(
        {absl::StrCat("\"model_type\": \"", type, "\", ", positions, R"(512, "d_model": 512)"),
         "model.encoder.embed_positions.weight", 512, 512, 0});
    cases.push_back(cases.back());
    cases.back().tensor = "model.decoder.embed_positions.weight";
  }
  const std::string led = R"("model_type": "led", "d_model": 768,
      "max_encoder_position_embeddings": 16384, "max_decoder_position_embeddings": 1024)";
  cases.push_back({led, "model.encoder.embed_positions.weight", 16384, 768, 0});
  cases.push_back({led, "model.decoder.embed_positions.weight", 1024, 768, 0});
  cases.push_back({R"("model_type": "trocr", "max_position_embeddings": 512, "d_model": 1024,
                      "use_learned_position_embeddings": true)",
                   "decoder.model.decoder.embed_positions.weight", 514, 1024, 2});
  cases.push_back({R"("model_type": "vision-encoder-decoder", "encoder": {"model_type": "vit"},
                      "decoder": {"model_type": "trocr", "max_position_embeddings": 512,
                                  "d_model": 1024})",
                   "decoder.model.decoder.embed_positions.weight", 514, 1024, 2});
  cases.push_back({R"("model_type": "whisper", "max_target_positions": 448, "d_model": 384)",
                   "model.decoder.embed_positions.weight", 448, 384, 0});
  const std::string clip = R"("max_position_embeddings": 77, "hidden_size": 512)";
  const std::string clip_tensor = "text_model.embeddings.position_embedding.weight";
  cases.push_back({R"("model_type": "clip_text_model", )" + clip, clip_tensor, 77, 512, 0});
  cases.push_back(
      {R"("model_type": "clip", "text_config": {)" + clip + "}", clip_tensor, 77, 512, 0});
  const std::string image = R"("image_size": 224, "patch_size": 16, "hidden_size": 768)";
  const std::string image_tensor = "vit.embeddings.position_embeddings";
  cases.push_back({R"("model_type": "vit", )" + image, image_tensor, 197, 768, 0});
  cases.push_back(
      {R"("model_type": "dinov2", )" + image, "embeddings.position_embeddings", 197, 768, 0});
  cases.push_back({R"("model_type": "deit", )" + image, image_tensor, 198, 768, 0});
  // 3 patches by 2, and two tokens.
  cases.push_back({R"("model_type": "audio-spectrogram-transformer", "patch_size": 16,
                      "num_mel_bins": 36, "frequency_stride": 10, "max_length": 34,
                      "time_stride": 10, "hidden_size": 8)",
                   image_tensor, 8, 8, 0});
  for (const char* type : {"xlm", "flaubert"}) {
    cases.push_back({absl::StrCat("\"model_type\": \"", type, "\", ", positions,
                                  R"(512, "emb_dim": 2048, "sinusoidal_embeddings": false)"),
                     "transformer.position_embeddings.weight", 512, 2048, 0});
  }
  return cases;
}

TEST(AbsoluteModel, LearnedTablesBeginWhereTheirModelsCount) {
  for (const LearnedCase& c : LearnedCases()) {
    const ModelDescription model = Describe("{" + c.config + "}");
    const CheckpointTable* found = nullptr;
    for (const ModelTable& table : model.tables) {
      if (!table.checkpoint.has_value()) continue;
      for (const std::string& end : table.checkpoint->tensors) {
        if (absl::EndsWith("." + c.tensor, "." + end)) found = &*table.checkpoint;
      }
    }
    ASSERT_NE(found, nullptr) << c.config;
    EXPECT_EQ(found->rows, c.rows) << c.config;
    EXPECT_EQ(found->width, c.width) << c.config;
    EXPECT_EQ(found->row_offset, c.offset) << c.config;
  }
}

TEST(AbsoluteModel, AModelsOwnPaddingMovesItsFirstRow) {
  const ModelDescription model = Describe(R"({"model_type": "esm", "hidden_size": 8,
      "max_position_embeddings": 1026, "pad_token_id": 0})");
  EXPECT_EQ(model.tables[0].checkpoint->row_offset, 1);
  EXPECT_EQ(model.tables[0].checkpoint->rows, 1026);
}

TEST(AbsoluteModel, TrOcrIsSinusoidalIfItSaysSo) {
  const ModelDescription model = Describe(R"({"model_type": "trocr", "d_model": 64,
      "use_learned_position_embeddings": false, "pad_token_id": 1})");
  ASSERT_EQ(model.tables.size(), 1U);
  EXPECT_EQ(std::get<Sinusoidal>(model.tables[0].spec->scheme),
            (Sinusoidal{.width = 64,
                        .ladder = InclusiveLadder(),
                        .layout = Layout::kSinCosHalves,
                        .position_offset = 2,
                        .zero_row = 1}));
}

TEST(AbsoluteModel, ModelsWhoseRowsAreElsewhereHaveNoLearnedTable) {
  for (const char* config :
       {R"({"model_type": "esm", "hidden_size": 8, "position_embedding_type": "rotary"})",
        R"({"model_type": "deberta", "hidden_size": 8, "position_biased_input": false})"}) {
    EXPECT_EQ(DescribeModel(config).status().code(), absl::StatusCode::kInvalidArgument) << config;
  }
}

TEST(AbsoluteModel, RefusesAnImageWithoutPatches) {
  for (const char* sizes :
       {R"("image_size": 224, "patch_size": 0)", R"("image_size": 8, "patch_size": 16)",
        R"("image_size": 9007199254740992, "patch_size": 1)"}) {
    const absl::Status status =
        DescribeModel(absl::StrCat(R"({"model_type": "vit", "hidden_size": 8, )", sizes, "}"))
            .status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("config_json.image_size")) << sizes;
  }
}

TEST(AbsoluteModel, DistilBertIsSinusoidalOnlyIfItSaysSo) {
  const std::string dim = R"({"model_type": "distilbert", "dim": 768)";
  EXPECT_TRUE(Describe(dim + "}").tables[0].checkpoint.has_value());
  const ModelDescription model = Describe(dim + R"(, "sinusoidal_pos_embds": true})");
  EXPECT_EQ(std::get<Sinusoidal>(model.tables[0].spec->scheme), Sinusoidal{.width = 768});
}

TEST(AbsoluteModel, RefusesATableWithoutRows) {
  const absl::Status status = DescribeModel(R"({"model_type": "roberta", "hidden_size": 8,
      "max_position_embeddings": 2, "pad_token_id": 1})")
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("max_position_embeddings"));
}

}  // namespace
}  // namespace phasor
