#ifndef PHASOR_SERVER_TABLE_OPENING_H_
#define PHASOR_SERVER_TABLE_OPENING_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/block_cache.h"
#include "server/call.h"

namespace phasor::server {

/// How a call comes to its table. One call's own, which it lives as long as;
/// not thread-safe.
class TableOpening {
 public:
  TableOpening() = default;
  TableOpening(const TableOpening&) = delete;

  /// The table, or null as long as the call has none.
  const TablePtr& table() const { return table_; }
  /// Takes the table if it is open.
  void Find(const CanonicalSpec& spec, BlockCache* cache) {
    if (table_ == nullptr) table_ = cache->FindTable(spec);
  }
  /// A step of the call, to be made as long as it has no table. kAgain: it has
  /// one now; kWait: another call is opening it, and `resume` is called. As
  /// UnaryHandler::Step.
  absl::StatusOr<Progress> Step(const CanonicalSpec& spec, BlockCache* cache, Resume resume,
                                StopRequest stop) {
    absl::Status failure = std::exchange(failure_, absl::OkStatus());
    // If the other call gave up, this one opens the table itself now.
    if (!failure.ok() && !absl::IsCancelled(failure)) return failure;
    auto table = cache->Open(
        spec,
        [this, resume](BlockCache::Result<OpenTable> opened) {
          failure_ = opened.status();
          if (opened.ok()) table_ = *std::move(opened);
          resume();
        },
        stop);
    if (!table.has_value()) return Progress::kWait;
    if (!table->ok()) return table->status();
    table_ = **std::move(table);
    return Progress::kAgain;
  }

 private:
  TablePtr table_;
  absl::Status failure_;  // another call's
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_TABLE_OPENING_H_
