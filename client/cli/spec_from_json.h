#ifndef PHASOR_CLIENT_CLI_SPEC_FROM_JSON_H_
#define PHASOR_CLIENT_CLI_SPEC_FROM_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"
#include "phasor/core/spec.h"

namespace phasor::cli {

/// Reads what CanonicalSpecJson writes. The text is not trusted.
///
/// **Errors**: INVALID_ARGUMENT (the field's path, spec.rotary.width) for what is
/// no canonical spec: an unknown field or word, a value of another kind, a default
/// that is written out; those of CanonicalSpec::Create.
absl::StatusOr<CanonicalSpec> SpecFromJson(const nlohmann::ordered_json& json);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_SPEC_FROM_JSON_H_
