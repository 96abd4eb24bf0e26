// Models that add rows: schemes.md's catalogue of sinusoidal and learned tables.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

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

TEST(AbsoluteModel, LearnedTablesBeginWhereTheirModelsCount) {
  struct Case {
    std::string config;
    std::int64_t rows;
    std::int64_t width;
    std::int64_t offset;
  };
  for (const Case& c : std::vector<Case>{
           {R"({"model_type": "gpt2", "n_positions": 1024, "n_embd": 768})", 1024, 768, 0},
           {R"({"model_type": "bert", "max_position_embeddings": 512, "hidden_size": 768})", 512,
            768, 0},
           {R"({"model_type": "roberta", "max_position_embeddings": 514, "hidden_size": 768,
                "pad_token_id": 1})",
            514, 768, 2},
           {R"({"model_type": "opt", "max_position_embeddings": 2048, "hidden_size": 768})", 2050,
            768, 2},
           {R"({"model_type": "bart", "max_position_embeddings": 1024, "d_model": 1024})", 1026,
            1024, 2},
       }) {
    const ModelDescription model = Describe(c.config);
    ASSERT_FALSE(model.tables.empty());
    for (const ModelTable& table : model.tables) {
      ASSERT_TRUE(table.checkpoint.has_value());
      EXPECT_EQ(table.checkpoint->rows, c.rows) << c.config;
      EXPECT_EQ(table.checkpoint->width, c.width) << c.config;
      EXPECT_EQ(table.checkpoint->row_offset, c.offset) << c.config;
    }
  }
  EXPECT_THAT(Describe(R"({"model_type": "gpt2"  , "n_embd": 768})").tables[0].checkpoint->tensors,
              ElementsAre("wpe.weight"));
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
