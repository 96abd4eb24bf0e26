#include "models/rope_model.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/families.h"
#include "models/layers.h"
#include "models/rope_table.h"

namespace phasor::models {
namespace {

constexpr absl::string_view kFull = "full_attention";
constexpr absl::string_view kSliding = "sliding_attention";

// Where local layers turn by another base than global ones, in configurations
// from before rope_parameters had a table for each kind.
struct DualBase {
  absl::string_view model_type;
  absl::string_view full_theta_key;
  absl::string_view sliding_theta_key;
  double sliding_theta;
  bool scaled_locally;  // whether rope_scaling is for sliding layers too
  absl::string_view period_key;
  std::int64_t period;
  bool first;  // whether full layers come first in their period
};
constexpr DualBase kDualBases[] = {
    {"gemma3", "rope_theta", "rope_local_base_freq", 1e4, false, "sliding_window_pattern", 6,
     false},
    {"gemma3_text", "rope_theta", "rope_local_base_freq", 1e4, false, "sliding_window_pattern", 6,
     false},
    {"gemma3n", "rope_theta", "rope_local_base_freq", 1e4, false, "", 0, false},
    {"gemma3n_text", "rope_theta", "rope_local_base_freq", 1e4, false, "", 0, false},
    {"modernbert", "global_rope_theta", "local_rope_theta", 1e4, false,
     "global_attn_every_n_layers", 3, true},
};

// Full layers know no positions.
struct SlidingRopeOnly {
  absl::string_view model_type;
  std::int64_t period;
  bool needs_window;  // only if sliding_window is set
};
constexpr SlidingRopeOnly kSlidingRopeOnly[] = {
    {"cohere2", 4, false},
    {"exaone4", 4, true},
};

template <typename List>
const auto* FindType(const List& list, absl::string_view model_type) {
  for (const auto& entry : list) {
    if (entry.model_type == model_type) return &entry;
  }
  return static_cast<decltype(&*std::begin(list))>(nullptr);
}

std::optional<std::int64_t> FirstInteger(const Config& model,
                                         std::initializer_list<absl::string_view> keys) {
  for (const absl::string_view key : keys) {
    if (const auto value = model.Integer(key)) return value;
  }
  return std::nullopt;
}

// Beside a rotary table of that width.
ModelTable NoPositions(const ModelTable& rotary, const ModelOptions& options,
                       std::vector<std::int64_t> layers) {
  const auto& scheme = std::get<Rotary>(rotary.spec->scheme);
  const NoPosition none{.width = scheme.width, .layout = scheme.layout};
  return {.name = "none",
          .description = "no positions at all (NoPE): rows that change nothing",
          .use = TableUse::kNothing,
          .spec = TableSpec(none, options.element_type),
          .layers = std::move(layers)};
}

class RopeModel {
 public:
  RopeModel(const Config& model, absl::string_view model_type, const ModelOptions& options)
      : model_(model),
        model_type_(model_type),
        options_(options),
        family_(FamilyOf(model, model_type)) {
    const std::optional<Config> scaling = model.ObjectIfAny("rope_scaling");
    parameters_ = scaling.has_value() ? scaling : model.ObjectIfAny("rope_parameters");
  }

  std::vector<ModelTable> Tables() {
    if (model_type_ == "chatglm") {
      AddChatGlm();
    } else if (model_type_ == "gptj" || model_type_ == "codegen") {
      AddGptJ();
    } else if (model_type_ == "deepseek_v4") {
      AddDeepSeek4();
    } else if (IsNested()) {
      AddNested();
    } else if (const auto* dual = FindType(kDualBases, model_type_)) {
      AddDual(*dual);
    } else if (absl::StartsWith(model_type_, "gemma4") && !parameters_.has_value()) {
      AddGemma4();
    } else {
      AddSingle();
    }
    return std::move(tables_);
  }

