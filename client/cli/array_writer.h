#ifndef PHASOR_CLIENT_CLI_ARRAY_WRITER_H_
#define PHASOR_CLIENT_CLI_ARRAY_WRITER_H_

/// \file
/// From --output and --format to written rows.

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/cli/arguments.h"
#include "client/cli/formats.h"
#include "client/cli/output.h"

namespace phasor::cli {

/// Where an array goes, and how.
struct Destination {
  std::string path;
  Format format = Format::kCsv;
};

/// The path of --output; "-" where absent.
///
/// **Errors**: INVALID_ARGUMENT for an empty one.
absl::StatusOr<std::string> OutputFlag(const Arguments& arguments);

/// Reads --output and --format.
///
/// **Errors**: INVALID_ARGUMENT.
absl::StatusOr<Destination> DestinationFromFlags(const Arguments& arguments);

/// Writes an array piece by piece, in bounded memory. Nothing is opened or
/// written before the first piece is there.
class ArrayWriter {
 public:
  ArrayWriter(Destination destination, ArrayInfo info);

  /// Writes whole rows.
  ///
  /// **Errors**: as Output.
  absl::Status Write(absl::Span<const std::byte> rows);
  /// Ends the array; a file appears under its name now.
  absl::Status Finish();

 private:
  absl::Status Flush();

  const Destination destination_;
  const ArrayInfo info_;
  std::string pending_;  // at first what stands before the rows
  std::optional<Output> output_;
};

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_ARRAY_WRITER_H_
