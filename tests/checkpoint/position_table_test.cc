#include "checkpoint/position_table.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/safetensors_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/checkpoint/published_files.h"
#include "tests/checkpoint/temporary_folder.h"

namespace phasor::checkpoint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Elements row * 100 + column.
std::vector<float> Weights(std::int64_t rows, std::int64_t width) {
  std::vector<float> weights;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      weights.push_back(static_cast<float>(row * 100 + column));
    }
  }
  return weights;
}

template <typename T>
absl::Span<const std::byte> Bytes(const std::vector<T>& elements) {
  return {reinterpret_cast<const std::byte*>(elements.data()), elements.size() * sizeof(T)};
}

absl::StatusOr<PositionTable> Load(const std::string& path, absl::string_view tensor,
                                   std::int64_t row_offset) {
  return LoadPositionTable(
      path, tensor,
      [&](const std::string&, std::int64_t, std::int64_t) -> absl::StatusOr<std::int64_t> {
        return row_offset;
      });
}

class PositionTableTest : public testing::Test {
 protected:
  // A file of float tensors, all of rows 0 ... 3 and width 2.
  std::string Write(const std::vector<std::string>& names,
                    const std::vector<std::int64_t>& shape = {4, 2}) {
    std::vector<NewTensor> tensors;
    for (const std::string& name : names) {
      tensors.push_back({name, ElementType::kFloat32, shape, Bytes(weights_)});
    }
    EXPECT_TRUE(WriteSafetensors(path_, tensors).ok());
    return path_;
  }
  std::string TensorOf(const std::vector<std::string>& names, absl::string_view wanted = "") {
    const auto table = Load(Write(names), wanted, 0);
    return table.ok() ? table->tensor : std::string(table.status().message());
  }
  static std::vector<float> Values(const PositionTable& table) {
    std::vector<float> values(table.bytes / sizeof(float));
    std::memcpy(values.data(), table.elements.get(), table.bytes);
    return values;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "model.safetensors";
  const std::vector<float> weights_ = Weights(4, 2);
};

TEST_F(PositionTableTest, FindsThePositionTablesOfPublicModels) {
  for (const char* name :
       {"transformer.wpe.weight", "wpe.weight", "bert.embeddings.position_embeddings.weight",
        "embeddings.position_embeddings.weight", "roberta.embeddings.position_embeddings.weight",
        "transformer.position_embeddings.weight", "model.decoder.embed_positions.weight",
        "decoder.embed_positions.weight", "text_model.embeddings.position_embedding.weight",
        "vit.embeddings.position_embeddings", "embeddings.position_embeddings",
        "position_embd.weight"}) {
    EXPECT_EQ(TensorOf({"h.0.attn.bias", name, "ln_f.weight"}), name);
  }
}

TEST_F(PositionTableTest, TheOnlyTensorOfAFileNeedsNoName) {
  EXPECT_EQ(TensorOf({"whatever"}), "whatever");
}

TEST_F(PositionTableTest, SeveralThatFitAreListed) {
  EXPECT_THAT(TensorOf({"model.encoder.embed_positions.weight",
                        "model.decoder.embed_positions.weight", "other"}),
              AllOf(StartsWith(path_ + ": 2 tensors fit, name one by #TENSOR: "),
                    HasSubstr("\"model.decoder.embed_positions.weight\" F32 [4, 2]"),
                    HasSubstr("\"model.encoder.embed_positions.weight\" F32 [4, 2]"),
                    testing::Not(HasSubstr("other"))));
}

TEST_F(PositionTableTest, NoneThatFitsListsWhatThereIs) {
  EXPECT_THAT(TensorOf({"a", "b"}), AllOf(HasSubstr("no tensor is named as a position table's are"),
                                          HasSubstr("\"a\" F32 [4, 2], \"b\" F32 [4, 2]")));
  EXPECT_THAT(TensorOf({"a", "b"}, "c"), HasSubstr("no tensor is named, or ends with, \"c\""));
  // A part of a word is no end.
  EXPECT_THAT(TensorOf({"xwpe.weight", "b"}), HasSubstr("no tensor is named"));
}

TEST_F(PositionTableTest, ANameIsWholeOrTheLastPartsOfOne) {
  const std::vector<std::string> names = {"wpe", "encoder.wpe", "decoder.wpe"};
  EXPECT_EQ(TensorOf(names, "wpe"), "wpe");
  EXPECT_EQ(TensorOf(names, "decoder.wpe"), "decoder.wpe");
  EXPECT_EQ(TensorOf({"model.decoder.wpe", "b"}, "decoder.wpe"), "model.decoder.wpe");
  EXPECT_THAT(TensorOf({"a.wpe", "b.wpe"}, "wpe"), HasSubstr("2 tensors fit"));
}

TEST_F(PositionTableTest, RowOffsetMakesTheFirstTokensRowRowZero) {
  const auto table = Load(Write({"wpe.weight"}), "", 3);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->max_positions, 1);
  EXPECT_EQ(table->width, 2);
  EXPECT_THAT(Values(*table), testing::ElementsAre(300, 301));
  for (const std::int64_t offset : {-1L, 4L, 5L, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_THAT(std::string(Load(path_, "", offset).status().message()),
                HasSubstr(absl::StrCat("row_offset ", offset, " leaves none of the 4 rows")));
  }
}

TEST_F(PositionTableTest, WhoGivesTheOffsetIsToldOfTheTensor) {
  const auto table =
      LoadPositionTable(Write({"a.wpe.weight"}), "",
                        [](const std::string& tensor, std::int64_t rows, std::int64_t width) {
                          return absl::StatusOr<std::int64_t>(absl::NotFoundError(
                              absl::StrCat("no offset of ", tensor, " [", rows, ", ", width, "]")));
                        });
  EXPECT_EQ(table.status(), absl::NotFoundError("no offset of a.wpe.weight [4, 2]"));
}

TEST_F(PositionTableTest, LeadingUnitAxisIsAccepted) {
  const auto table = Load(Write({"vit.embeddings.position_embeddings"}, {1, 4, 2}), "", 0);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->max_positions, 4);
  EXPECT_EQ(Values(*table), weights_);
}