 private:
  static RopeFamily FamilyOf(const Config& model, absl::string_view model_type) {
    if (const RopeFamily* known = FindRopeFamily(model_type)) {
      RopeFamily family = *known;
      if (family.use == TableUse::kRotateToHalves &&
          !model.Boolean("rope_interleave").value_or(true)) {
        family.use = TableUse::kRotateHalves;
      }
      return family;
    }
    model.Warn(absl::StrCat("model_type \"", model_type.substr(0, 64),
                            "\" is not known here: its RoPE keys are read as llama's are, and it "
                            "is taken to turn elements i and i + h"));
    return {.model_type = "", .plain = false};
  }

  std::int64_t HeadDim() const {
    if (const auto rope = model_.Integer("qk_rope_head_dim")) return *rope;  // latent attention
    if (const auto given = model_.Integer("head_dim")) return *given;
    const auto width = FirstInteger(model_, {"hidden_size", "n_embd", "d_model"});
    const auto heads = FirstInteger(model_, {"num_attention_heads", "n_head", "n_heads"});
    if (!width.has_value() || !heads.has_value()) {
      model_.Refuse("head_dim",
                    "is missing, and so are hidden_size and num_attention_heads, "
                    "whose quotient it would be");
      return 2;
    }
    if (*heads < 1) {
      model_.Refuse("num_attention_heads", absl::StrCat(*heads, " is not 1 or more"));
      return 2;
    }
    return *width / *heads;
  }

  double Theta(absl::string_view key, double otherwise) const {
    return model_.Number(key).value_or(otherwise);
  }

  ModelTable Named(absl::string_view name, std::vector<std::int64_t> layers = {}) const {
    return {.name = std::string(name), .use = family_.use, .layers = std::move(layers)};
  }

  void Add(const RopeSource& source, ModelTable table) {
    AddRotaryTables(source, options_, std::move(table), &tables_);
  }

  RopeSource Source(std::optional<Config> parameters, double theta) const {
    return {.model = model_,
            .parameters = std::move(parameters),
            .family = family_,
            .rope_theta = theta,
            .head_dim = HeadDim()};
  }

  bool IsNested() const {
    if (!parameters_.has_value()) return false;
    for (const std::string& key : parameters_->keys()) {
      if (!parameters_->ObjectIfAny(key).has_value()) return false;
    }
    return true;
  }

  void AddSingle() {
    std::vector<std::int64_t> without;
    if (model_type_ == "smollm3" || absl::StartsWith(model_type_, "llama4")) {
      without = NoRopeLayers(model_);
    } else if (const auto* sliding = FindType(kSlidingRopeOnly, model_type_)) {
      if (!sliding->needs_window || model_.Has("sliding_window")) {
        const std::int64_t period = PeriodOf("sliding_window_pattern", sliding->period);
        without = LayersOf(LayerTypes(model_, period), kFull);
      }
    }
    RopeSource source = Source(parameters_, Theta("rope_theta", family_.rope_theta));
    if (model_type_ == "gpt_neox") {
      source.rope_theta = Theta("rotary_emb_base", source.rope_theta);
    } else if (model_type_ == "minimax_m2") {
      source.width = model_.Integer("rotary_dim");
    }
    if (model_type_ == "olmo3" && parameters_.has_value()) {
      const std::vector<std::string> types = LayerTypes(model_, std::nullopt);
      Add(source, Named(kFull, LayersOf(types, kFull)));
      source.parameters.reset();
      return Add(source, Named(kSliding, LayersOf(types, kSliding)));
    }
    Add(source, Named("rotary", without.empty() ? std::vector<std::int64_t>()
                                                : OtherLayers(model_, without)));
    if (!without.empty())
      tables_.push_back(NoPositions(tables_.front(), options_, std::move(without)));
  }

  std::int64_t PeriodOf(absl::string_view key, std::int64_t otherwise) const {
    if (key.empty()) return 0;
    return model_.Integer(key).value_or(otherwise);
  }

  void AddDual(const DualBase& dual) {
    const std::vector<std::string> types =
        LayerTypes(model_, PeriodOf(dual.period_key, dual.period), dual.first);
    Add(Source(parameters_, Theta(dual.full_theta_key, family_.rope_theta)),
        Named(kFull, LayersOf(types, kFull)));
    Add(Source(std::nullopt, Theta(dual.sliding_theta_key, dual.sliding_theta)),
        Named(kSliding, LayersOf(types, kSliding)));
  }

