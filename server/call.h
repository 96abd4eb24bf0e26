#ifndef PHASOR_SERVER_CALL_H_
#define PHASOR_SERVER_CALL_H_

/// \file
/// A call's way from gRPC's threads to its answer.
///
/// gRPC has two threads for all calls. A call is answered on them only if that
/// takes no more than look-ups (some tens of microseconds); otherwise it goes
/// on, step by step, on the pool.

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "phasor/core/stop.h"
#include "server/block_cache.h"
#include "server/call_count.h"
#include "server/known_specs.h"
#include "server/learned_tables.h"
#include "server/work_pool.h"

namespace phasor::server {

/// A larger request is not even decoded on gRPC's threads: checking and
/// hashing a spec of this size takes about 50 us.
inline constexpr std::size_t kMaxInlineRequestBytes = 4096;
/// Most rows data in one message of ReadRows, unless one row is larger.
inline constexpr std::int64_t kMaxChunkBytes = std::int64_t{1} << 20;

/// What all calls share.
struct Backend {
  /// `opener` opens tables that are computed.
  Backend(TableSources table_sources, BlockCache::Limits cache_limits, BlockCache::Opener opener,
          int threads, std::int64_t max_queued_requests, std::int64_t most_message_bytes)
      : learned_tables(std::move(table_sources)),
        cache(cache_limits,
              [this, opener = std::move(opener)](CanonicalSpec spec, StopRequest stop) {
                return std::holds_alternative<LearnedTable>(spec.spec().scheme)
                           ? learned_tables.Open(std::move(spec))
                           : opener(std::move(spec), stop);
              }),
        pool(threads, max_queued_requests),
        max_message_bytes(most_message_bytes) {}

  /// Before the cache, which opens tables of them.
  LearnedTables learned_tables;
  BlockCache cache;
  KnownSpecs known_specs;
  WorkPool pool;
  CallCount calls;
  /// Of those, the streams.
  CallCount streams;
  const std::int64_t max_message_bytes;
  /// The time for calls in flight is over: those that are not done end
  /// UNAVAILABLE.
  std::atomic<bool> ending = false;
};

using Progress = WorkPool::Progress;

/// Takes a call that waits back into the pool. Cheap to copy.
class Resume {
 public:
  Resume(WorkPool* pool, WorkPool::Job* job) : pool_(pool), job_(job) {}
  void operator()() const { pool_->Resume(job_); }

 private:
  WorkPool* pool_;
  WorkPool::Job* job_;
};

/// What one unary method does for one call, apart from gRPC. Its functions are
/// called one after another, never at the same time.
class UnaryHandler {
 public:
  virtual ~UnaryHandler() = default;

  /// Decodes and checks the request. Its time is bounded by the request's size.
  virtual absl::Status Start(const grpc::ByteBuffer& request) = 0;
  /// Makes the response if that takes look-ups alone; else returns false.
  virtual bool TryAnswer() = 0;
  /// Does a bounded piece of the work. kDone: the response is made. kWait:
  /// `resume` is called when there is more to do, perhaps already, so that
  /// nothing of the call may be touched any more. CANCELLED: nobody wants the
  /// response any more, as `stop` said.
  virtual absl::StatusOr<Progress> Step(Resume resume, StopRequest stop) = 0;

  grpc::ByteBuffer& response() { return response_; }

 private:
  grpc::ByteBuffer response_;
};

/// DEADLINE_EXCEEDED or CANCELLED if nobody waits for the call any more,
/// UNAVAILABLE if the server is ending.
absl::Status CheckWanted(const Backend& backend, const grpc::CallbackServerContext& context);

/// The status for gRPC, with the delay after which to try again where that may
/// help.
grpc::Status EndingStatus(const absl::Status& status, grpc::CallbackServerContext* context);

/// Counts a large request's memory while the call lives.
///
/// **Errors**: UNAVAILABLE when there is none left.
absl::StatusOr<Charge> ReserveForRequest(const grpc::ByteBuffer& request, BlockCache* cache);

/// Starts a unary call. What is returned deletes itself.
grpc::ServerUnaryReactor* StartUnaryCall(Backend* backend, std::unique_ptr<UnaryHandler> handler,
                                         grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_CALL_H_
