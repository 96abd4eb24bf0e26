#ifndef PHASOR_CLIENT_H_
#define PHASOR_CLIENT_H_

/// \file
/// The way to a server of position tables, or to the same tables without one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "phasor/core/export.h"
#include "phasor/core/spec.h"
#include "phasor/models/model.h"
#include "phasor/table.h"

namespace phasor {

namespace internal {
class Session;
}  // namespace internal

/// What to do when the server does not answer.
enum class Fallback : std::uint8_t {
  kNone,            ///< the call fails
  kComputeLocally,  ///< compute in this process: the same bits
};

struct ClientOptions {
  /// Bound of one call of a method, its retries included. A method that cuts
  /// its work into several calls to the server has this much for all of them.
  absl::Duration timeout = absl::Seconds(10);

  /// kComputeLocally: a call that finds the server unavailable, or waits for
  /// half of `timeout` in vain, is computed in this process, and so are those
  /// after it until the server is back; counted in
  /// ClientCounters::local_fallbacks. For formula and seeded tables; loaded ones
  /// (LearnedTable) need their server.
  Fallback fallback = Fallback::kNone;

  /// Bound of the blocks of rows kept, in bytes, over all tables of the client
  /// and its copies, those on their way ahead of a reader included. What cursors
  /// stand in (one block each) comes on top. Read-ahead has half of it: for s
  /// sequences that are far from each other to never wait, s times 128 KiB at
  /// the least, s times 2 MiB for the fewest calls to the server.
  std::int64_t block_cache_bytes = std::int64_t{64} << 20;

  /// Wait before the first retry of a call that was UNAVAILABLE; it doubles
  /// from retry to retry up to `max_backoff`, and each wait is a random part,
  /// at least half, of that. A longer delay that the server asks for is kept.
  absl::Duration initial_backoff = absl::Milliseconds(50);
  absl::Duration max_backoff = absl::Seconds(1);

  /// Connections to the server, or to each of the servers that the address
  /// stands for; calls use them in turn. One carries about 1 GB/s.
  int connections = 1;

  /// Called when `fallback` begins to compute because the server did not answer
  /// (why: `status`), once until it has answered again; for the log. From the
  /// thread of the call or one of the library's; it may not block or throw.
  std::function<void(const absl::Status& status)> on_fallback = nullptr;
};

/// What a client did so far; numbers only grow.
struct ClientCounters {
  std::int64_t rpcs = 0;             ///< calls to the server, retries included
  std::int64_t retries = 0;          ///< of those, the repeated ones
  std::int64_t local_fallbacks = 0;  ///< calls computed here because no server answered
  std::int64_t block_hits = 0;       ///< blocks of rows found in memory
  std::int64_t block_misses = 0;     ///< blocks of rows that were not, when needed
  std::int64_t blocks_ahead = 0;     ///< blocks of rows fetched before they were needed
  std::int64_t stalls = 0;           ///< calls of Next, small reads, gathers that had to wait
};

/// One table that the server holds.
struct TableInfo {
  std::optional<TableSpec> spec;  ///< absent if very large, or of a scheme unknown here
  std::string fingerprint;
  std::int64_t cached_bytes = 0;
  std::int64_t cached_blocks = 0;
  std::int64_t hits = 0;    ///< look-ups of blocks answered from memory
  std::int64_t misses = 0;  ///< look-ups of blocks that had to be computed
};

/// The server's version, its limits, and what it counts.
struct ServerInfo {
  std::string version;
  std::int64_t numerics_version = 0;   ///< of the bits; EXACT is the same in all
  std::int64_t max_message_bytes = 0;  ///< head included, either way
  std::int64_t max_chunk_bytes = 0;    ///< rows in one message of a stream
  std::int64_t cache_bytes = 0;        ///< bound of the cache
  std::int64_t cached_bytes = 0;       ///< in the cache now
  std::int64_t max_width = 0;
  std::int64_t settled_elements = 0;  ///< so far, whose rounding took wider arithmetic
  std::int64_t costly_elements = 0;   ///< of those, the ones that took arbitrary precision
};

/// What grpc.health.v1 says of a service.
enum class ServingStatus : std::uint8_t { kUnknown, kServing, kNotServing };

/// Opens tables.
///
///     auto client = phasor::Client::Connect("dns:///positions:50051");
///     if (!client.ok()) return client.status();
///     auto table = client->Open(phasor::Sinusoidal{.width = 512});
///
/// **Performance**: copies are cheap and share one connection and the blocks
/// of rows fetched so far. Make one and hand out copies. Where the address
/// resolves to several servers, calls go to each in turn.
///
/// **Thread safety**: all methods may be called concurrently, on the same
/// object or on copies. Tables and cursors may outlive the client.
///
/// **Errors**: UNAVAILABLE is retried with backoff within
/// ClientOptions::timeout, and is the only code that is: UNAVAILABLE or
/// DEADLINE_EXCEEDED at the end of it mean that the call may be made again
/// later. Every other code will not change by repeating the call.
/// FieldOf(status) names the field of the request that was wrong.
class PHASOR_EXPORT Client {
 public:
  /// A client of the server at `address`: `dns:///name:port`, `host:port`,
  /// `unix:PATH`, or several numerical ones, `10.0.0.1:50051,10.0.0.2:50051`.
  /// Plain text; credentials: phasor/grpc.h. Connects when first used, past
  /// any HTTP proxy of the environment.
  ///
  /// **Errors**: INVALID_ARGUMENT (address, or the option's name). A server
  /// that is not there is seen by the first call.
  static absl::StatusOr<Client> Connect(absl::string_view address,
                                        const ClientOptions& options = {});

