#ifndef PHASOR_SERVER_CALL_COUNT_H_
#define PHASOR_SERVER_CALL_COUNT_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace phasor::server {

/// How many calls are in flight. **Thread safety**: thread-safe.
class CallCount {
 public:
  /// One call, from construction to destruction.
  class Call {
   public:
    explicit Call(CallCount* count) : count_(*count) { count_.Add(1); }
    Call(const Call&) = delete;
    ~Call() { count_.Add(-1); }

   private:
    CallCount& count_;
  };

  std::int64_t count() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return count_;
  }

  /// Returns whether there was a moment without calls before `deadline`.
  bool WaitForNone(absl::Time deadline) const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithDeadline(
        absl::Condition(
            +[](const std::int64_t* count) { return *count == 0; }, &count_),
        deadline);
  }

 private:
  void Add(int change) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    count_ += change;
  }

  mutable absl::Mutex mutex_;
  std::int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_CALL_COUNT_H_
