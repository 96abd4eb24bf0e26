#include "client/cli/spec_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace phasor::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AddLadder {
  Json& fields;

  void operator()(const PaperLadder&) const { fields["paper"] = Json::object(); }
  void operator()(const InclusiveLadder&) const { fields["inclusive"] = Json::object(); }
  void operator()(const DownscaledLadder& ladder) const {
    fields["downscaled"] = {{"downscale_shift", ladder.downscale_shift.value_or(0)}};
  }
  void operator()(const ExplicitLadder& ladder) const {
    fields["explicit"] = {{"frequencies", ladder.frequencies}};
  }
};

struct AddScheme {
  Json& json;

  void operator()(const Sinusoidal& scheme) const {
    Json& fields = json["sinusoidal"];
    fields["width"] = scheme.width;
    if (!std::holds_alternative<ExplicitLadder>(scheme.ladder)) {
      fields["base"] = scheme.base.value_or(kDefaultBase);
    }
    std::visit(AddLadder{fields}, scheme.ladder);
    fields["layout"] = absl::StrCat("LAYOUT_", LayoutName(scheme.layout));
    fields["position_offset"] = scheme.position_offset;
    if (scheme.zero_row.has_value()) fields["zero_row"] = *scheme.zero_row;
  }
  void operator()(const LearnedInit& scheme) const {
    json["learned_init"] = {{"max_positions", scheme.max_positions},
                            {"width", scheme.width},
                            {"stddev", scheme.stddev},
                            {"seed", scheme.seed},
                            {"stream", scheme.stream}};
  }
};

}  // namespace

nlohmann::ordered_json EffectiveSpecJson(const CanonicalSpec& spec) {
  Json json;
  std::visit(AddScheme{json}, spec.spec().scheme);
  json["element_type"] = absl::StrCat("ELEMENT_TYPE_", ElementTypeName(spec.element_type()));
  switch (spec.spec().numerics) {
    case Numerics::kExact: json["numerics"] = "NUMERICS_EXACT"; break;
  }
  return json;
}

nlohmann::ordered_json CanonicalSpecJson(const CanonicalSpec& spec) {
  // The canonical text lists the fields that do not stand at their default.
  const Json effective = EffectiveSpecJson(spec);
  Json canonical = Json::object();
  for (absl::string_view line : absl::StrSplit(spec.text(), '\n', absl::SkipEmpty())) {
    const std::string path = absl::StrReplaceAll(line.substr(0, line.find('=')), {{".", "/"}});
    const Json::json_pointer pointer("/" + path);
    canonical[pointer] = effective.at(pointer);
  }
  return canonical;
}

}  // namespace phasor::cli
