#ifndef PHASOR_MODELS_FAMILIES_H_
#define PHASOR_MODELS_FAMILIES_H_

/// \file
/// Model types that turn queries and keys, and their defaults.

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/models/model.h"

namespace phasor::models {

/// What transformers 5.16 has in a model's classes where its config.json is silent.
struct RopeFamily {
  absl::string_view model_type;
  TableUse use = TableUse::kRotateHalves;
  double rope_theta = 10000;
  double partial_rotary_factor = 1;
  /// Its rope_type "default" takes no notice of partial_rotary_factor since 5.0.
  bool plain = true;
};

/// The family of `model_type`; nullptr for one not known.
const RopeFamily* FindRopeFamily(absl::string_view model_type);
/// All of them, in order of name.
absl::Span<const RopeFamily> RopeFamilies();

}  // namespace phasor::models

#endif  // PHASOR_MODELS_FAMILIES_H_
