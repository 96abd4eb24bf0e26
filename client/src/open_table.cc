#include "client/src/open_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
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
// Runs of blocks read ahead double from 1 block to this. A reader of rows of
// 2 KiB then makes two calls per 1000 rows.
constexpr std::int64_t kMaxRunBytes = std::int64_t{1} << 20;
// The second block of a sequence is waited for with the first for so long.
constexpr absl::Duration kMaxWaitForSecond = absl::Milliseconds(250);
// Rows that a gather looks up under one lock.
constexpr std::size_t kLookedUpAtOnce = 64;
// A block in which a gather misses so many rows is fetched without being missed
// again; of so many blocks at the most.
constexpr std::size_t kRowsWorthABlock = 4;
constexpr std::size_t kMaxBlocksOfAGather = 256;

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
      last_block_(FloorDivide(handle_->spec().last_position(), rows_per_block_)),
      max_run_(std::max<std::int64_t>(
          1, kMaxRunBytes / (rows_per_block_ * handle_->spec().row_bytes()))),
      mark_(rows_per_block_ - std::max<std::int64_t>(1, rows_per_block_ / 4)) {}

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
  bool fetched = false;
  BlockStore::BlockOr block =
      session_->blocks().Get(key, session_->timeout(), [&](absl::Time deadline) {
        fetched = true;
        // Before the block itself: its last rows may be all that is wanted of it.
        FetchBlocks(key.index + 1, 1);
        return FetchBlock(key.index, deadline);
      });
  if (!block.ok()) return block;
  ReadAhead(key.index, (*block)->run_length);
  // Who begins in the latter half of a block waits for two now rather than twice.
  if (fetched && position - (*block)->first_position >= rows_per_block_ / 2) {
    session_->blocks().AwaitFlight({key.digest, key.index + 1}, kMaxWaitForSecond);
  }
  return block;
}

void OpenTable::ReadAhead(std::int64_t index, std::int64_t run_length) const {
  if (!session_->connection().ReadsAhead()) return;
  const std::shared_ptr<BlockRun> run = session_->blocks().Claim(
      spec().digest(),
      {.first = index + 1,
       .horizon = std::max<std::int64_t>(1, run_length / 2),
       .count = std::min(2 * run_length, max_run_),
       .last = last_block_,
       .block_bytes = static_cast<std::size_t>(rows_per_block_ * spec().row_bytes())});
  if (run != nullptr) StartRun(run);
}

void OpenTable::FetchBlocks(std::int64_t first, std::int64_t count) const {
  if (!session_->connection().ReadsAhead()) return;
  const std::int64_t end = first + count;
  while (first < end) {
    const std::shared_ptr<BlockRun> run = session_->blocks().Claim(
        spec().digest(),
        {.first = first,
         .horizon = end - first,
         .count = std::min(end - first, max_run_),
         .last = last_block_,
         .block_bytes = static_cast<std::size_t>(rows_per_block_ * spec().row_bytes())});
    if (run == nullptr) return;
    first = run->first + run->count;
    StartRun(run);
  }
}

void OpenTable::CopyKept(absl::Span<const std::int64_t> positions, absl::Span<std::byte> out,
                         std::vector<std::size_t>& missing) const {
  const auto row_bytes = static_cast<std::size_t>(spec().row_bytes());
  std::array<std::int64_t, kLookedUpAtOnce> indices;
  std::array<std::shared_ptr<const Block>, kLookedUpAtOnce> blocks;
  for (std::size_t begin = 0; begin < positions.size(); begin += kLookedUpAtOnce) {
    const std::size_t count = std::min(kLookedUpAtOnce, positions.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      indices[i] = FloorDivide(positions[begin + i], rows_per_block_);
    }
    session_->blocks().Find(spec().digest(), absl::MakeConstSpan(indices.data(), count),
                            absl::MakeSpan(blocks.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      if (blocks[i] == nullptr) {
        missing.push_back(begin + i);
        continue;
      }
      const std::int64_t row = positions[begin + i] - blocks[i]->first_position;
      std::memcpy(out.data() + (begin + i) * row_bytes,
                  blocks[i]->data.get() + static_cast<std::size_t>(row) * row_bytes, row_bytes);
      if (row == mark_) ReadAhead(indices[i], blocks[i]->run_length);
    }
  }
}

void OpenTable::NoteMissing(absl::Span<const std::int64_t> positions) const {
  if (!session_->connection().ReadsAhead()) return;
  std::vector<std::int64_t> sorted(positions.begin(), positions.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> wanted;
  for (auto i = sorted.begin(); i != sorted.end() && wanted.size() < kMaxBlocksOfAGather;) {
    const std::int64_t index = FloorDivide(*i, rows_per_block_);
    const std::int64_t first = index * rows_per_block_;
    const auto next = std::lower_bound(i, sorted.end(), first + rows_per_block_);
    const bool again = session_->blocks().MissedAgain({spec().digest(), index});
    if (again || static_cast<std::size_t>(next - i) >= kRowsWorthABlock) {
      if (wanted.empty() || wanted.back() != index) wanted.push_back(index);
      if (*std::prev(next) - first >= mark_) wanted.push_back(index + 1);
    }
    i = next;
  }
  for (std::size_t i = 0; i < wanted.size();) {
    std::size_t next = i + 1;
    while (next < wanted.size() && wanted[next] == wanted[next - 1] + 1) ++next;
    FetchBlocks(wanted[i], static_cast<std::int64_t>(next - i));
    i = next;
  }
}

absl::Status GatherFrom(absl::Span<const TableGather> gathers) {
  struct Rest {
    const TableGather* gather;
    std::vector<std::size_t> missing;
    std::vector<std::int64_t> positions;
    std::vector<std::byte> rows;
  };
  std::vector<Rest> rests;
  std::vector<std::size_t> missing;
  for (const TableGather& gather : gathers) {
    gather.table->CopyKept(gather.positions, gather.out, missing);
    if (!missing.empty()) rests.push_back({&gather, std::exchange(missing, {})});
  }
  if (rests.empty()) return absl::OkStatus();
  Session& session = rests.front().gather->table->session();
  session.CountStall();
  std::vector<GatherJob> jobs;
  for (Rest& rest : rests) {
    const TableGather& gather = *rest.gather;
    absl::Span<std::byte> out = gather.out;
    for (const std::size_t i : rest.missing) rest.positions.push_back(gather.positions[i]);
    if (rest.missing.size() < gather.positions.size()) {
      rest.rows.resize(rest.missing.size() *
                       static_cast<std::size_t>(gather.table->spec().row_bytes()));
      out = absl::MakeSpan(rest.rows);
    }
    jobs.push_back({&gather.table->handle(), absl::MakeConstSpan(rest.positions), out});
  }
  absl::Status status = session.connection().Gather(jobs, session.Limits());
  if (!status.ok()) return status;
  for (const Rest& rest : rests) {
    const auto row_bytes = static_cast<std::size_t>(rest.gather->table->spec().row_bytes());
    for (std::size_t i = 0; i < rest.rows.size() / row_bytes; ++i) {
      std::memcpy(rest.gather->out.data() + rest.missing[i] * row_bytes,
                  rest.rows.data() + i * row_bytes, row_bytes);
    }
    rest.gather->table->NoteMissing(rest.positions);
  }
  return absl::OkStatus();
}

void OpenTable::StartRun(const std::shared_ptr<BlockRun>& run) const {
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
