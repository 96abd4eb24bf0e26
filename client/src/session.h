#ifndef PHASOR_CLIENT_SRC_SESSION_H_
#define PHASOR_CLIENT_SRC_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/src/block_store.h"
#include "client/src/connection.h"
#include "client/src/counters.h"
#include "client/src/retry.h"
#include "phasor/client.h"

namespace phasor::internal {

/// What a client, its copies and their tables share.
class Session {
 public:
  using MakeConnection = std::function<std::unique_ptr<Connection>(Counters*)>;

  Session(const ClientOptions& options, const MakeConnection& make)
      : timeout_(options.timeout),
        connection_(make(&counters_)),
        blocks_(options.block_cache_bytes, &counters_) {}

  /// A client on a connection of a kind of its own.
  static Client MakeClient(const ClientOptions& options, const MakeConnection& make) {
    return Client(std::make_shared<Session>(options, make));
  }

  Connection& connection() { return *connection_; }
  BlockStore& blocks() { return blocks_; }
  const Counters& counters() const { return counters_; }
  /// Those of a call that begins now.
  CallLimits Limits() const;

 private:
  const absl::Duration timeout_;
  Counters counters_;
  std::unique_ptr<Connection> connection_;
  BlockStore blocks_;
};

/// Checks `options`; INVALID_ARGUMENT naming the field.
absl::Status CheckOptions(const ClientOptions& options);

/// The waits that `options` ask for.
Backoff BackoffOf(const ClientOptions& options);

/// A table that a session opened.
class OpenTable {
 public:
  OpenTable(std::shared_ptr<Session> session, CanonicalSpec spec);

  const TableHandle& handle() const { return handle_; }
  const CanonicalSpec& spec() const { return handle_.spec(); }
  Session& session() const { return *session_; }

  /// Rows in a block; the first block has position 0 as its first row.
  std::int64_t rows_per_block() const { return rows_per_block_; }

  /// The block that holds the row at `position`, which exists.
  BlockStore::BlockOr BlockAt(std::int64_t position) const;

  /// Rows start ... start+count-1, which exist, to `out`, which has their size.
  absl::Status ReadInto(std::int64_t start, std::int64_t count, absl::Span<std::byte> out) const;

 private:
  std::shared_ptr<Session> session_;
  TableHandle handle_;
  std::int64_t rows_per_block_;
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_SESSION_H_
