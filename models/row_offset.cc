#include "models/row_offset.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/config.h"
#include "phasor/core/errors.h"
#include "phasor/models/model.h"

namespace phasor::models {
namespace {

constexpr char kOwnKey[] = "row_offset";

absl::Status Wrong(absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, "config_json", what);
}

bool IsOf(absl::string_view tensor, absl::string_view end) {
  return tensor == end || absl::EndsWith(tensor, absl::StrCat(".", end));
}

}  // namespace

absl::StatusOr<std::int64_t> RowOffsetOf(absl::string_view config_json, absl::string_view tensor,
                                         std::int64_t rows, std::int64_t width) {
  const absl::StatusOr<Config> file = Config::Parse(config_json);
  if (!file.ok()) return file.status();
  const std::optional<std::int64_t> own = file->Integer(kOwnKey);
  if (own.value_or(0) < 0) file->Refuse(kOwnKey, absl::StrCat(*own, " is no number of rows"));
  if (!file->status().ok()) return file->status();
  if (own.has_value()) return *own;

  const absl::StatusOr<ModelDescription> model = DescribeModel(config_json);
  if (!model.ok()) return model.status();
  const std::string kind = model->model_type.substr(0, 64);
  std::vector<std::string> ends;
  std::vector<const CheckpointTable*> learned;
  const CheckpointTable* named = nullptr;
  for (const ModelTable& table : model->tables) {
    if (!table.checkpoint.has_value()) continue;
    learned.push_back(&*table.checkpoint);
    for (const std::string& end : table.checkpoint->tensors) {
      ends.push_back(end);
      if (IsOf(tensor, end)) named = learned.back();
    }
  }
  // Converted files may name a model's only table as they like.
  if (named == nullptr && learned.size() == 1) named = learned.front();
  if (named == nullptr) {
    return Wrong(absl::StrCat("means no table of this name for a model of type ", kind, "; ",
                              ends.empty() ? "it learns none" : "its names end in ",
                              absl::StrJoin(ends, ", ")));
  }
  if (named->rows == rows && named->width == width) return named->row_offset;
  return Wrong(absl::StrCat("means [", named->rows, ", ", named->width, "] for a model of type ",
                            kind, ", and the tensor is [", rows, ", ", width, "]"));
}

}  // namespace phasor::models
