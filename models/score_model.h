#ifndef PHASOR_MODELS_SCORE_MODEL_H_
#define PHASOR_MODELS_SCORE_MODEL_H_

/// \file
/// Models that bias attention scores: ALiBi, and T5's buckets.

#include <vector>

#include "models/config.h"
#include "phasor/models/model.h"

namespace phasor::models {

/// Whether `model` biases its scores by position.
bool IsScoreModel(const Config& model, absl::string_view model_type);

/// Its tables. What is wrong is in model.status() then.
std::vector<ModelTable> ScoreTables(const Config& model, absl::string_view model_type,
                                    const ModelOptions& options);

}  // namespace phasor::models

#endif  // PHASOR_MODELS_SCORE_MODEL_H_
