#include "checkpoint/row_offset.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/checkpoint/temporary_folder.h"

namespace phasor::checkpoint {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Fault(absl::string_view config, std::int64_t rows = 1024) {
  return std::string(RowOffsetOf(config, rows).status().message());
}

// Rows and keys of the published models.
TEST(RowOffsetTest, FollowsTheModelsOwnCode) {
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"gpt2","n_positions":1024})", 1024).value(), 0);
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"bert","max_position_embeddings":512})", 512).value(), 0);
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"vit","image_size":224})", 197).value(), 0);
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"opt","max_position_embeddings":2048})", 2050).value(), 2);
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"bart","max_position_embeddings":1024})", 1026).value(),
            2);
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"roberta","max_position_embeddings":514,
                            "pad_token_id":1})",
                        514)
                .value(),
            2);
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"esm","max_position_embeddings":1026,
                            "pad_token_id":0})",
                        1026)
                .value(),
            1);
}

TEST(RowOffsetTest, ItsOwnKeyCountsBeforeAllElse) {
  EXPECT_EQ(RowOffsetOf(R"({"model_type":"opt","row_offset":0})", 7).value(), 0);
  EXPECT_EQ(RowOffsetOf(R"({"row_offset":5})", 7).value(), 5);
}

TEST(RowOffsetTest, GuessesNothing) {
  EXPECT_THAT(Fault("{}"), HasSubstr("has no \"model_type\""));
  EXPECT_THAT(Fault(R"({"model_type":"tomorrow"})"), HasSubstr("\"tomorrow\" are not known"));
  EXPECT_THAT(Fault(R"({"model_type":"opt","max_position_embeddings":2048})", 1024),
              HasSubstr("a table of 2050 rows, and the tensor has 1024"));
  EXPECT_THAT(Fault(R"({"model_type":"opt","model_type":"gpt2"})"), HasSubstr("comes twice"));
  EXPECT_THAT(Fault(R"({"row_offset":-1})"), HasSubstr("\"row_offset\" is not an integer"));
  EXPECT_THAT(Fault(R"({"row_offset":1.5})"), HasSubstr("\"row_offset\" is not an integer"));
  EXPECT_THAT(Fault(R"({"row_offset":"2"})"), HasSubstr("\"row_offset\" is not an integer"));
  EXPECT_THAT(Fault(R"({"row_offset":18446744073709551615})"), HasSubstr("is not an integer"));
  EXPECT_THAT(Fault("[]"), HasSubstr("is no JSON object"));
  EXPECT_THAT(Fault("{"), HasSubstr("is no JSON object"));
  EXPECT_THAT(Fault("{}"), HasSubstr("serve the file by --table with row_offset"));
}

TEST(RowOffsetTest, IsReadBesideTheCheckpoint) {
  const TemporaryFolder folder;
  EXPECT_EQ(RowOffsetBeside(folder / "a.safetensors", 10).value(), 0);
  const std::string config = folder.Write("config.json", R"({"row_offset":3})");
  EXPECT_EQ(RowOffsetBeside(folder / "a.safetensors", 10).value(), 3);
  folder.Write("config.json", "{");
  EXPECT_THAT(std::string(RowOffsetBeside(folder / "a.safetensors", 10).status().message()),
              StartsWith(config));
}

}  // namespace
}  // namespace phasor::checkpoint
