#ifndef PHASOR_CLIENT_CLI_SPEC_FLAGS_H_
#define PHASOR_CLIENT_CLI_SPEC_FLAGS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/cli/arguments.h"
#include "phasor/core/spec.h"

namespace phasor::cli {

/// The table that the flags describe. Only what flags alone can get wrong is
/// checked here; the values are checked where every table is opened.
///
/// **Errors**: INVALID_ARGUMENT naming the field: a required flag is missing,
/// a text is not a number or word of its kind, a flag is given without the
/// ladder that it belongs to; INTERNAL for a file of frequencies that cannot
/// be read.
absl::StatusOr<TableSpec> SpecFromFlags(const Arguments& arguments);

/// The number of an integer flag, or `absent` where it is not given.
///
/// **Errors**: INVALID_ARGUMENT.
absl::StatusOr<std::int64_t> IntegerFlag(const Arguments& arguments, absl::string_view flag,
                                         std::int64_t absent);

/// The word of --type; FLOAT32 where absent.
///
/// **Errors**: INVALID_ARGUMENT.
absl::StatusOr<ElementType> TypeFlag(const Arguments& arguments);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_SPEC_FLAGS_H_