TEST_F(PositionTableTest, OtherShapesAndTypesAreRefused) {
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{8}, {2, 2, 2}, {1, 1, 4, 2}, {8, 1, 1}}) {
    EXPECT_THAT(std::string(Load(Write({"wpe.weight"}, shape), "", 0).status().message()),
                HasSubstr("is not [rows, width] or [1, rows, width]"));
  }
  folder_.Write("model.safetensors",
                FileOf(R"({"w":{"dtype":"I64","shape":[1,2],"data_offsets":[0,16]}})", 16));
  EXPECT_THAT(std::string(Load(path_, "", 0).status().message()),
              HasSubstr("\"w\", I64 [1, 2], is not of dtype F32, F64, F16 or BF16"));
  folder_.Write("model.safetensors",
                FileOf(R"({"w":{"dtype":"F32","shape":[7,0],"data_offsets":[0,0]}})", 0));
  EXPECT_THAT(std::string(Load(path_, "", 0).status().message()),
              HasSubstr("width that is not in 1 ... 65536"));
  folder_.Write("model.safetensors",
                FileOf(R"({"w":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}})", 0));
  EXPECT_THAT(std::string(Load(path_, "", 0).status().message()),
              HasSubstr("row_offset 0 leaves none of the 0 rows"));
}

TEST_F(PositionTableTest, CountsWhatIsNoNumberInTheRowsThatAreServed) {
  std::vector<float> weights = weights_;
  weights[0] = std::nanf("");  // in the row that is left out
  weights[2] = std::nanf("");
  weights[5] = -INFINITY;
  weights[6] = -7e30F;
  const NewTensor tensor{"w", ElementType::kFloat32, {4, 2}, Bytes(weights)};
  ASSERT_TRUE(WriteSafetensors(path_, absl::MakeConstSpan(&tensor, 1)).ok());
  const auto table = Load(path_, "", 1);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->survey.nans, 1);
  EXPECT_EQ(table->survey.infinities, 1);
  EXPECT_EQ(table->survey.largest, -7e30F);
  EXPECT_EQ(table->survey.largest_index, 4);
}

// sha256 of b"F32 1 2\n" and of 300.0, 301.0 as binary32:
//   printf 'F32 1 2\n\0\0\x96\x43\0\x80\x96\x43' | sha256sum
TEST_F(PositionTableTest, ContentIsNamedByAHashThatAnyoneCanCompute) {
  const auto table = Load(Write({"wpe.weight"}), "", 3);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->content_sha256,
            "f05a10fef4ab1f2d63cb6c77328c0203e088d38fd205c4e08cb16369dcd47068");
  EXPECT_NE(Load(path_, "", 2)->content_sha256, table->content_sha256);
}

}  // namespace
}  // namespace phasor::checkpoint
