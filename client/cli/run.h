#ifndef PHASOR_CLIENT_CLI_RUN_H_
#define PHASOR_CLIENT_CLI_RUN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace phasor::cli {

/// The exit status that an error means: 2 for what the request got wrong, 1
/// for all else, 0 for none.
int ExitStatus(const absl::Status& status);

/// Runs the tool: `words` is the command line without the tool's name. Data
/// goes to stdout or --output; an error is one line on stderr. Returns the
/// exit status.
int RunTool(const std::vector<std::string>& words);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_RUN_H_
