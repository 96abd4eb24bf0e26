#include "server/blocks_ahead.h"

#include <utility>

namespace phasor::server {
namespace {

class BlocksAhead final : public WorkPool::Job {
 public:
  BlocksAhead(BlockCache* cache, TablePtr table, std::int64_t first, std::int64_t last)
      : cache_(*cache), table_(std::move(table)), first_(first), next_(last) {}
  virtual ~BlocksAhead() = default;

  Progress Step() override {
    // Whoever asks for the block meets what prevents it.
    const auto block = cache_.Get(table_, next_, [](const BlockCache::Result<Block>&) {});
    if (next_-- > first_ && (!block.has_value() || block->ok())) return Progress::kAgain;
    delete this;
    return Progress::kDone;
  }

  void Fail(absl::Status /*status*/) override { delete this; }

 private:
  BlockCache& cache_;
  const TablePtr table_;
  const std::int64_t first_;
  std::int64_t next_;
};

}  // namespace

void MakeBlocksAhead(Backend* backend, const TablePtr& table, std::int64_t first,
                     std::int64_t last) {
  if (backend->cache.Holds(*table, first) || backend->pool.queued_jobs() > 0) return;
  auto* job = new BlocksAhead(&backend->cache, table, first, last);
  if (!backend->pool.Submit(job).ok()) delete job;
}

}  // namespace phasor::server
