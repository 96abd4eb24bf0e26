#ifndef PHASOR_CLIENT_CLI_CONNECTION_H_
#define PHASOR_CLIENT_CLI_CONNECTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/arguments.h"
#include "phasor/client.h"
#include "phasor/core/spec.h"
#include "phasor/table.h"

namespace phasor::cli {

/// The address of --server, of PHASOR_SERVER, or the default.
std::string ServerAddress(const Arguments& arguments);

/// Why there is no answer from the server, and what to do, in one line for
/// people; empty if `status` is not about that. `message` is what `status` says.
std::string ExplainNoAnswer(const Arguments& arguments, const absl::Status& status,
                            absl::string_view message);

/// The client that --local, --server and --timeout ask for.
///
/// **Errors**: INVALID_ARGUMENT for a timeout or an address that is none.
absl::StatusOr<Client> ClientFromFlags(const Arguments& arguments);

/// The table that `spec` means, opened by that client.
///
/// **Errors**: also those of Client::Open.
absl::StatusOr<Table> OpenTable(const Arguments& arguments, const TableSpec& spec);
/// The same of the table that the flags describe.
absl::StatusOr<Table> OpenTable(const Arguments& arguments);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_CONNECTION_H_
