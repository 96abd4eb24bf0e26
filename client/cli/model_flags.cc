#include "client/cli/model_flags.h"

#include <cstdio>
#include <string>
#include <utility>

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

}  // namespace

absl::StatusOr<ModelDescription> ModelFromFlags(const Arguments& arguments) {
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
  return DescribeModel(*text, options);
}

absl::StatusOr<TableSpec> SpecFromConfig(const Arguments& arguments) {
  const absl::StatusOr<ModelDescription> model = ModelFromFlags(arguments);
  if (!model.ok()) return model.status();
  for (const std::string& warning : model->warnings) {
    std::fprintf(stderr, "phasor: %s\n", warning.c_str());
  }
  return model->SpecOf(arguments.Text("table").value_or(""));
}

}  // namespace phasor::cli