  void AddNested() {
    const std::vector<std::string> types = LayerTypes(model_, std::nullopt);
    for (const std::string& label : parameters_->keys()) {
      RopeSource source =
          Source(parameters_->ObjectIfAny(label), Theta("rope_theta", family_.rope_theta));
      if (label == kFull) {
        source.head_dim = model_.Integer("global_head_dim").value_or(source.head_dim);
      }
      Add(source, Named(label, LayersOf(types, label)));
    }
  }

  // Its classes' defaults, in a configuration without rope_parameters.
  void AddGemma4() {
    model_.Refuse("rope_parameters",
                  "is missing; gemma4 has one table for each kind of layer there");
  }

  void AddChatGlm() {
    const std::int64_t channels = model_.RequiredInteger("kv_channels", "chatglm");
    family_.use = model_.Boolean("original_rope").value_or(true) ? TableUse::kRotatePairs
                                                                 : TableUse::kRotateHalves;
    RopeSource source{.model = model_,
                      .parameters = std::nullopt,
                      .family = family_,
                      .rope_theta = 10000 * model_.Number("rope_ratio").value_or(1),
                      .head_dim = channels,
                      .width = channels / 2};
    Add(source, Named("rotary"));
  }

  void AddGptJ() {
    RopeSource source = Source(std::nullopt, 10000);
    source.width = model_.Integer("rotary_dim");
    if (!source.width.has_value()) source.width = FirstInteger(model_, {"n_embd", "hidden_size"});
    Add(source, Named("rotary"));
  }

  void AddDeepSeek4() {
    const std::int64_t width = model_.RequiredInteger("qk_rope_head_dim", "deepseek_v4");
    const std::int64_t head = model_.RequiredInteger("head_dim", "deepseek_v4");
    family_ = {.model_type = "deepseek_v4", .use = TableUse::kRotatePairs};
    for (const absl::string_view label : {"main", "compress"}) {
      const bool main = label == "main";
      std::optional<Config> parameters = IsNested() ? parameters_->Object(label) : std::nullopt;
      if (!parameters.has_value() && !main) parameters = parameters_;
      RopeSource source{
          .model = model_,
          .parameters = std::move(parameters),
          .family = family_,
          .rope_theta = main ? Theta("rope_theta", 10000) : Theta("compress_rope_theta", 160000),
          .head_dim = head,
          .width = width};
      ModelTable table = Named(label);
      table.first_channel = head - width;
      const std::size_t before = tables_.size();
      Add(source, std::move(table));
      for (std::size_t i = before; i < tables_.size(); ++i) Rotated(tables_[i]);
    }
  }

  // YaRN's attention factor is 1 in DeepSeek-V4 unless given, and its scores are
  // as they are.
  static void Rotated(ModelTable& table) {
    auto& rotary = std::get<Rotary>(table.spec->scheme);
    if (std::holds_alternative<YarnScaling>(rotary.scaling) &&
        !rotary.attention_factor.has_value()) {
      rotary.attention_factor = 1;
    }
    table.softmax_factor.reset();
  }

  const Config& model_;
  const std::string model_type_;
  const ModelOptions& options_;
  RopeFamily family_;
  std::optional<Config> parameters_;
  std::vector<ModelTable> tables_;
};

}  // namespace

bool IsRopeModel(const Config& model, absl::string_view model_type) {
  if (FindRopeFamily(model_type) != nullptr || model_type == "chatglm" ||
      model_type == "deepseek_v4") {
    return true;
  }
  bool found = false;
  for (const absl::string_view key : {"rope_theta", "rope_scaling", "rope_parameters"}) {
    found = model.Has(key) || found;
  }
  return found;
}

std::vector<ModelTable> RopeTables(const Config& model, absl::string_view model_type,
                                   const ModelOptions& options) {
  return RopeModel(model, model_type, options).Tables();
}

}  // namespace phasor::models
