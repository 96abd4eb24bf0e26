#ifndef PHASOR_CLIENT_SRC_CONNECTION_H_
#define PHASOR_CLIENT_SRC_CONNECTION_H_

/// \file
/// The one seam of the client library: above it tables, cursors and modules,
/// below it whoever makes the rows. Tests put a fake here.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "phasor/client.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"

namespace phasor::internal {

/// A table as connections see it.
class TableHandle {
 public:
  explicit TableHandle(CanonicalSpec spec)
      : spec_(std::move(spec)), fingerprint_(spec_.fingerprint()) {}

  const CanonicalSpec& spec() const { return spec_; }
  const std::string& fingerprint() const { return fingerprint_; }

  /// The table computed here; made when first asked for.
  const LocalTable& local() const {
    absl::call_once(local_once_, [this] { local_ = LocalTable::Create(spec_); });
    return *local_;
  }

 private:
  CanonicalSpec spec_;
  std::string fingerprint_;
  mutable absl::once_flag local_once_;
  mutable std::shared_ptr<const LocalTable> local_;
};

/// How long a call may take, and whether it may be repeated.
struct CallLimits {
  absl::Time deadline;
  bool retry = true;
};

/// Memory in parts, that of a long range of rows; the parts need not be whole
/// rows.
using Parts = std::vector<absl::Span<std::byte>>;

using Positions = std::variant<absl::Span<const std::int64_t>, absl::Span<const double>>;

/// Rows to be gathered: one position a row of `out`, or as many as the table has
/// axes.
struct GatherJob {
  const TableHandle* table;
  Positions positions;
  absl::Span<std::byte> out;
};

/// Whoever makes the rows. Arguments are checked: ranges and positions exist,
/// `out` has the size of what was asked for. After an error `out` is
/// unspecified.
///
/// **Thread safety**: all methods may be called concurrently.
class Connection {
 public:
  virtual ~Connection() = default;

  /// The spec of the rows that the other side holds under the name of `table`
  /// now; NOT_FOUND (spec.learned_table.name) if it holds none.
  virtual absl::StatusOr<CanonicalSpec> Resolve(const LearnedTable& table, ElementType type,
                                                CallLimits limits);
  /// Whether the other side means the same table; FAILED_PRECONDITION if not.
  virtual absl::Status Open(const TableHandle& table, CallLimits limits) = 0;
  virtual absl::Status Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                            absl::Span<std::byte> out, CallLimits limits) = 0;

  /// Whether reading ahead is of use now: it hides a wait, and may work.
  virtual bool ReadsAhead() = 0;
  /// Begins a Read in the background, once, without retries. `done` is called
  /// when it has ended, from another thread or from within this call, and
  /// `parts` have to stay until then. The connection's end ends it.
  virtual void StartRead(std::shared_ptr<const TableHandle> table, std::int64_t start,
                         std::int64_t count, Parts parts, absl::Time deadline,
                         std::function<void(absl::Status)> done) = 0;

  /// All of `jobs`, at the same time.
  virtual absl::Status Gather(absl::Span<const GatherJob> jobs, CallLimits limits) = 0;
  virtual absl::Status Shift(const TableHandle& table, ShiftBy by, absl::Span<const std::byte> rows,
                             absl::Span<std::byte> out, CallLimits limits) = 0;
  virtual absl::StatusOr<std::vector<double>> Frequencies(const TableHandle& table,
                                                          CallLimits limits) = 0;
  virtual absl::StatusOr<std::vector<TableInfo>> ListTables(CallLimits limits) = 0;
  virtual absl::StatusOr<ServerInfo> GetServerInfo(CallLimits limits) = 0;
  virtual absl::StatusOr<ServingStatus> CheckHealth(absl::string_view service,
                                                    CallLimits limits) = 0;

  /// Whether a call has somewhere to go; starts to connect if not, and does not
  /// wait for it.
  virtual bool Reachable() = 0;
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_CONNECTION_H_
