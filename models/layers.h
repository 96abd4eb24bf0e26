#ifndef PHASOR_MODELS_LAYERS_H_
#define PHASOR_MODELS_LAYERS_H_

/// \file
/// Which layers of a model are of which kind.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/config.h"

namespace phasor::models {

/// How many layers the model has; nothing where the file does not say.
std::optional<std::int64_t> LayerCount(const Config& model);

/// "full_attention", "sliding_attention", ... of each layer: as `layer_types`
/// has it, else every `period`-th layer (counted from 1) full and the others
/// sliding; the first of each period if `first`. Empty if nothing tells.
std::vector<std::string> LayerTypes(const Config& model, std::optional<std::int64_t> period,
                                    bool first = false);

/// The layers of one kind, ascending.
std::vector<std::int64_t> LayersOf(const std::vector<std::string>& types, absl::string_view type);

/// The layers that do not turn queries and keys, as no_rope_layers (1: they do)
/// or no_rope_layer_interval say: SmolLM3, Llama 4.
std::vector<std::int64_t> NoRopeLayers(const Config& model);

/// All layers but those.
std::vector<std::int64_t> OtherLayers(const Config& model, const std::vector<std::int64_t>& layers);

}  // namespace phasor::models

#endif  // PHASOR_MODELS_LAYERS_H_
