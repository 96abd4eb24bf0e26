#ifndef PHASOR_CLIENT_CLI_TEXT_FILE_H_
#define PHASOR_CLIENT_CLI_TEXT_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace phasor::cli {

/// The content of a file; "-" is stdin.
///
/// **Errors**: INTERNAL for a file that cannot be read; INVALID_ARGUMENT for
/// one of more than `most` bytes, which is not read to its end.
absl::StatusOr<std::string> ReadTextFile(const std::string& path, std::size_t most);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_TEXT_FILE_H_
