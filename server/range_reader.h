#ifndef PHASOR_SERVER_RANGE_READER_H_
#define PHASOR_SERVER_RANGE_READER_H_

/// \file
/// Reads a range of rows for one call, message by message, block by block.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "phasor/core/spec.h"
#include "server/call.h"
#include "server/range_request.h"
#include "server/rows_message.h"
#include "server/table_opening.h"

namespace phasor::server {

/// The rows of a range, in messages of whole rows that share the memory of the
/// cache's blocks. One call's own; not thread-safe.
///
/// A range larger than half the cache is made past it, as far as it is not
/// there: it would put out what others read, and the next one to read it would
/// find nothing of it. Many rows made at once are made faster, too.
class RangeReader {
 public:
  RangeReader(Backend* backend, RowRange request);
  RangeReader(const RangeReader&) = delete;

  /// The head of a message of `count` rows.
  static RowsHead HeadOf(const CanonicalSpec& spec, std::int64_t start, std::int64_t count);

  /// Begins the message after the last one taken, with nothing of one that was
  /// begun before. It holds at most `max_rows` rows, at least 1; if
  /// it is not the last one it ends where a block ends, if that leaves it any.
  void BeginMessage(std::int64_t max_rows);
  /// Completes the message if that takes look-ups alone.
  bool TryCached();
  /// Completes the message if that takes no more than making one block, of a
  /// table whose blocks take no time worth a change of threads.
  bool TryShort();
  /// One step towards the message; kDone when it is complete. As
  /// UnaryHandler::Step. When memory for more rows is lacking, a message that
  /// has some already is complete with those.
  absl::StatusOr<Progress> Step(Resume resume, StopRequest stop);
  /// The message, once complete.
  grpc::ByteBuffer TakeMessage();
  /// Whether the last message was taken.
  bool finished() const { return finished_; }

 private:
  const TablePtr& table() const { return opening_.table(); }
  bool complete() const { return next_ == message_end_; }
  void Take(const BlockPtr& block);
  absl::StatusOr<Progress> AfterFailure(const absl::Status& status);
  absl::StatusOr<Progress> StepPastCache(StopRequest stop);

  Backend* const backend_;
  const std::shared_ptr<const CanonicalSpec> spec_;
  const BlockGeometry geometry_;
  const std::int64_t end_;
  const bool past_cache_;

  std::int64_t message_begin_;
  std::int64_t message_end_;
  bool may_cut_ = false;  // there is a next message
  std::int64_t next_;     // the first row that is not in slices_
  RowSlices slices_;
  std::shared_ptr<RowBuffer> rows_;  // of the message, if it is made past the cache
  bool finished_ = false;

  TableOpening opening_;
  // The block that another call made for this one, or why it did not.
  BlockPtr arrived_;
  absl::Status failure_;
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_RANGE_READER_H_
