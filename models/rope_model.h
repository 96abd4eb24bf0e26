#ifndef PHASOR_MODELS_ROPE_MODEL_H_
#define PHASOR_MODELS_ROPE_MODEL_H_

/// \file
/// Models that turn queries and keys: which tables, on which layers.

#include <string>
#include <vector>

#include "models/config.h"
#include "phasor/models/model.h"

namespace phasor::models {

/// Whether `model` is of a family known here, or has RoPE's keys.
bool IsRopeModel(const Config& model, absl::string_view model_type);

/// Its tables. What is wrong is in model.status() then.
std::vector<ModelTable> RopeTables(const Config& model, absl::string_view model_type,
                                   const ModelOptions& options);

}  // namespace phasor::models

#endif  // PHASOR_MODELS_ROPE_MODEL_H_
