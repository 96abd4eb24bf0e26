#ifndef PHASOR_MODELS_ROPE_TABLE_H_
#define PHASOR_MODELS_ROPE_TABLE_H_

/// \file
/// One rotary table of a configuration: what rope_scaling or rope_parameters mean.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/config.h"
#include "models/families.h"
#include "phasor/models/model.h"

namespace phasor::models {

/// Where the parameters of one rotary table stand.
struct RopeSource {
  Config model;                      ///< the language model's part of the file
  std::optional<Config> parameters;  ///< rope_scaling, rope_parameters or one table of it
  const RopeFamily& family;
  double rope_theta;  ///< where the parameters have none
  std::int64_t head_dim;
  /// The rotary width where the configuration says it outright (rotary_dim).
  std::optional<std::int64_t> width = std::nullopt;
};

/// Appends the table; LongRoPE without a length has two, named `_short` and
/// `_long` behind `table.name`. What is wrong is in source.model.status() then.
void AddRotaryTables(const RopeSource& source, const ModelOptions& options, ModelTable table,
                     std::vector<ModelTable>* tables);

}  // namespace phasor::models

#endif  // PHASOR_MODELS_ROPE_TABLE_H_
