#ifndef PHASOR_CLIENT_CLI_OUTPUT_H_
#define PHASOR_CLIENT_CLI_OUTPUT_H_

/// \file
/// Where a verb's data goes: stdout, or a file that appears whole or not at all.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace phasor::cli {

/// An output being written. A regular file is written beside its final place,
/// under a temporary name, and takes that place in Commit(); without Commit()
/// (an error, or SIGINT, SIGTERM or SIGHUP) nothing of it is left. A path that
/// is a device, a pipe or a socket is written to directly, as is stdout.
///
/// **Errors**: INTERNAL, naming the path and the system's reason. Where
/// IsReaderGone() there is nobody to complain to.
///
/// **Thread safety**: none; one regular file at a time in a process.
class Output {
 public:
  /// Opens `path`; "-" is stdout.
  static absl::StatusOr<Output> Open(absl::string_view path);

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  absl::Status Write(absl::string_view bytes);
  /// Ends the output. No call may follow.
  absl::Status Commit();

 private:
  Output(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  absl::Status Failed(absl::string_view doing) const;

  int descriptor_;         // -1 once closed
  std::string path_;       // final place; "-" for stdout
  std::string temporary_;  // where it is written; empty if written directly
};

/// Whether an error of Output means that the reader of a pipe has gone.
bool IsReaderGone(const absl::Status& status);

/// Whether stdout, or stderr, is a terminal.
bool StdoutIsTerminal();
bool StderrIsTerminal();

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_OUTPUT_H_
