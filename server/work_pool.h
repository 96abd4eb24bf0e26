#ifndef PHASOR_SERVER_WORK_POOL_H_
#define PHASOR_SERVER_WORK_POOL_H_

/// \file
/// Threads for what takes too long for gRPC's own few.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace phasor::server {

/// A fixed number of threads that do jobs step by step, in turn: a job that has
/// more to do goes to the end of the queue, so that a long one delays a short
/// one by no more than a step of each job before it.
///
/// **Thread safety**: thread-safe.
class WorkPool {
 public:
  /// What a job is after a step.
  enum class Progress {
    kDone,   ///< It may be gone; the pool forgets it.
    kAgain,  ///< It has another step to do.
    kWait,   ///< It waits; whoever it waits for calls Resume, perhaps already.
  };

  /// Work in steps. Has to live until a step returned kDone, or Fail.
  class Job {
   public:
    /// Does a bounded piece of work: about a block of rows.
    virtual Progress Step() = 0;
    /// Ends the job, because Step threw.
    virtual void Fail(absl::Status status) = 0;

   protected:
    ~Job() = default;

   private:
    friend class WorkPool;
    Job* next_ = nullptr;
  };

  WorkPool(int threads, std::int64_t max_queued_jobs);
  WorkPool(const WorkPool&) = delete;
  /// Ends when the queue is empty. No job may be waiting.
  ~WorkPool();

  /// Takes a new job.
  ///
  /// **Errors**: UNAVAILABLE when max_queued_jobs are queued.
  absl::Status Submit(Job* job) ABSL_LOCKS_EXCLUDED(mutex_);
  /// Takes a job that was taken before. Always succeeds.
  void Resume(Job* job) ABSL_LOCKS_EXCLUDED(mutex_);

  /// For a job, within a step, about every 50 us: lets the processor go if
  /// gRPC's threads want it. What they have to do takes microseconds, and the
  /// system would let them wait for milliseconds.
  static void GiveWay();

  std::int64_t queued_jobs() const ABSL_LOCKS_EXCLUDED(mutex_);
  /// Steps done so far.
  std::int64_t steps() const { return steps_.load(std::memory_order_relaxed); }

 private:
  void Run();
  void PushLocked(Job* job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Job* PopLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for a job; null at the end.
  Job* PopOrNull() ABSL_LOCKS_EXCLUDED(mutex_);
  // The next job, after a step of one that has another: the same one if no other
  // waits, and then no other thread has to be woken.
  Job* NextAfter(Job* job) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::int64_t max_queued_jobs_;
  std::atomic<std::int64_t> steps_{0};

  mutable absl::Mutex mutex_;
  absl::CondVar pushed_ ABSL_GUARDED_BY(mutex_);
  // A list through the jobs themselves: taking one back cannot fail.
  Job* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Job* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::int64_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;  // last: they use everything above
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_WORK_POOL_H_
