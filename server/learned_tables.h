#ifndef PHASOR_SERVER_LEARNED_TABLES_H_
#define PHASOR_SERVER_LEARNED_TABLES_H_

/// \file
/// Learned tables that the server loaded from checkpoints, by name.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "checkpoint/position_table.h"
#include "checkpoint/safetensors_file.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"

namespace phasor::server {

/// One table to load: --table=NAME=PATH[#TENSOR][,row_offset=N].
struct TableSource {
  std::string name;
  std::string path;
  std::string tensor;  ///< empty: found by its name's end
  std::optional<std::int64_t> row_offset;
  bool operator==(const TableSource&) const = default;
};

/// Reads the value of --table. A path that holds '#' or ",row_offset=" is not
/// to be had.
///
/// **Errors**: INVALID_ARGUMENT.
absl::StatusOr<TableSource> ParseTableSource(absl::string_view text);

/// Where tables come from.
struct TableSources {
  std::vector<TableSource> tables;
  /// Each of its files NAME.safetensors is the table NAME; empty: none.
  std::string directory;
  bool empty() const { return tables.empty() && directory.empty(); }
};

/// A loaded table.
struct LoadedTable {
  TableSource source;
  checkpoint::PositionTable rows;

  LearnedTable scheme() const {
    return {source.name, rows.content_sha256, rows.max_positions, rows.width};
  }
};

/// The tables. Immutable each; all are replaced together or none is.
///
/// **Thread safety**: thread-safe, but for Load, Reload and Poll, which are for
/// one thread.
class LearnedTables {
 public:
  /// What a reload did.
  struct Reloaded {
    std::vector<std::shared_ptr<const LoadedTable>> gone;  ///< held no more: replaced, or removed
    std::vector<std::shared_ptr<const LoadedTable>> come;
  };

  /// No tables.
  LearnedTables() = default;
  explicit LearnedTables(TableSources sources) : sources_(std::move(sources)) {}
  LearnedTables(const LearnedTables&) = delete;

  /// Loads all sources anew. A table whose rows are the same as before is the
  /// one before.
  ///
  /// **Errors**: those of LoadPositionTable; INVALID_ARGUMENT for a file name
  /// that is no table's, or a name that comes twice; NOT_FOUND for a directory
  /// without tables; UNAVAILABLE. The tables are then as they were.
  absl::StatusOr<Reloaded> Reload() ABSL_LOCKS_EXCLUDED(mutex_);
  /// Whether the files are others than at the last Reload, and the same as at
  /// the last call of this: not being written any more, as it seems.
  bool ShouldReload();

  /// Fills in what is held under the name of a table, and compares with it what
  /// is filled in already.
  ///
  /// **Errors** (spec.learned_table.*): INVALID_ARGUMENT for a name that is
  /// none; NOT_FOUND; FAILED_PRECONDITION for rows that are not held (now);
  /// (spec.element_type) OUT_OF_RANGE for a type that is too narrow for a number
  /// of the rows, naming its row and column.
  absl::Status Resolve(ElementType type, LearnedTable* table) const ABSL_LOCKS_EXCLUDED(mutex_);
  /// The rows of a LearnedTable.
  ///
  /// **Errors**: as Resolve.
  absl::StatusOr<std::shared_ptr<const LocalTable>> Open(CanonicalSpec spec) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  /// Null if none has the name.
  std::shared_ptr<const LoadedTable> Find(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mutex_);
  /// All, in order of name.
  std::vector<std::shared_ptr<const LoadedTable>> All() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using ByName = std::map<std::string, std::shared_ptr<const LoadedTable>, std::less<>>;
  using Versions = std::map<std::string, checkpoint::FileVersion>;

  absl::StatusOr<std::vector<TableSource>> ListSources() const;
  Versions LookAt(const absl::StatusOr<std::vector<TableSource>>& sources) const;

  const TableSources sources_{};
  // Of the thread that reloads.
  Versions loaded_versions_;
  Versions seen_versions_;

  mutable absl::Mutex mutex_;
  ByName tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_LEARNED_TABLES_H_
