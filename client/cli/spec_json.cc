#include "client/cli/spec_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "absl/strings/match.h"
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
  void operator()(const TimescaleLadder& ladder) const {
    fields["timescales"] = {{"min_timescale", ladder.min_timescale},
                            {"max_timescale", ladder.max_timescale}};
  }
};

struct AddScaling {
  Json& fields;

  void operator()(const NoScaling&) const { fields["none"] = Json::object(); }
  void operator()(const LinearScaling& s) const { fields["linear"] = {{"factor", s.factor}}; }
  void operator()(const NtkScaling& s) const { fields["ntk"] = {{"factor", s.factor}}; }
  void operator()(const DynamicNtkScaling& s) const {
    fields["dynamic_ntk"] = {{"factor", s.factor},
                             {"max_position_embeddings", s.max_position_embeddings},
                             {"sequence_length", s.sequence_length}};
  }
  void operator()(const YarnScaling& s) const {
    Json& yarn = fields["yarn"];
    yarn = {{"factor", s.factor},
            {"original_max_position_embeddings", s.original_max_position_embeddings},
            {"beta_fast", s.beta_fast},
            {"beta_slow", s.beta_slow}};
    if (s.mscale.has_value()) yarn["mscale"] = *s.mscale;
    if (s.mscale_all_dim.has_value()) yarn["mscale_all_dim"] = *s.mscale_all_dim;
    yarn["truncate"] = s.truncate;
  }
  void operator()(const LongRopeScaling& s) const {
    Json& longrope = fields["longrope"];
    longrope = {{"short_factor", s.short_factor},
                {"long_factor", s.long_factor},
                {"original_max_position_embeddings", s.original_max_position_embeddings},
                {"sequence_length", s.sequence_length}};
    if (s.factor.has_value()) longrope["factor"] = *s.factor;
  }
  void operator()(const Llama3Scaling& s) const {
    fields["llama3"] = {{"factor", s.factor},
                        {"low_freq_factor", s.low_freq_factor},
                        {"high_freq_factor", s.high_freq_factor},
                        {"original_max_position_embeddings", s.original_max_position_embeddings}};
  }
  void operator()(const ProportionalScaling& s) const {
    fields["proportional"] = {{"partial_rotary_factor", s.partial_rotary_factor},
                              {"factor", s.factor}};
  }
  void operator()(const ExplicitLadder& ladder) const { AddLadder{fields}(ladder); }
};

struct AddScheme {
  Json& json;

  void operator()(const Sinusoidal& scheme) const {
    Json& fields = json["sinusoidal"];
    fields["width"] = scheme.width;
    if (scheme.base.has_value()) fields["base"] = *scheme.base;
    std::visit(AddLadder{fields}, scheme.ladder);
    fields["layout"] = absl::StrCat("LAYOUT_", LayoutName(scheme.layout));
    fields["position_offset"] = scheme.position_offset;
    if (scheme.zero_row.has_value()) fields["zero_row"] = *scheme.zero_row;
    if (scheme.odd_column != OddColumn::kNone) {
      fields["odd_column"] = absl::StrCat("ODD_COLUMN_", OddColumnName(scheme.odd_column));
    }
  }
  void operator()(const Rotary& scheme) const {
    Json& fields = json["rotary"];
    fields["width"] = scheme.width;
    if (scheme.base.has_value()) fields["base"] = *scheme.base;
    std::visit(AddScaling{fields}, scheme.scaling);
    if (scheme.attention_factor.has_value()) fields["attention_factor"] = *scheme.attention_factor;
    fields["layout"] = absl::StrCat("LAYOUT_", LayoutName(scheme.layout));
    if (scheme.mrope_section.empty()) return;
    fields["mrope_section"] = scheme.mrope_section;
    fields["mrope_interleaved"] = scheme.mrope_interleaved;
  }
  void operator()(const Timestep& scheme) const {
    json["timestep"] = {{"width", scheme.width},
                        {"max_period", scheme.max_period},
                        {"downscale_freq_shift", scheme.downscale_freq_shift.value_or(0)},
                        {"scale", scheme.scale},
                        {"flip_sin_to_cos", scheme.flip_sin_to_cos}};
  }
  void operator()(const Alibi& scheme) const {
    json["alibi"] = {{"head_count", scheme.head_count},
                     {"bias_max", scheme.bias_max},
                     {"form", absl::StrCat("ALIBI_FORM_", AlibiFormName(scheme.form))}};
  }
  void operator()(const RelativeBuckets& scheme) const {
    json["relative_buckets"] = {{"num_buckets", scheme.num_buckets},
                                {"max_distance", scheme.max_distance},
                                {"bidirectional", scheme.bidirectional}};
  }
  void operator()(const NoPosition& scheme) const {
    Json& fields = json["none"];
    fields["width"] = scheme.width;
    if (!scheme.additive) fields["layout"] = absl::StrCat("LAYOUT_", LayoutName(scheme.layout));
    fields["additive"] = scheme.additive;
  }
  void operator()(const LearnedInit& scheme) const {
    json["learned_init"] = {{"max_positions", scheme.max_positions},
                            {"width", scheme.width},
                            {"stddev", scheme.stddev},
                            {"seed", scheme.seed},
                            {"stream", scheme.stream}};
  }
  void operator()(const LearnedTable& scheme) const {
    json["learned_table"] = {{"name", scheme.name},
                             {"content_sha256", scheme.content_sha256},
                             {"max_positions", scheme.max_positions},
                             {"width", scheme.width}};
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
    canonical[pointer] = absl::EndsWith(line, "={}") ? Json::object() : effective.at(pointer);
  }
  return canonical;
}

}  // namespace phasor::cli
