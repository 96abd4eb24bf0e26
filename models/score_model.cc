#include "models/score_model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace phasor::models {
namespace {

// Encoder and decoder with T5's buckets, shared by all blocks but in umt5.
constexpr std::array<absl::string_view, 8> kT5 = {
    "longt5", "mt5", "pix2struct", "pop2piano", "switch_transformers", "t5", "udop", "umt5"};

bool IsT5(absl::string_view model_type) {
  return std::find(kT5.begin(), kT5.end(), model_type) != kT5.end();
}

// With a check of the table that it means.
ModelTable Table(const Config& model, absl::string_view name, TableUse use, TableSpec spec,
                 std::string description) {
  const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(spec);
  if (!canonical.ok()) {
    model.Refuse("", absl::StrCat("means no table: ", canonical.status().message()));
  }
  ModelTable table;
  table.name = std::string(name);
  table.description = std::move(description);
  table.use = use;
  table.spec.emplace(std::move(spec));
  return table;
}

std::int64_t Heads(const Config& model) {
  for (const absl::string_view key : {"n_head", "n_heads", "num_attention_heads"}) {
    if (const std::optional<std::int64_t> heads = model.Integer(key)) return *heads;
  }
  return model.RequiredInteger("num_attention_heads", "ALiBi");
}

ModelTable AlibiTable(const Config& model, absl::string_view model_type,
                      const ModelOptions& options) {
  Alibi alibi{.head_count = Heads(model), .form = AlibiForm::kKeyPosition};
  std::string words =
      "ALiBi: +m_k times the key's position, added to scores that are divided by the "
      "root of the head's width already";
  if (model_type == "mpt") {
    alibi.form = AlibiForm::kDistance;
    words = "ALiBi: -m_k times the distance, added to scores";
    if (const std::optional<Config> attention = model.ObjectIfAny("attn_config")) {
      alibi.bias_max = attention->Number("alibi_bias_max").value_or(alibi.bias_max);
      if (!attention->Boolean("alibi").value_or(true)) {
        attention->Warn(
            "attn_config.alibi is false, and transformers' MPT adds ALiBi all the same; "
            "llm-foundry's does not");
      }
    }
  } else if (model_type == "falcon") {
    words =
        "ALiBi: +m_k times the key's position, divided by the root of the head's width as the "
        "scores are";
    model.Warn("falcon rounds the slopes to bfloat16 before it multiplies; these rows are exact");
  }
  return Table(model, "alibi", TableUse::kAddToScores, TableSpec(alibi, options.element_type),
               std::move(words));
}

ModelTable BucketTable(const Config& model, absl::string_view name, bool bidirectional) {
  RelativeBuckets buckets{.bidirectional = bidirectional};
  buckets.num_buckets =
      model.Integer("relative_attention_num_buckets").value_or(buckets.num_buckets);
  buckets.max_distance =
      model.Integer("relative_attention_max_distance").value_or(buckets.max_distance);
  return Table(model, name, TableUse::kLookUp, TableSpec(buckets),
               absl::StrCat("T5's buckets of key minus query: rows of the checkpoint's own "
                            "relative_attention_bias.weight, ",
                            buckets.num_buckets, " of them, one column a head"));
}

}  // namespace

bool IsScoreModel(const Config& model, absl::string_view model_type) {
  if (model_type == "falcon") return model.Boolean("alibi").value_or(false);
  return model_type == "bloom" || model_type == "mpt" || IsT5(model_type);
}

std::vector<ModelTable> ScoreTables(const Config& model, absl::string_view model_type,
                                    const ModelOptions& options) {
  if (!IsT5(model_type)) return {AlibiTable(model, model_type, options)};
  return {BucketTable(model, "encoder", /*bidirectional=*/true),
          BucketTable(model, "decoder", /*bidirectional=*/false)};
}

}  // namespace phasor::models
