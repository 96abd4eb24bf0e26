#include "server/range_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace phasor::server {
namespace {

// Most blocks put into a message on one of gRPC's threads.
constexpr std::int64_t kMaxInlineBlocks = 128;
// Work that takes longer is the pool's.
constexpr absl::Duration kMostShort = absl::Microseconds(50);
// About what a step past the cache takes at most, and blocks made in it: with
// more the next one gets no cheaper.
constexpr absl::Duration kMostStep = absl::Microseconds(200);
constexpr double kMostBlocksAtOnce = 8;

}  // namespace

RangeReader::RangeReader(Backend* backend, RowRange request)
    : backend_(backend),
      spec_(std::move(request.spec)),
      geometry_(*spec_),
      end_(request.start + request.count),
      past_cache_(request.count > backend->cache.limits().cache_bytes / 2 / spec_->row_bytes()),
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

void RangeReader::BeginMessage(std::int64_t max_rows) {
  next_ = message_begin_;
  message_end_ = end_;
  slices_.clear();
  rows_ = nullptr;
  may_cut_ = end_ - next_ > max_rows;
  if (may_cut_) {
    const std::int64_t most = next_ + max_rows;
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

bool RangeReader::TryShort() {
  if (TryCached()) return true;
  if (table() == nullptr || table()->block_time() > kMostShort) return false;
  const std::int64_t index = geometry_.BlockOf(next_);
  if (message_end_ > geometry_.End(index)) return false;
  // Times vary: the pool has it from the beginning if this one takes too long.
  const absl::Time end = absl::Now() + 2 * kMostShort;
  const auto block =
      backend_->cache.Get(table(), index, nullptr, [end] { return absl::Now() > end; });
  if (!block.has_value() || !block->ok()) return false;
  Take(**block);
  return true;
}

absl::StatusOr<Progress> RangeReader::Step(Resume resume, StopRequest stop) {
  // Another call gave up the block that this one waited for: it makes that itself now.
  if (absl::IsCancelled(failure_)) failure_ = absl::OkStatus();
  if (!failure_.ok()) return AfterFailure(std::exchange(failure_, absl::OkStatus()));
  if (arrived_ != nullptr) Take(std::exchange(arrived_, nullptr));
  if (complete()) return Progress::kDone;
  if (table() == nullptr) return opening_.Step(*spec_, &backend_->cache, resume, stop);
  if (rows_ != nullptr) return StepPastCache(stop);
  if (past_cache_) {
    if (TryCached()) return Progress::kDone;
    return StepPastCache(stop);
  }
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

absl::StatusOr<Progress> RangeReader::StepPastCache(StopRequest stop) {
  const std::int64_t row_bytes = spec_->row_bytes();
  const std::int64_t block_rows = geometry_.rows_per_block();
  if (rows_ == nullptr) {
    auto rows = backend_->cache.Allocate((message_end_ - next_) * row_bytes);
    // Rather less than nothing.
    while (!rows.ok() && may_cut_ && message_end_ - next_ > block_rows) {
      message_end_ = next_ + (message_end_ - next_) / 2;
      rows = backend_->cache.Allocate((message_end_ - next_) * row_bytes);
    }
    if (!rows.ok()) return rows.status();
    rows_ = *std::move(rows);
  }
  const auto blocks = static_cast<std::int64_t>(
      std::clamp(absl::FDivDuration(kMostStep, table()->block_time()), 1.0, kMostBlocksAtOnce));
  const std::int64_t count = std::min(message_end_ - next_, blocks * block_rows);
  absl::Status status = table()->ReadInto(
      next_, count,
      rows_->data().subspan(static_cast<std::size_t>((next_ - message_begin_) * row_bytes),
                            static_cast<std::size_t>(count * row_bytes)),
      stop);
  if (!status.ok()) return status;
  next_ += count;
  if (!complete()) return Progress::kAgain;
  slices_.push_back(ShareRows(rows_, rows_->data()));
  rows_ = nullptr;
  return Progress::kDone;
}

absl::StatusOr<Progress> RangeReader::AfterFailure(const absl::Status& status) {
  if (status.code() != absl::StatusCode::kUnavailable || !may_cut_ || next_ == message_begin_) {
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

grpc::ByteBuffer RangeReader::TakeMessage() {
  grpc::ByteBuffer message = EncodeRows(HeadOf(*spec_, message_begin_, next_ - message_begin_),
                                        std::exchange(slices_, {}));
  finished_ = next_ == end_;
  message_begin_ = next_;
  return message;
}

}  // namespace phasor::server
