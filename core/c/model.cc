#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/c/boundary.h"
#include "core/c/wanted.h"
#include "phasor/models/model.h"

namespace phasor::c {
namespace {

absl::StatusOr<TransformersVersion> TakeVersion(std::int32_t version) {
  switch (version) {
    case PHASOR_TRANSFORMERS_4_46: return TransformersVersion::k4_46;
    case PHASOR_TRANSFORMERS_5_0: return TransformersVersion::k5_0;
    case PHASOR_TRANSFORMERS_DEFAULT:
    case PHASOR_TRANSFORMERS_5_16: return TransformersVersion::k5_16;
    default: break;
  }
  return Invalid("transformers_version", absl::StrCat(version, " is no known version"));
}

absl::StatusOr<ModelOptions> TakeOptions(const phasor_model_options* given) {
  if (given == nullptr) return ModelOptions();
  const absl::StatusOr<phasor_model_options> wanted = Take(given, "options");
  if (!wanted.ok()) return wanted.status();
  const absl::StatusOr<TransformersVersion> version = TakeVersion(wanted->transformers_version);
  if (!version.ok()) return version.status();
  const absl::StatusOr<Layout> layout =
      TakeLayout("rotary_layout", wanted->rotary_layout, ModelOptions().rotary_layout);
  if (!layout.ok()) return layout.status();
  const absl::StatusOr<ElementType> type =
      TakeElementType("element_type", wanted->element_type, ModelOptions().element_type);
  if (!type.ok()) return type.status();
  return ModelOptions{.version = *version,
                      .sequence_length = Optional(wanted->sequence_length),
                      .rotary_layout = *layout,
                      .element_type = *type};
}

std::int32_t NumberOf(TableUse use) {
  switch (use) {
    case TableUse::kAdd: return PHASOR_USE_ADD;
    case TableUse::kRotateHalves: return PHASOR_USE_ROTATE_HALVES;
    case TableUse::kRotatePairs: return PHASOR_USE_ROTATE_PAIRS;
    case TableUse::kRotateToHalves: return PHASOR_USE_ROTATE_TO_HALVES;
    case TableUse::kNothing: return PHASOR_USE_NOTHING;
    case TableUse::kAddToScores: return PHASOR_USE_ADD_TO_SCORES;
    case TableUse::kLookUp: return PHASOR_USE_LOOK_UP;
  }
  return 0;
}

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

// A table of a description that stays where it is.
class Table {
 public:
  explicit Table(const ModelTable& table) {
    given_ = {
        .name = table.name.c_str(),
        .description = table.description.c_str(),
        .use = NumberOf(table.use),
        .spec = nullptr,
        .checkpoint = nullptr,
        .layers = table.layers.data(),
        .layer_count = table.layers.size(),
        .first_channel = table.first_channel,
        .softmax_factor = table.softmax_factor.has_value() ? &*table.softmax_factor : nullptr};
    if (table.spec.has_value()) {
      // DescribeModel has checked it.
      spec_ = std::make_unique<const phasor_spec>(*CanonicalSpec::Create(*table.spec));
      given_.spec = spec_.get();
    }
    if (table.checkpoint.has_value()) {
      tensors_ = Pointers(table.checkpoint->tensors);
      checkpoint_ = {tensors_.data(), tensors_.size(), table.checkpoint->rows,
                     table.checkpoint->width, table.checkpoint->row_offset};
      given_.checkpoint = &checkpoint_;
    }
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const phasor_model_table& given() const { return given_; }

 private:
  std::unique_ptr<const phasor_spec> spec_;
  std::vector<const char*> tensors_;
  phasor_checkpoint_table checkpoint_{};
  phasor_model_table given_{};
};

// What a caller sees, and behind it what that points to.
class Model : public phasor_model {
 public:
  explicit Model(ModelDescription described)
      : phasor_model(),
        description_(std::move(described)),
        used_(Pointers(description_.keys_used)),
        ignored_(Pointers(description_.keys_ignored)),
        warned_(Pointers(description_.warnings)) {
    for (const ModelTable& table : description_.tables) {
      held_.push_back(std::make_unique<const Table>(table));
      seen_.push_back(&held_.back()->given());
    }
    model_type = description_.model_type.c_str();
    tables = seen_.data();
    table_count = seen_.size();
    keys_used = used_.data();
    keys_used_count = used_.size();
    keys_ignored = ignored_.data();
    keys_ignored_count = ignored_.size();
    warnings = warned_.data();
    warning_count = warned_.size();
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  absl::StatusOr<const phasor_spec*> SpecOf(absl::string_view name) const {
    const absl::StatusOr<TableSpec> wanted = description_.SpecOf(name);
    if (!wanted.ok()) return wanted.status();
    for (std::size_t i = 0; i < table_count; ++i) {
      const ModelTable& table = description_.tables[i];
      if (table.spec.has_value() && (name.empty() || table.name == name)) return seen_[i]->spec;
    }
    return absl::InternalError("a spec that is in no table");
  }

 private:
  const ModelDescription description_;
  const std::vector<const char*> used_;
  const std::vector<const char*> ignored_;
  const std::vector<const char*> warned_;
  std::vector<std::unique_ptr<const Table>> held_;
  std::vector<const phasor_model_table*> seen_;
};

}  // namespace
}  // namespace phasor::c

using phasor::c::CheckPointer;
using phasor::c::Guard;
using phasor::c::Model;

extern "C" {

phasor_code phasor_describe_model(const char* config_json, size_t bytes,
                                  const phasor_model_options* options, const phasor_model** model,
                                  phasor_error* error) {
  return Guard(error, [&] {
    absl::Status given = CheckPointer("model", model);
    if (!given.ok()) return given;
    *model = nullptr;
    given = CheckPointer("config_json", config_json, bytes);
    if (!given.ok()) return given;
    const absl::StatusOr<phasor::ModelOptions> wanted = phasor::c::TakeOptions(options);
    if (!wanted.ok()) return wanted.status();
    absl::StatusOr<phasor::ModelDescription> described =
        phasor::DescribeModel(absl::string_view(config_json, bytes), *wanted);
    if (!described.ok()) return described.status();
    *model = new Model(*std::move(described));
    return absl::OkStatus();
  });
}

void phasor_model_free(const phasor_model* model) { delete static_cast<const Model*>(model); }

phasor_code phasor_model_spec(const phasor_model* model, const char* table,
                              const phasor_spec** spec, phasor_error* error) {
  return Guard(error, [&] {
    absl::Status given = CheckPointer("spec", spec);
    if (!given.ok()) return given;
    *spec = nullptr;
    given = CheckPointer("model", model);
    if (!given.ok()) return given;
    const absl::StatusOr<const phasor_spec*> found =
        static_cast<const Model*>(model)->SpecOf(table == nullptr ? "" : table);
    if (found.ok()) *spec = *found;
    return found.status();
  });
}

}  // extern "C"
