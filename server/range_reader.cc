#include "server/range_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/blocks_ahead.h"

namespace phasor::server {
namespace {

// Most blocks put into a message on one of gRPC's threads.
constexpr std::int64_t kMaxInlineBlocks = 128;

}  // namespace

RangeReader::RangeReader(Backend* backend, RowRange request, std::int64_t max_rows)
    : backend_(backend),
      spec_(std::move(request.spec)),
      geometry_(*spec_),
      max_rows_(max_rows),
      end_(request.start + request.count),
      message_begin_(request.start),
      message_end_(request.start),
      next_(request.start) {}

RowsHead RangeReader::HeadOf(const CanonicalSpec& spec, std::int64_t start, std::int64_t count) {
  return {.fingerprint = spec.fingerprint(),
          .start_position = start,
          .row_count = count,
          .row_width = spec.row_width(),
          .element_type = spec.element_type()};
}

void RangeReader::BeginMessage() {
  message_begin_ = next_;
  message_end_ = end_;
  if (end_ - next_ > max_rows_) {
    const std::int64_t most = next_ + max_rows_;
    const std::int64_t aligned = geometry_.Begin(geometry_.BlockOf(most));
    message_end_ = aligned > next_ ? aligned : most;
  }
}

bool RangeReader::TryCached() {
  if (complete()) return true;
  opening_.Find(*spec_, &backend_->cache);
  if (table() == nullptr) return false;
  const std::int64_t first = geometry_.BlockOf(next_);
  const std::int64_t last = geometry_.BlockOf(message_end_ - 1);
  if (last - first >= kMaxInlineBlocks) return false;
  const std::vector<BlockPtr> blocks = backend_->cache.FindBlocks(*table(), first, last);
  for (const BlockPtr& block : blocks) Take(block);
  return complete();
}

absl::StatusOr<Progress> RangeReader::Step(Resume resume, StopRequest stop) {
  // Another call gave up the block that this one waited for: it makes that itself now.
  if (absl::IsCancelled(failure_)) failure_ = absl::OkStatus();
  if (!failure_.ok()) return AfterFailure(std::exchange(failure_, absl::OkStatus()));
  if (arrived_ != nullptr) Take(std::exchange(arrived_, nullptr));
  if (complete()) return Progress::kDone;
  if (table() == nullptr) return opening_.Step(*spec_, &backend_->cache, resume, stop);
  auto block = backend_->cache.Get(
      table(), geometry_.BlockOf(next_),
      [this, resume](BlockCache::Result<Block> made) {
        failure_ = made.status();
        if (made.ok()) arrived_ = *std::move(made);
        resume();
      },
      stop);
  if (!block.has_value()) return Progress::kWait;
  if (!block->ok()) return AfterFailure(block->status());
  Take(**block);
  return complete() ? Progress::kDone : Progress::kAgain;
}

absl::StatusOr<Progress> RangeReader::AfterFailure(const absl::Status& status) {
  const bool may_cut = end_ - message_begin_ > max_rows_;
  if (status.code() != absl::StatusCode::kUnavailable || !may_cut || next_ == message_begin_) {
    return status;
  }
  message_end_ = next_;
  return Progress::kDone;
}

void RangeReader::Take(const BlockPtr& block) {
  const std::int64_t last = std::min(block->end(), message_end_);
  slices_.push_back(ShareRows(block, block->Rows(next_, last)));
  next_ = last;
}

void RangeReader::MakeAhead() {
  if (finished_ || table() == nullptr) return;
  MakeBlocksAhead(backend_, table(), geometry_.BlockOf(next_),
                  geometry_.BlockOf(std::min(end_ - next_, max_rows_) + next_ - 1));
}

grpc::ByteBuffer RangeReader::TakeMessage() {
  finished_ = next_ == end_;
  return EncodeRows(HeadOf(*spec_, message_begin_, next_ - message_begin_),
                    std::exchange(slices_, {}));
}

}  // namespace phasor::server