  /// A client that computes everything in this process and asks no server: the
  /// same bits. `timeout`, `fallback` and backoffs of `options` mean nothing
  /// here.
  static Client Local(const ClientOptions& options = {});

  /// Opens the table that `spec` describes: checks it here, asks the server
  /// for the same one and compares. From then on every call names the table's
  /// fingerprint, so that rows of two tables never mix.
  ///
  /// A LearnedTable that has a name alone is resolved: it is the rows that the
  /// server holds under it now, and Table::spec() says which. Such a table needs
  /// its server: no fallback computes it.
  ///
  /// **Errors**: INVALID_ARGUMENT naming the field (spec.sinusoidal.width ...)
  /// and its value; OUT_OF_RANGE for values that do not fit the element type;
  /// FAILED_PRECONDITION if the server means another table by the same spec;
  /// NOT_FOUND (spec.learned_table.name) if it has none of that name.
  absl::StatusOr<Table> Open(const TableSpec& spec) const;

  /// Opens a table of the model that `config_json`, the text of its config.json,
  /// describes: the one of that name (DescribeModel lists them), or the only one.
  /// The configuration is read in this process, the table asked for as by Open.
  ///
  ///     auto table = client->OpenModel(config_json, "sliding_attention");
  ///
  /// **Errors**: those of DescribeModel, ModelDescription::SpecOf and Open.
  absl::StatusOr<Table> OpenModel(absl::string_view config_json, absl::string_view table = "",
                                  const ModelOptions& options = {}) const;

  /// The tables that the server holds, in order of fingerprint; none for a
  /// local client.
  absl::StatusOr<std::vector<TableInfo>> ListTables() const;

  /// The server's version and limits; of a local client, this library's.
  absl::StatusOr<ServerInfo> GetServerInfo() const;

  /// What the server says of `service`; empty means the server as a whole.
  ///
  /// **Errors**: NOT_FOUND (service) for a name that the server does not know.
  absl::StatusOr<ServingStatus> CheckHealth(absl::string_view service = "") const;

  ClientCounters counters() const;

 private:
  friend class internal::Session;
  explicit Client(std::shared_ptr<internal::Session> session) : session_(std::move(session)) {}

  std::shared_ptr<internal::Session> session_;
};

}  // namespace phasor

#endif  // PHASOR_CLIENT_H_
