#include "phasor/models/model.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/absolute_model.h"
#include "models/config.h"
#include "models/rope_model.h"
#include "models/score_model.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

using models::Config;

constexpr TransformersVersion kVersions[] = {TransformersVersion::k4_46, TransformersVersion::k5_0,
                                             TransformersVersion::k5_16};

// The part of a multimodal model's file that is about its language model.
Config LanguageModel(const Config& file) {
  if (file.Text("model_type") == "vision-encoder-decoder") {
    if (const std::optional<Config> decoder = file.Object("decoder")) return *decoder;
  }
  const std::optional<Config> text = file.ObjectIfAny("text_config");
  if (!text.has_value()) return file;
  for (const absl::string_view key : {"rope_theta", "rope_scaling", "rope_parameters"}) {
    if (file.Has(key)) return file;
  }
  return *text;
}

absl::StatusOr<ModelDescription> Describe(absl::string_view config_json,
                                          const ModelOptions& options) {
  absl::StatusOr<Config> file = Config::Parse(config_json);
  if (!file.ok()) return file.status();
  const Config model = LanguageModel(*file);
  const std::optional<std::string> outer = file->Text("model_type");
  const std::optional<std::string> inner = model.Text("model_type");
  ModelDescription result;
  result.model_type = inner.value_or(outer.value_or(""));
  if (models::IsAbsoluteModel(model, result.model_type)) {
    result.tables = models::AbsoluteTables(model, result.model_type, options);
  } else if (models::IsScoreModel(model, result.model_type)) {
    result.tables = models::ScoreTables(model, result.model_type, options);
  } else if (models::IsRopeModel(model, result.model_type)) {
    result.tables = models::RopeTables(model, result.model_type, options);
  } else if (result.model_type.empty()) {
    file->Refuse("model_type",
                 "is missing, and there is none of rope_theta, rope_scaling, "
                 "rope_parameters");
  } else {
    file->Refuse("model_type",
                 absl::StrCat("\"", result.model_type.substr(0, 64),
                              "\" is not known here, and there is none of rope_theta, "
                              "rope_scaling, rope_parameters; give the scheme's own fields"));
  }
  if (!file->status().ok()) return file->status();
  result.keys_used = file->used();
  result.keys_ignored = file->ignored();
  result.warnings = file->warnings();
  return result;
}

// The tables' canonical texts: equal if and only if all tables are.
std::string TextOf(const absl::StatusOr<ModelDescription>& description) {
  if (!description.ok()) return "";
  return absl::StrJoin(description->tables, "", [](std::string* out, const ModelTable& table) {
    absl::StrAppend(out, table.name, "\n");
    if (table.spec.has_value()) absl::StrAppend(out, CanonicalSpec::Create(*table.spec)->text());
  });
}

}  // namespace

absl::string_view TransformersVersionName(TransformersVersion version) {
  switch (version) {
    case TransformersVersion::k4_46: return "4.46";
    case TransformersVersion::k5_0: return "5.0";
    case TransformersVersion::k5_16: return "5.16";
  }
  return "";
}

absl::string_view TableUseName(TableUse use) {
  switch (use) {
    case TableUse::kAdd: return "add";
    case TableUse::kRotateHalves: return "rotate_halves";
    case TableUse::kRotatePairs: return "rotate_pairs";
    case TableUse::kRotateToHalves: return "rotate_to_halves";
    case TableUse::kNothing: return "nothing";
    case TableUse::kAddToScores: return "add_to_scores";
    case TableUse::kLookUp: return "look_up";
  }
  return "";
}

const ModelTable* ModelDescription::Find(absl::string_view name) const {
  for (const ModelTable& table : tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

absl::StatusOr<TableSpec> ModelDescription::SpecOf(absl::string_view name) const {
  const auto wrong = [](absl::string_view what) {
    return FieldError(absl::StatusCode::kInvalidArgument, "table", what);
  };
  std::vector<absl::string_view> names;
  for (const ModelTable& table : tables) {
    if (table.spec.has_value()) names.push_back(table.name);
  }
  const std::string choice =
      names.empty() ? std::string("it has no table that a formula makes")
                    : absl::StrCat("those that formulas make are ", absl::StrJoin(names, ", "));
  if (name.empty()) {
    if (names.size() == 1) return *Find(names[0])->spec;
    return wrong(absl::StrCat("name one of the model's tables: ", choice));
  }
  const ModelTable* table = Find(name);
  if (table == nullptr) {
    return wrong(absl::StrCat("\"", name.substr(0, 64), "\" is no table of this model; ", choice));
  }
  if (table->spec.has_value()) return *table->spec;
  return wrong(absl::StrCat("\"", table->name, "\": ", table->description,
                            "; no formula makes it. ", choice));
}

absl::StatusOr<ModelDescription> DescribeModel(absl::string_view config_json,
                                               const ModelOptions& options) {
  const std::int64_t length = options.sequence_length.value_or(1);
  if (length < 1 || length > kMaxPosition) {
    return FieldError(absl::StatusCode::kInvalidArgument, "sequence_length",
                      absl::StrCat(length, " is not in 1 ... 2^53"));
  }
  absl::StatusOr<ModelDescription> result = Describe(config_json, options);
  if (!result.ok()) return result;
  const std::string text = TextOf(result);
  for (const TransformersVersion version : kVersions) {
    ModelOptions other = options;
    other.version = version;
    const absl::StatusOr<ModelDescription> described = Describe(config_json, other);
    if (TextOf(described) == text) continue;
    result->warnings.push_back(
        absl::StrCat("transformers ", std::string(TransformersVersionName(version)),
                     described.ok() ? " makes another table of this configuration than "
                                    : " makes no table of this configuration, unlike ",
                     std::string(TransformersVersionName(options.version)),
                     "; ask for the version that the model was trained with"));
  }
  return result;
}

}  // namespace phasor
