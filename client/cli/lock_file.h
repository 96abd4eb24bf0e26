#ifndef PHASOR_CLIENT_CLI_LOCK_FILE_H_
#define PHASOR_CLIENT_CLI_LOCK_FILE_H_

/// \file
/// positions.lock: what the position tables of a model are, for others to compare
/// with. docs/lock.md describes the file.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "phasor/core/spec.h"
#include "phasor/models/model.h"

namespace phasor::cli {

inline constexpr std::size_t kMaxLockBytes = std::size_t{4} << 20;

/// The rows that a digest is of.
struct LockedRows {
  std::int64_t start = 0;
  std::int64_t count = 0;
  std::string sha256;
};

struct LockedTable {
  std::string name;
  /// None for a table whose values are in a checkpoint.
  std::optional<CanonicalSpec> spec;
  LockedRows rows;                ///< of tables with a spec
  std::string fingerprint;        ///< as the file has it
  nlohmann::ordered_json fields;  ///< all but the rows
};

struct Lock {
  /// As flags of `phasor describe` would say it: how the configuration was read.
  std::vector<std::string> reading;
  std::string model_type;
  std::vector<LockedTable> tables;
};

/// The rows of a table that a lock has the digest of, `count` positions from 0 on,
/// or as many as there are; of relative buckets the distances in both directions.
LockedRows RowsToLock(const CanonicalSpec& spec, std::int64_t count);

/// The lock of a model as it was read by the flags of `arguments`, without digests.
Lock LockOf(const ModelDescription& model, const Arguments& arguments, std::int64_t count);

/// The file's text.
std::string LockText(const Lock& lock);

/// Reads such a text, which is not trusted.
///
/// **Errors**: INVALID_ARGUMENT naming table and field.
absl::StatusOr<Lock> ParseLock(absl::string_view text);

/// A field that two locks have different values for; an absent one is empty.
struct LockDifference {
  std::string field;  ///< "tables.rotary.spec.rotary.base"
  std::string locked;
  std::string found;
};

/// Compares all but the rows.
std::vector<LockDifference> CompareLocks(const Lock& locked, const Lock& found);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_LOCK_FILE_H_
