// DescribeModel over the wire; what it says is held in tests/models/.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/server/running_server.h"

namespace phasor::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

grpc::Status Describe(RunningServer* server, const v1::DescribeModelRequest& request,
                      v1::DescribeModelResponse* response) {
  grpc::ClientContext context;
  return (*server)->DescribeModel(&context, request, response);
}

TEST(DescribeModel, GivesSpecsThatTheOtherMethodsTake) {
  RunningServer server;
  v1::DescribeModelRequest request;
  request.set_config_json(R"({"model_type": "cohere2", "head_dim": 128, "num_hidden_layers": 4,
                              "rope_theta": 50000, "sliding_window_pattern": 4})");
  request.set_rotary_layout(v1::LAYOUT_COS_SIN_DUPLICATED_PAIRS);
  request.set_element_type(v1::ELEMENT_TYPE_BFLOAT16);
  v1::DescribeModelResponse model;
  const grpc::Status status = Describe(&server, request, &model);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(model.model_type(), "cohere2");
  ASSERT_EQ(model.tables_size(), 2);
  EXPECT_EQ(model.tables(0).use(), v1::TABLE_USE_ROTATE_PAIRS);
  EXPECT_THAT(model.tables(0).layers(), ElementsAre(0, 1, 2));
  EXPECT_EQ(model.tables(1).use(), v1::TABLE_USE_NOTHING);
  EXPECT_EQ(model.tables(1).spec().none().width(), 128);
  EXPECT_THAT(model.keys_used(), Contains("rope_theta"));

  v1::GetRowsRequest rows_request =
      RangeRequest<v1::GetRowsRequest>(model.tables(0).spec(), 1000, 2);
  rows_request.set_expected_fingerprint(model.tables(0).fingerprint());
  v1::Rows rows;
  ASSERT_TRUE(GetRows(&server, rows_request, &rows).ok());
  v1::TableSpec want;
  want.mutable_rotary()->set_width(128);
  want.mutable_rotary()->set_base(50000);
  want.mutable_rotary()->set_layout(v1::LAYOUT_COS_SIN_DUPLICATED_PAIRS);
  want.set_element_type(v1::ELEMENT_TYPE_BFLOAT16);
  ExpectSameRows(rows.data(), LocalRows(want, 1000, 2));
}

TEST(DescribeModel, TellsWhereLearnedRowsAre) {
  RunningServer server;
  v1::DescribeModelRequest request;
  request.set_config_json(R"({"model_type": "opt", "hidden_size": 768})");
  v1::DescribeModelResponse model;
  ASSERT_TRUE(Describe(&server, request, &model).ok());
  ASSERT_EQ(model.tables_size(), 1);
  EXPECT_EQ(model.tables(0).checkpoint().row_count(), 2050);
  EXPECT_EQ(model.tables(0).checkpoint().row_offset(), 2);
  EXPECT_EQ(model.tables(0).use(), v1::TABLE_USE_ADD);
}

TEST(DescribeModel, ReadsAsTheVersionAskedFor) {
  RunningServer server;
  v1::DescribeModelRequest request;
  request.set_config_json(R"({"model_type": "qwen2", "head_dim": 128, "rope_theta": 1e6,
      "max_position_embeddings": 131072, "rope_scaling": {"type": "yarn", "factor": 4.0,
      "original_max_position_embeddings": 32768}})");
  v1::DescribeModelResponse model;
  ASSERT_TRUE(Describe(&server, request, &model).ok());
  EXPECT_EQ(model.tables(0).spec().rotary().yarn().original_max_position_embeddings(), 32768);
  EXPECT_THAT(model.warnings(), ElementsAre(HasSubstr("4.46")));
  request.set_transformers_version(v1::TRANSFORMERS_VERSION_4_46);
  ASSERT_TRUE(Describe(&server, request, &model).ok());
  EXPECT_EQ(model.tables(0).spec().rotary().yarn().original_max_position_embeddings(), 131072);
}

TEST(DescribeModel, NamesWhatIsWrong) {
  RunningServer server;
  const auto expect = [&](const v1::DescribeModelRequest& request, const std::string& field) {
    v1::DescribeModelResponse model;
    const absl::Status status = FromGrpcStatus(Describe(&server, request, &model));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(FieldOf(status), field);
  };
  v1::DescribeModelRequest request;
  expect(request, "config_json");
  request.set_config_json("{\"model_type\": \"llama\", \"head_dim\": \"x\"}");
  expect(request, "config_json.head_dim");
  request.set_config_json(std::string(2 << 20, ' '));
  expect(request, "config_json");
  request.set_config_json("{\"model_type\": \"llama\", \"head_dim\": 64}");
  request.set_transformers_version(static_cast<v1::TransformersVersion>(9));
  expect(request, "transformers_version");
  request.clear_transformers_version();
  request.set_rotary_layout(static_cast<v1::Layout>(99));
  expect(request, "rotary_layout");
  request.clear_rotary_layout();
  request.set_element_type(static_cast<v1::ElementType>(99));
  expect(request, "element_type");
}

}  // namespace
}  // namespace phasor::server
