#ifndef PHASOR_CLIENT_SRC_OPEN_TABLE_H_
#define PHASOR_CLIENT_SRC_OPEN_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/src/block_store.h"
#include "client/src/connection.h"
#include "client/src/session.h"

namespace phasor::internal {

/// A table that a session opened.
class OpenTable {
 public:
  OpenTable(std::shared_ptr<Session> session, std::shared_ptr<const TableHandle> handle);

  const TableHandle& handle() const { return *handle_; }
  const CanonicalSpec& spec() const { return handle_->spec(); }
  Session& session() const { return *session_; }

  /// The block that holds the row at `position`, which exists, for who goes on
  /// from there: the blocks that follow are on their way when this returns.
  BlockStore::BlockOr Enter(std::int64_t position) const;

  /// Copies the rows at `positions`, which exist, to `out`, which has their
  /// size, as far as they are in memory. Numbers of the others go to `missing`.
  void CopyKept(absl::Span<const std::int64_t> positions, absl::Span<std::byte> out,
                std::vector<std::size_t>& missing) const;
  /// Sees that blocks that are missed again, or in which several positions are,
  /// are there next time; the one after too, for who walks on.
  void NoteMissing(absl::Span<const std::int64_t> positions) const;

  /// Rows start ... start+count-1, which exist, to `out`, which has their size.
  absl::Status ReadInto(std::int64_t start, std::int64_t count, absl::Span<std::byte> out) const;

 private:
  // Rows from first_position on; rows_per_block_ of them but where the table ends.
  std::shared_ptr<Block> MakeBlock(std::int64_t index, std::int64_t run_length) const;
  BlockStore::BlockOr FetchBlock(std::int64_t index, absl::Time deadline) const;
  BlockKey KeyAt(std::int64_t position) const;
  BlockStore::BlockOr BlockAt(std::int64_t position) const;
  // Sees that what follows a block is on its way, if that came in a run of
  // `run_length`.
  void ReadAhead(std::int64_t index, std::int64_t run_length) const;
  void FetchBlocks(std::int64_t first, std::int64_t count) const;
  void StartRun(const std::shared_ptr<BlockRun>& run) const;

  std::shared_ptr<Session> session_;
  std::shared_ptr<const TableHandle> handle_;
  std::int64_t rows_per_block_;
  std::int64_t last_block_;
  std::int64_t max_run_;  // blocks
  // Row of a block that a sequence that walks by gathers passes when the next
  // block should be on its way.
  std::int64_t mark_;
};

/// A gather's share in one table.
struct TableGather {
  const OpenTable* table;
  absl::Span<const std::int64_t> positions;
  absl::Span<std::byte> out;
};

/// Gathers from tables of one session: from memory, and what is not there at the
/// same time from wherever the rows are made, in one call a table. Arguments are
/// checked.
absl::Status GatherFrom(absl::Span<const TableGather> gathers);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_OPEN_TABLE_H_
