#ifndef PHASOR_CLIENT_CLI_ROWS_DIGEST_H_
#define PHASOR_CLIENT_CLI_ROWS_DIGEST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/progress.h"
#include "phasor/table.h"

namespace phasor::cli {

/// SHA-256 of rows start ... start+count-1, row after row without padding,
/// elements little-endian, as 64 lower-case hex digits (docs/certified-tables.md).
/// Rows are read in pieces; each advances `progress`.
///
/// **Errors**: those of Table::ReadInto.
absl::StatusOr<std::string> RowsDigest(const Table& table, std::int64_t start, std::int64_t count,
                                       Progress& progress);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_ROWS_DIGEST_H_
