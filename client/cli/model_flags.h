#ifndef PHASOR_CLIENT_CLI_MODEL_FLAGS_H_
#define PHASOR_CLIENT_CLI_MODEL_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/arguments.h"
#include "phasor/models/model.h"

namespace phasor::cli {

/// The model whose configuration --config names.
///
/// **Errors**: INVALID_ARGUMENT for flags; INTERNAL for a file that cannot be
/// read; those of DescribeModel.
absl::StatusOr<ModelDescription> ModelFromFlags(const Arguments& arguments);

/// The table of it that --table names. What DescribeModel warns of goes to
/// stderr.
///
/// **Errors**: also those of ModelDescription::SpecOf.
absl::StatusOr<TableSpec> SpecFromConfig(const Arguments& arguments);

/// A table of --config, and what it is easily taken for: the model's other tables,
/// and the same one as other versions of transformers read the configuration.
struct TableAndOthers {
  struct Other {
    std::string words;
    TableSpec spec;
  };
  TableSpec spec;
  std::vector<Other> others;
};
/// **Errors**: those of SpecFromConfig.
absl::StatusOr<TableAndOthers> TableAndOthersFromConfig(const Arguments& arguments);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_MODEL_FLAGS_H_
