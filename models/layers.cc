#include "models/layers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "phasor/models/model.h"

namespace phasor::models {
namespace {

// Llama 4's and SmolLM3's.
constexpr std::int64_t kDefaultNoRopeInterval = 4;

}  // namespace

std::optional<std::int64_t> LayerCount(const Config& model) {
  for (const absl::string_view key : {"num_hidden_layers", "n_layer", "num_layers"}) {
    const std::optional<std::int64_t> count = model.Integer(key);
    if (!count.has_value()) continue;
    if (*count >= 0 && *count <= kMaxLayers) return count;
    model.Refuse(key, absl::StrCat(*count, " is not in 0 ... ", kMaxLayers));
    return std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::string> LayerTypes(const Config& model, std::optional<std::int64_t> period,
                                    bool first) {
  if (auto types = model.Texts("layer_types")) return *std::move(types);
  const std::int64_t count = LayerCount(model).value_or(0);
  std::vector<std::string> types;
  if (!period.has_value() || *period < 1) return types;
  for (std::int64_t layer = 0; layer < count; ++layer) {
    const bool full = first ? layer % *period == 0 : (layer + 1) % *period == 0;
    types.emplace_back(full ? "full_attention" : "sliding_attention");
  }
  return types;
}

std::vector<std::int64_t> LayersOf(const std::vector<std::string>& types, absl::string_view type) {
  std::vector<std::int64_t> layers;
  for (std::size_t layer = 0; layer < types.size(); ++layer) {
    if (types[layer] == type) layers.push_back(static_cast<std::int64_t>(layer));
  }
  return layers;
}

std::vector<std::int64_t> NoRopeLayers(const Config& model) {
  std::vector<std::int64_t> layers;
  if (const auto given = model.Integers("no_rope_layers"); given.has_value() && !given->empty()) {
    for (std::size_t layer = 0; layer < given->size(); ++layer) {
      if ((*given)[layer] == 0) layers.push_back(static_cast<std::int64_t>(layer));
    }
    return layers;
  }
  const std::int64_t interval =
      model.Integer("no_rope_layer_interval").value_or(kDefaultNoRopeInterval);
  if (interval < 1) {
    model.Refuse("no_rope_layer_interval", absl::StrCat(interval, " is not 1 or more"));
    return layers;
  }
  for (std::int64_t layer = interval - 1; layer < LayerCount(model).value_or(0);
       layer += interval) {
    layers.push_back(layer);
  }
  return layers;
}

std::vector<std::int64_t> OtherLayers(const Config& model,
                                      const std::vector<std::int64_t>& layers) {
  std::vector<std::int64_t> others;
  for (std::int64_t layer = 0; layer < LayerCount(model).value_or(0); ++layer) {
    if (!std::binary_search(layers.begin(), layers.end(), layer)) others.push_back(layer);
  }
  return others;
}

}  // namespace phasor::models
