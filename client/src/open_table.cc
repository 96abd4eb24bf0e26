#include "client/src/open_table.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

namespace phasor::internal {
namespace {

// A block is at least kMinBlockBytes and at least kMinBlockRows rows, within
// kMaxBlockBytes: a row of 2 KiB is fetched 32 at a time, one of 16 KiB 16.
constexpr std::int64_t kMinBlockBytes = std::int64_t{64} << 10;
constexpr std::int64_t kMaxBlockBytes = std::int64_t{1} << 20;
constexpr std::int64_t kMinBlockRows = 16;
// Runs of blocks read ahead double from 2 blocks to this. A reader of rows of
// 2 KiB then makes two calls per 1000 rows.
constexpr std::int64_t kMaxRunBytes = std::int64_t{1} << 20;

std::int64_t RowsPerBlock(std::int64_t row_bytes) {
  const std::int64_t bytes = std::clamp(kMinBlockRows * row_bytes, kMinBlockBytes, kMaxBlockBytes);
  return std::max<std::int64_t>(1, bytes / row_bytes);
}

std::int64_t FloorDivide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

OpenTable::OpenTable(std::shared_ptr<Session> session, std::shared_ptr<const TableHandle> handle)
    : session_(std::move(session)),
      handle_(std::move(handle)),
      rows_per_block_(RowsPerBlock(handle_->spec().row_bytes())),
      last_block_(FloorDivide(handle_->spec().last_position(), rows_per_block_)) {}

std::shared_ptr<Block> OpenTable::MakeBlock(std::int64_t index, std::int64_t run_length) const {
  // The table's ends cut its first and its last block.
  const std::int64_t first = std::max(spec().first_position(), index * rows_per_block_);
  const std::int64_t last =
      std::min(spec().last_position(), index * rows_per_block_ + (rows_per_block_ - 1));
  auto block = std::make_shared<Block>();
  block->first_position = first;
  block->row_count = last - first + 1;
  block->size = static_cast<std::size_t>(block->row_count * spec().row_bytes());
  block->run_length = run_length;
  block->data.reset(new std::byte[block->size]);
  return block;
}

BlockStore::BlockOr OpenTable::FetchBlock(std::int64_t index, absl::Time deadline) const {
  const std::shared_ptr<Block> block = MakeBlock(index, /*run_length=*/1);
  const absl::Status status =
      session_->connection().Read(*handle_, block->first_position, block->row_count,
                                  {block->data.get(), block->size}, CallLimits{deadline});
  if (!status.ok()) return status;
  return block;
}

BlockKey OpenTable::KeyAt(std::int64_t position) const {
  return BlockKey{spec().digest(), FloorDivide(position, rows_per_block_)};
}

BlockStore::BlockOr OpenTable::BlockAt(std::int64_t position) const {
  const BlockKey key = KeyAt(position);
  return session_->blocks().Get(key, session_->timeout(), [&](absl::Time deadline) {
    return FetchBlock(key.index, deadline);
  });
}

BlockStore::BlockOr OpenTable::Enter(std::int64_t position) const {
  const BlockKey key = KeyAt(position);
  BlockStore::BlockOr block =
      session_->blocks().Get(key, session_->timeout(), [&](absl::Time deadline) {
        // Before the block itself: its last rows may be all that is wanted of it.
        ReadAhead(key.index, /*run_length=*/1);
        return FetchBlock(key.index, deadline);
      });
  if (block.ok()) ReadAhead(key.index, (*block)->run_length);
  return block;
}

void OpenTable::ReadAhead(std::int64_t index, std::int64_t run_length) const {
  if (!session_->connection().ReadsAhead()) return;
  const std::int64_t block_bytes = rows_per_block_ * spec().row_bytes();
  const std::int64_t max_run = std::max<std::int64_t>(1, kMaxRunBytes / block_bytes);
  std::shared_ptr<BlockRun> run = session_->blocks().Claim(
      spec().digest(), {.first = index + 1,
                        .horizon = std::max<std::int64_t>(1, run_length / 2),
                        .count = std::min(2 * run_length, max_run),
                        .last = last_block_,
                        .block_bytes = static_cast<std::size_t>(block_bytes)});
  if (run != nullptr) StartRun(std::move(run));
}

void OpenTable::StartRun(std::shared_ptr<BlockRun> run) const {
  std::vector<std::shared_ptr<const Block>> blocks;
  Parts parts;
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < run->count; ++i) {
    std::shared_ptr<Block> block = MakeBlock(run->first + i, run->count);
    parts.emplace_back(block->data.get(), block->size);
    rows += block->row_count;
    blocks.push_back(std::move(block));
  }
  const std::int64_t start = blocks.front()->first_position;
  BlockStore* const store = &session_->blocks();
  // Half of a call's time, so that who waits for it in vain has as much left.
  const absl::Time deadline = absl::Now() + session_->timeout() / 2;
  session_->connection().StartRead(
      handle_, start, rows, std::move(parts), deadline,
      [store, run, blocks = std::move(blocks)](const absl::Status& status) {
        if (status.ok()) {
          store->Finish(run, blocks);
        } else {
          store->Finish(run, status);
        }
      });
}

absl::Status OpenTable::ReadInto(std::int64_t start, std::int64_t count,
                                 absl::Span<std::byte> out) const {
  if (count > rows_per_block_) {
    return session_->connection().Read(*handle_, start, count, out, session_->Limits());
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
