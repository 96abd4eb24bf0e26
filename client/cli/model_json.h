#ifndef PHASOR_CLIENT_CLI_MODEL_JSON_H_
#define PHASOR_CLIENT_CLI_MODEL_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "phasor/models/model.h"

namespace phasor::cli {

/// The fields of the wire message DescribeModelResponse.
nlohmann::ordered_json ModelJson(const ModelDescription& model);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_MODEL_JSON_H_
