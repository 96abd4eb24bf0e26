#ifndef PHASOR_CLIENT_CLI_SPEC_JSON_H_
#define PHASOR_CLIENT_CLI_SPEC_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "phasor/core/spec.h"

namespace phasor::cli {

/// The spec as JSON of the wire message TableSpec (proto3 JSON mapping, field
/// names as in the .proto file, 64-bit integers as numbers) with the defaults
/// filled in.
nlohmann::ordered_json EffectiveSpecJson(const CanonicalSpec& spec);

/// The same of the canonical spec: without the fields that stand at their
/// default.
nlohmann::ordered_json CanonicalSpecJson(const CanonicalSpec& spec);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_SPEC_JSON_H_
