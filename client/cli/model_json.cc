#include "client/cli/model_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/spec_json.h"

namespace phasor::cli {
namespace {

using Json = nlohmann::ordered_json;

Json TableJson(const ModelTable& table) {
  Json json;
  json["name"] = table.name;
  json["description"] = table.description;
  json["use"] = absl::StrCat("TABLE_USE_", absl::AsciiStrToUpper(TableUseName(table.use)));
  if (table.spec.has_value()) {
    const CanonicalSpec spec = *CanonicalSpec::Create(*table.spec);
    json["spec"] = CanonicalSpecJson(spec);
    json["fingerprint"] = spec.fingerprint();
  }
  if (table.checkpoint.has_value()) {
    json["checkpoint"] = {{"tensors", table.checkpoint->tensors},
                          {"row_count", table.checkpoint->rows},
                          {"width", table.checkpoint->width},
                          {"row_offset", table.checkpoint->row_offset}};
  }
  if (!table.layers.empty()) json["layers"] = table.layers;
  if (table.first_channel != 0) json["first_channel"] = table.first_channel;
  if (table.softmax_factor.has_value()) json["softmax_factor"] = *table.softmax_factor;
  return json;
}

}  // namespace

nlohmann::ordered_json ModelJson(const ModelDescription& model) {
  Json json;
  json["model_type"] = model.model_type;
  json["tables"] = Json::array();
  for (const ModelTable& table : model.tables) json["tables"].push_back(TableJson(table));
  json["keys_used"] = model.keys_used;
  json["keys_ignored"] = model.keys_ignored;
  json["warnings"] = model.warnings;
  return json;
}

}  // namespace phasor::cli
