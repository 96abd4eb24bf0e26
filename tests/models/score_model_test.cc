// Models that bias scores, against the values of tests/golden/schemes.json.

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "phasor/models/model.h"

namespace phasor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

nlohmann::json Golden(const std::string& key) {
  std::ifstream file(PHASOR_GOLDEN_DIR "/schemes.json");
  return nlohmann::json::parse(file)[key];
}

ModelDescription Describe(const std::string& config) {
  const absl::StatusOr<ModelDescription> model = DescribeModel(config);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : ModelDescription();
}

template <typename T>
std::vector<T> Row(const ModelTable& table, std::int64_t position) {
  const auto local = LocalTable::Create(*CanonicalSpec::Create(*table.spec));
  std::vector<T> row(static_cast<std::size_t>(local->spec().row_width()));
  const auto bytes =
      absl::MakeSpan(reinterpret_cast<std::byte*>(row.data()), sizeof(T) * row.size());
  EXPECT_TRUE(local->ReadInto(position, 1, bytes).ok());
  return row;
}

TEST(ScoreModel, BloomsSlopesAreRowOne) {
  for (const int heads : {6, 8, 12}) {
    const ModelDescription model = Describe(
        R"({"model_type": "bloom", "hidden_size": 64, "n_head": )" + std::to_string(heads) + "}");
    ASSERT_EQ(model.tables.size(), 1U);
    EXPECT_EQ(model.tables[0].use, TableUse::kAddToScores);
    const std::vector<float> slopes = Row<float>(model.tables[0], 1);
    const nlohmann::json want = Golden("alibi")[std::to_string(heads)];
    ASSERT_EQ(slopes.size(), want.size());
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      EXPECT_FLOAT_EQ(slopes[i], std::stof(want[i].get<std::string>())) << heads << " " << i;
    }
  }
}

TEST(ScoreModel, MptHasALargestBias) {
  const ModelDescription model = Describe(R"({"model_type": "mpt", "n_heads": 6,
      "attn_config": {"alibi": true, "alibi_bias_max": 16}})");
  const std::vector<float> biases = Row<float>(model.tables[0], 1);
  const nlohmann::json want = Golden("alibi_mpt_bias_max_16_n6");
  ASSERT_EQ(biases.size(), want.size());
  for (std::size_t i = 0; i < biases.size(); ++i) {
    EXPECT_FLOAT_EQ(-biases[i], std::stof(want[i].get<std::string>())) << i;
  }
}

TEST(ScoreModel, FalconIsOneOrTheOther) {
  const std::string rest = R"("hidden_size": 64, "num_attention_heads": 4)";
  const ModelDescription alibi =
      Describe(R"({"model_type": "falcon", "alibi": true, )" + rest + "}");
  EXPECT_THAT(alibi.warnings, ElementsAre(HasSubstr("bfloat16")));
  EXPECT_TRUE(std::holds_alternative<Alibi>(alibi.tables[0].spec->scheme));
  const ModelDescription rope =
      Describe(R"({"model_type": "falcon", "alibi": false, )" + rest + "}");
  EXPECT_TRUE(std::holds_alternative<Rotary>(rope.tables[0].spec->scheme));
}

TEST(ScoreModel, T5HasBucketsForEachSide) {
  const ModelDescription model = Describe(R"({"model_type": "t5", "num_heads": 8,
      "relative_attention_num_buckets": 32, "relative_attention_max_distance": 128})");
  const struct {
    const char* table;
    const char* golden;
  } sides[] = {{"encoder", "t5_bidir_32_128"}, {"decoder", "t5_causal_32_128"}};
  for (const auto& side : sides) {
    const ModelTable* table = model.Find(side.table);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->use, TableUse::kLookUp);
    const nlohmann::json golden = Golden(side.golden);
    for (const auto& [relative, bucket] : golden.items()) {
      EXPECT_THAT(Row<std::int32_t>(*table, std::stoll(relative)),
                  ElementsAre(bucket.get<std::int32_t>()))
          << side.table << " " << relative;
    }
  }
}

TEST(ScoreModel, NamesWhatIsMissing) {
  EXPECT_EQ(FieldOf(DescribeModel(R"({"model_type": "bloom"})").status()),
            "config_json.num_attention_heads");
  EXPECT_EQ(
      DescribeModel(R"({"model_type": "t5", "relative_attention_num_buckets": 0})").status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(ScoreModel, LayersWithoutPositionsHaveRowsThatChangeNothing) {
  const ModelDescription model = Describe(R"({"model_type": "smollm3", "head_dim": 4,
      "no_rope_layers": [1, 0]})");
  EXPECT_THAT(Row<float>(*model.Find("none"), 1000), ElementsAre(1, 1, 0, 0));
}

}  // namespace
}  // namespace phasor
