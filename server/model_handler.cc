#include "server/model_handler.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "phasor/core/errors.h"
#include "phasor/models/model.h"
#include "phasor/v1/position_table_service.pb.h"
#include "proto/field_codec.h"
#include "server/request.h"

namespace phasor::server {
namespace {

absl::StatusOr<TransformersVersion> VersionFromProto(v1::TransformersVersion version) {
  switch (version) {
    case v1::TRANSFORMERS_VERSION_4_46: return TransformersVersion::k4_46;
    case v1::TRANSFORMERS_VERSION_5_0: return TransformersVersion::k5_0;
    case v1::TRANSFORMERS_VERSION_UNSPECIFIED:
    case v1::TRANSFORMERS_VERSION_5_16: return TransformersVersion::k5_16;
    default:
      return FieldError(absl::StatusCode::kInvalidArgument, "transformers_version",
                        absl::StrCat(static_cast<int>(version), " is not a value known here"));
  }
}

v1::TableUse UseToProto(TableUse use) {
  switch (use) {
    case TableUse::kAdd: return v1::TABLE_USE_ADD;
    case TableUse::kRotateHalves: return v1::TABLE_USE_ROTATE_HALVES;
    case TableUse::kRotatePairs: return v1::TABLE_USE_ROTATE_PAIRS;
    case TableUse::kRotateToHalves: return v1::TABLE_USE_ROTATE_TO_HALVES;
    case TableUse::kNothing: return v1::TABLE_USE_NOTHING;
    case TableUse::kAddToScores: return v1::TABLE_USE_ADD_TO_SCORES;
    case TableUse::kLookUp: return v1::TABLE_USE_LOOK_UP;
  }
  return v1::TABLE_USE_UNSPECIFIED;
}

void Write(const ModelTable& table, v1::ModelTable* out) {
  out->set_name(table.name);
  out->set_description(table.description);
  out->set_use(UseToProto(table.use));
  if (table.spec.has_value()) {
    // DescribeModel has checked it.
    const CanonicalSpec spec = *CanonicalSpec::Create(*table.spec);
    *out->mutable_spec() = CanonicalToProto(spec);
    out->set_fingerprint(spec.fingerprint());
  }
  if (table.checkpoint.has_value()) {
    v1::CheckpointTable& checkpoint = *out->mutable_checkpoint();
    for (const std::string& tensor : table.checkpoint->tensors) checkpoint.add_tensors(tensor);
    checkpoint.set_row_count(table.checkpoint->rows);
    checkpoint.set_width(table.checkpoint->width);
    checkpoint.set_row_offset(table.checkpoint->row_offset);
  }
  out->mutable_layers()->Add(table.layers.begin(), table.layers.end());
  out->set_first_channel(table.first_channel);
  if (table.softmax_factor.has_value()) out->set_softmax_factor(*table.softmax_factor);
}

class DescribeModelHandler final : public UnaryHandler {
 public:
  explicit DescribeModelHandler(Backend* backend) : backend_(backend) {}

  absl::Status Start(const grpc::ByteBuffer& bytes) override {
    absl::Status status = Decode(bytes, &request_);
    if (!status.ok()) return status;
    if (!request_.has_config_json()) return Required("config_json");
    const absl::StatusOr<TransformersVersion> version =
        VersionFromProto(request_.transformers_version());
    if (!version.ok()) return version.status();
    const absl::StatusOr<Layout> layout =
        LayoutFromProto(request_.rotary_layout(), options_.rotary_layout, "rotary_layout");
    if (!layout.ok()) return layout.status();
    const absl::StatusOr<ElementType> type =
        ElementTypeFromProto(request_.element_type(), "element_type");
    if (!type.ok()) return type.status();
    options_ = {.version = *version, .rotary_layout = *layout, .element_type = *type};
    if (request_.has_sequence_length()) options_.sequence_length = request_.sequence_length();
    return absl::OkStatus();
  }

  bool TryAnswer() override { return false; }

  absl::StatusOr<Progress> Step(Resume, StopRequest) override {
    const absl::StatusOr<ModelDescription> model = DescribeModel(request_.config_json(), options_);
    if (!model.ok()) return model.status();
    v1::DescribeModelResponse answer;
    answer.set_model_type(model->model_type);
    for (const ModelTable& table : model->tables) Write(table, answer.add_tables());
    for (const std::string& key : model->keys_used) answer.add_keys_used(key);
    for (const std::string& key : model->keys_ignored) answer.add_keys_ignored(key);
    for (const std::string& warning : model->warnings) answer.add_warnings(warning);
    absl::Status status =
        CheckFits("config_json", "the model's description",
                  static_cast<std::int64_t>(answer.ByteSizeLong()), backend_->max_message_bytes);
    if (!status.ok()) return status;
    response() = Encode(answer);
    return Progress::kDone;
  }

 private:
  Backend* const backend_;
  v1::DescribeModelRequest request_;
  ModelOptions options_;
};

}  // namespace

std::unique_ptr<UnaryHandler> NewDescribeModelHandler(Backend* backend) {
  return std::make_unique<DescribeModelHandler>(backend);
}

}  // namespace phasor::server
