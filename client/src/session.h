#ifndef PHASOR_CLIENT_SRC_SESSION_H_
#define PHASOR_CLIENT_SRC_SESSION_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/time/time.h"
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
        blocks_(options.block_cache_bytes, &counters_),
        connection_(make(&counters_)) {}

  /// A client on a connection of a kind of its own.
  static Client MakeClient(const ClientOptions& options, const MakeConnection& make) {
    return Client(std::make_shared<Session>(options, make));
  }

  Connection& connection() { return *connection_; }
  BlockStore& blocks() { return blocks_; }
  const Counters& counters() const { return counters_; }
  void CountStall() { Count(counters_.stalls); }
  absl::Duration timeout() const { return timeout_; }
  /// Those of a call that begins now.
  CallLimits Limits() const;

 private:
  const absl::Duration timeout_;
  Counters counters_;
  BlockStore blocks_;
  // Last, so that it ends first: its calls in the background end in the store.
  std::unique_ptr<Connection> connection_;
};

/// Checks `options`; INVALID_ARGUMENT naming the field.
absl::Status CheckOptions(const ClientOptions& options);

/// The waits that `options` ask for.
Backoff BackoffOf(const ClientOptions& options);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_SESSION_H_
