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
class RangeReader {
 public:
  /// The rows of `request`. A message holds at most `max_rows` of them, at least
  /// 1; a message that is not the last one ends where a block ends, if that
  /// leaves it any rows.
  RangeReader(Backend* backend, RowRange request, std::int64_t max_rows);
  RangeReader(const RangeReader&) = delete;

  /// The head of a message of `count` rows.
  static RowsHead HeadOf(const CanonicalSpec& spec, std::int64_t start, std::int64_t count);

  /// Begins the next message.
  void BeginMessage();
  /// Completes the message if that takes look-ups alone.
  bool TryCached();
  /// One step towards the message; kDone when it is complete. As
  /// UnaryHandler::Step. When memory for more rows is lacking, a message that
  /// has some already is complete with those.
  absl::StatusOr<Progress> Step(Resume resume, StopRequest stop);
  /// The message, once complete.
  grpc::ByteBuffer TakeMessage();
  /// To be called after TakeMessage, while the message is being sent: has what
  /// the next one needs made, if there is one.
  void MakeAhead();
  /// Whether the last message was taken.
  bool finished() const { return finished_; }

 private:
  const TablePtr& table() const { return opening_.table(); }
  bool complete() const { return next_ == message_end_; }
  void Take(const BlockPtr& block);
  absl::StatusOr<Progress> AfterFailure(const absl::Status& status);

  Backend* const backend_;
  const std::shared_ptr<const CanonicalSpec> spec_;
  const BlockGeometry geometry_;
  const std::int64_t max_rows_;
  const std::int64_t end_;

  std::int64_t message_begin_;
  std::int64_t message_end_;
  std::int64_t next_;  // the first row that is not in slices_
  std::vector<grpc::Slice> slices_;
  bool finished_ = false;

  TableOpening opening_;
  // The block that another call made for this one, or why it did not.
  BlockPtr arrived_;
  absl::Status failure_;
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_RANGE_READER_H_
