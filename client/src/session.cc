#include "client/src/session.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "phasor/core/errors.h"

namespace phasor::internal {
namespace {

// A block is at least kMinBlockBytes and at least kMinBlockRows rows, within
// kMaxBlockBytes: a row of 2 KiB is fetched 32 at a time, one of 16 KiB 16.
constexpr std::int64_t kMinBlockBytes = std::int64_t{64} << 10;
constexpr std::int64_t kMaxBlockBytes = std::int64_t{1} << 20;
constexpr std::int64_t kMinBlockRows = 16;

std::int64_t RowsPerBlock(std::int64_t row_bytes) {
  const std::int64_t bytes = std::clamp(kMinBlockRows * row_bytes, kMinBlockBytes, kMaxBlockBytes);
  return std::max<std::int64_t>(1, bytes / row_bytes);
}

std::int64_t FloorDivide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

absl::Status CheckOptions(const ClientOptions& options) {
  const auto bad = [](absl::string_view field, const auto& value, absl::string_view need) {
    return FieldError(absl::StatusCode::kInvalidArgument, field, absl::StrCat(value, need));
  };
  const absl::Duration zero = absl::ZeroDuration();
  if (options.timeout <= zero) {
    return bad("timeout", absl::FormatDuration(options.timeout), " is not positive");
  }
  if (options.block_cache_bytes < 0) {
    return bad("block_cache_bytes", options.block_cache_bytes, " is negative");
  }
  if (options.initial_backoff <= zero) {
    return bad("initial_backoff", absl::FormatDuration(options.initial_backoff),
               " is not positive");
  }
  if (options.max_backoff < options.initial_backoff) {
    return bad("max_backoff", absl::FormatDuration(options.max_backoff),
               " is less than initial_backoff");
  }
  return absl::OkStatus();
}

Backoff BackoffOf(const ClientOptions& options) {
  return Backoff{options.initial_backoff, options.max_backoff};
}

CallLimits Session::Limits() const { return CallLimits{absl::Now() + timeout_}; }

OpenTable::OpenTable(std::shared_ptr<Session> session, CanonicalSpec spec)
    : session_(std::move(session)),
      handle_(std::move(spec)),
      rows_per_block_(RowsPerBlock(handle_.spec().row_bytes())) {}

BlockStore::BlockOr OpenTable::BlockAt(std::int64_t position) const {
  const BlockKey key{spec().digest(), FloorDivide(position, rows_per_block_)};
  return session_->blocks().Get(key, [&]() -> BlockStore::BlockOr {
    // The table's ends cut its first and its last block.
    const std::int64_t first = std::max(spec().first_position(), key.index * rows_per_block_);
    const std::int64_t last =
        std::min(spec().last_position(), key.index * rows_per_block_ + (rows_per_block_ - 1));
    auto block = std::make_shared<Block>();
    block->first_position = first;
    block->row_count = last - first + 1;
    block->size = static_cast<std::size_t>(block->row_count * spec().row_bytes());
    block->data.reset(new std::byte[block->size]);
    const absl::Status status = session_->connection().Read(
        handle_, first, block->row_count, {block->data.get(), block->size}, session_->Limits());
    if (!status.ok()) return status;
    return block;
  });
}

absl::Status OpenTable::ReadInto(std::int64_t start, std::int64_t count,
                                 absl::Span<std::byte> out) const {
  if (count > rows_per_block_) {
    return session_->connection().Read(handle_, start, count, out, session_->Limits());
  }
  const std::int64_t row_bytes = spec().row_bytes();
  std::byte* to = out.data();
  const std::int64_t end = start + count;
  for (std::int64_t position = start; position < end;) {
    const BlockStore::BlockOr block = BlockAt(position);
    if (!block.ok()) return block.status();
    const std::int64_t skip = position - (*block)->first_position;
    const std::int64_t rows = std::min(end - position, (*block)->row_count - skip);
    const auto bytes = static_cast<std::size_t>(rows * row_bytes);
    std::memcpy(to, (*block)->data.get() + skip * row_bytes, bytes);
    to += bytes;
    position += rows;
  }
  return absl::OkStatus();
}

}  // namespace phasor::internal
