#ifndef PHASOR_CLIENT_CLI_VERBS_H_
#define PHASOR_CLIENT_CLI_VERBS_H_

/// \file
/// What each verb does. All read their flags first, so that a wrong flag is
/// told without asking a server, and write nothing before the first answer.
///
/// **Errors**: those of phasor::Client and phasor::Table, about the request;
/// INVALID_ARGUMENT for a flag's text; those of Output.

#include "absl/status/status.h"
#include "client/cli/arguments.h"

namespace phasor::cli {

/// rows, export: a range, read in pieces.
absl::Status RunRows(const Arguments& arguments);
/// gather: rows at given positions. All positions are checked before the
/// first row is written.
absl::Status RunGather(const Arguments& arguments);
/// freqs: the ladder.
absl::Status RunFreqs(const Arguments& arguments);
/// shift: the rows of an .npy file, moved on.
absl::Status RunShift(const Arguments& arguments);
/// table: what the flags mean, as JSON.
absl::Status RunTable(const Arguments& arguments);
/// describe: a model's tables, as JSON. Asks no server.
absl::Status RunDescribe(const Arguments& arguments);
/// lock: a model's tables, as positions.lock. Asks no server.
absl::Status RunLock(const Arguments& arguments);
/// verify: whether tables are still those of a lock. A line a table, or a field
/// that differs, on stdout.
///
/// **Errors**: FAILED_PRECONDITION, after that, if anything differs.
absl::Status RunVerify(const Arguments& arguments);
/// diagnose: which wrong table an .npy file holds. Asks no server.
///
/// **Errors**: FAILED_PRECONDITION, after the diagnosis was written, unless the
/// table is exact.
absl::Status RunDiagnose(const Arguments& arguments);
/// plot: a picture.
absl::Status RunPlot(const Arguments& arguments);
/// tables, info: what the server holds and is.
absl::Status RunTables(const Arguments& arguments);
absl::Status RunInfo(const Arguments& arguments);
/// health: the server's word.
///
/// **Errors**: UNKNOWN, after the word was written, unless it serves.
absl::Status RunHealth(const Arguments& arguments);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_VERBS_H_
