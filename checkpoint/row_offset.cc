#include "checkpoint/row_offset.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_file.h"

namespace phasor::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMaxRows = std::int64_t{1} << 48;

enum class Rule {
  kFromZero,      // row = position
  kTwoMore,       // two rows more than max_position_embeddings, before the first token's
  kAfterPadding,  // pad_token_id + 1 of the rows stand before the first token's
};
struct Model {
  absl::string_view type;
  Rule rule;
};
// Hugging Face transformers 5.16, the files modeling_*.py of each.
constexpr Model kModels[] = {
    {"albert", Rule::kFromZero},
    {"audio-spectrogram-transformer", Rule::kFromZero},
    {"bart", Rule::kTwoMore},
    {"bert", Rule::kFromZero},
    {"bigbird_pegasus", Rule::kFromZero},
    {"biogpt", Rule::kTwoMore},
    {"blenderbot", Rule::kFromZero},
    {"blenderbot-small", Rule::kFromZero},
    {"camembert", Rule::kAfterPadding},
    {"clip", Rule::kFromZero},
    {"clip_text_model", Rule::kFromZero},
    {"convbert", Rule::kFromZero},
    {"data2vec-text", Rule::kAfterPadding},
    {"decision_transformer", Rule::kFromZero},
    {"deit", Rule::kFromZero},
    {"dinov2", Rule::kFromZero},
    {"distilbert", Rule::kFromZero},
    {"electra", Rule::kFromZero},
    {"esm", Rule::kAfterPadding},
    {"flaubert", Rule::kFromZero},
    {"gpt2", Rule::kFromZero},
    {"gpt_bigcode", Rule::kFromZero},
    {"gpt_neo", Rule::kFromZero},
    {"imagegpt", Rule::kFromZero},
    {"layoutlm", Rule::kFromZero},
    {"led", Rule::kFromZero},
    {"mbart", Rule::kTwoMore},
    {"mpnet", Rule::kAfterPadding},
    {"mvp", Rule::kTwoMore},
    {"opt", Rule::kTwoMore},
    {"plbart", Rule::kTwoMore},
    {"roberta", Rule::kAfterPadding},
    {"trocr", Rule::kTwoMore},
    {"vit", Rule::kFromZero},
    {"whisper", Rule::kFromZero},
    {"xlm", Rule::kFromZero},
    {"xlm-roberta", Rule::kAfterPadding},
};

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "; serve the file by --table with row_offset"));
}

// Parses an object, and refuses keys of it that come twice: Json would keep the
// last.
absl::StatusOr<Json> ParseObject(absl::string_view text) {
  std::set<std::string> keys;
  std::string twice;
  const Json::parser_callback_t check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) {
      auto key = parsed.get<std::string>();
      if (!keys.insert(key).second) twice = std::move(key);
    }
    return true;
  };
  Json json = Json::parse(text.begin(), text.end(), check, /*allow_exceptions=*/false);
  if (!json.is_object()) return Wrong("is no JSON object");
  if (!twice.empty()) return Wrong(absl::StrCat("the key ", Quoted(twice), " comes twice"));
  return json;
}

// An integer 0 ... kMaxRows.
absl::StatusOr<std::optional<std::int64_t>> Integer(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > kMaxRows) {
    return Wrong(absl::StrCat("\"", key, "\" is not an integer in 0 ... 2^48"));
  }
  return found->get<std::int64_t>();
}

}  // namespace

std::string ConfigPathOf(const std::string& checkpoint_path) {
  const std::size_t slash = checkpoint_path.rfind('/');
  return absl::StrCat(slash == std::string::npos ? "" : checkpoint_path.substr(0, slash + 1),
                      "config.json");
}

absl::StatusOr<std::int64_t> RowOffsetOf(absl::string_view config_json, std::int64_t rows) {
  const absl::StatusOr<Json> config = ParseObject(config_json);
  if (!config.ok()) return config.status();
  const auto given = Integer(*config, "row_offset");
  if (!given.ok()) return given.status();
  if (given->has_value()) return **given;

  const auto type = config->find("model_type");
  if (type == config->end() || !type->is_string()) return Wrong("has no \"model_type\"");
  const auto name = type->get<std::string>();
  const auto* model = std::find_if(std::begin(kModels), std::end(kModels),
                                   [&](const Model& known) { return known.type == name; });
  if (model == std::end(kModels)) {
    return Wrong(absl::StrCat("the rows of model_type ", Quoted(name), " are not known here"));
  }
  if (model->rule == Rule::kFromZero) return 0;
  const auto positions = Integer(*config, "max_position_embeddings");
  if (!positions.ok()) return positions.status();
  std::int64_t offset = 2;
  std::int64_t more = 2;
  if (model->rule == Rule::kAfterPadding) {
    const auto padding = Integer(*config, "pad_token_id");
    if (!padding.ok()) return padding.status();
    offset = padding->value_or(1) + 1;
    more = 0;
  }
  if (positions->has_value() && **positions + more != rows) {
    return Wrong(absl::StrCat("says ", Quoted(name), " with max_position_embeddings ", **positions,
                              ", a table of ", **positions + more, " rows, and the tensor has ",
                              rows));
  }
  return offset;
}

absl::StatusOr<std::int64_t> RowOffsetBeside(const std::string& path, std::int64_t rows) {
  const std::string config = ConfigPathOf(path);
  const absl::StatusOr<std::string> json = ReadSmallFile(config, kMaxConfigBytes);
  if (absl::IsNotFound(json.status())) return 0;
  if (!json.ok()) return json.status();
  absl::StatusOr<std::int64_t> offset = RowOffsetOf(*json, rows);
  if (offset.ok()) return offset;
  return absl::Status(offset.status().code(),
                      absl::StrCat(config, ": ", offset.status().message()));
}

}  // namespace phasor::checkpoint
