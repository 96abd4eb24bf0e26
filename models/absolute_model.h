#ifndef PHASOR_MODELS_ABSOLUTE_MODEL_H_
#define PHASOR_MODELS_ABSOLUTE_MODEL_H_

/// \file
/// Models that add rows to their embeddings: sinusoidal ones and learned ones.

#include <vector>

#include "models/config.h"
#include "phasor/models/model.h"

namespace phasor::models {

/// Whether `model` adds rows, by its type.
bool IsAbsoluteModel(const Config& model, absl::string_view model_type);

/// Its tables. What is wrong is in model.status() then.
std::vector<ModelTable> AbsoluteTables(const Config& model, absl::string_view model_type,
                                       const ModelOptions& options);

}  // namespace phasor::models

#endif  // PHASOR_MODELS_ABSOLUTE_MODEL_H_
