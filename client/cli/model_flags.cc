#include "client/cli/model_flags.h"

#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/flag_reader.h"
#include "client/cli/spec_flags.h"
#include "client/cli/text_file.h"

namespace phasor::cli {
namespace {

constexpr TransformersVersion kVersions[] = {
    TransformersVersion::k5_16,
    TransformersVersion::k5_0,
    TransformersVersion::k4_46,
};

// A configuration, and how it is to be read.
struct ConfigText {
  std::string text;
  ModelOptions options;
};

absl::StatusOr<ConfigText> ConfigFromFlags(const Arguments& arguments) {
  const absl::StatusOr<absl::string_view> path = arguments.Required("config");
  if (!path.ok()) return path.status();
  FlagReader flags(arguments);
  ModelOptions options;
  options.version = flags.Word("transformers", kVersions, TransformersVersionName);
  options.sequence_length = flags.Integer("sequence_length");
  options.rotary_layout = flags.LayoutOr(options.rotary_layout);
  const absl::StatusOr<ElementType> type = TypeFlag(arguments);
  if (!type.ok()) flags.Fail(type.status());
  if (!flags.status().ok()) return flags.status();
  options.element_type = *type;
  absl::StatusOr<std::string> text = ReadTextFile(std::string(*path), kMaxConfigBytes);
  if (!text.ok()) return arguments.Wrong("config", text.status());
  return ConfigText{*std::move(text), options};
}

// The table that --table names; what there is to warn of goes to stderr.
absl::StatusOr<TableSpec> SpecOf(const ModelDescription& model, const Arguments& arguments) {
  for (const std::string& warning : model.warnings) {
    std::fprintf(stderr, "phasor: %s\n", warning.c_str());
  }
  return model.SpecOf(arguments.Text("table").value_or(""));
}

}  // namespace

absl::StatusOr<ModelDescription> ModelFromFlags(const Arguments& arguments) {
  const absl::StatusOr<ConfigText> config = ConfigFromFlags(arguments);
  if (!config.ok()) return config.status();
  return DescribeModel(config->text, config->options);
}

absl::StatusOr<TableSpec> SpecFromConfig(const Arguments& arguments) {
  const absl::StatusOr<ModelDescription> model = ModelFromFlags(arguments);
  if (!model.ok()) return model.status();
  return SpecOf(*model, arguments);
}

absl::StatusOr<TableAndOthers> TableAndOthersFromConfig(const Arguments& arguments) {
  const absl::StatusOr<ConfigText> config = ConfigFromFlags(arguments);
  if (!config.ok()) return config.status();
  const absl::StatusOr<ModelDescription> model = DescribeModel(config->text, config->options);
  if (!model.ok()) return model.status();
  absl::StatusOr<TableSpec> spec = SpecOf(*model, arguments);
  if (!spec.ok()) return spec.status();
  TableAndOthers tables{*std::move(spec), {}};
  for (const ModelTable& table : model->tables) {
    if (!table.spec.has_value() || *table.spec == tables.spec) continue;
    tables.others.push_back({absl::StrCat("it is the model's table ", table.name), *table.spec});
  }
  for (const TransformersVersion version : kVersions) {
    ModelOptions options = config->options;
    options.version = version;
    const absl::StatusOr<ModelDescription> other = DescribeModel(config->text, options);
    if (!other.ok()) continue;
    const absl::StatusOr<TableSpec> same = other->SpecOf(arguments.Text("table").value_or(""));
    if (!same.ok() || *same == tables.spec) continue;
    tables.others.push_back(
        {absl::StrCat("it is the table as transformers ", TransformersVersionName(version),
                      " reads the configuration"),
         *same});
  }
  return tables;
}

}  // namespace phasor::cli
