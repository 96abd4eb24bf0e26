#ifndef PHASOR_CLIENT_SRC_FORK_H_
#define PHASOR_CLIENT_SRC_FORK_H_

/// \file
/// What stays usable in a child of fork().

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace phasor::internal {

/// How many forks lie between this process and the one that loaded the library.
int ForkGeneration();

/// Says how to see, before a fork, whether gRPC is at work in this process.
void WatchGrpcOverForks(bool (*at_work)());

/// Whether gRPC is of no use in this process: it was at work in the parent, so
/// that its threads are missing here and its sockets are shared. For good; a
/// call would hang, or disturb the parent.
bool GrpcLostByFork();

/// A mutex and a condition that are free in a forked child, whatever other
/// threads did with them in the parent; what they guard is then consistent. No
/// thread may hold two of them.
class ABSL_LOCKABLE ForkMonitor {
 public:
  ForkMonitor();
  ~ForkMonitor();  // in a child too: of what the child made anew
  ForkMonitor(const ForkMonitor&) = delete;
  ForkMonitor& operator=(const ForkMonitor&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { state_.mutex.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { state_.mutex.unlock(); }
  /// Waits, unlocked meanwhile, for `ready`, which is called locked, or for the
  /// deadline; gives the last value of it.
  bool Await(absl::FunctionRef<bool()> ready, absl::Time deadline);
  void NotifyAll() { state_.changed.notify_all(); }

 private:
  friend class ForkRegistry;
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
  };
  State state_;
};

class ABSL_SCOPED_LOCKABLE ForkMonitorLock {
 public:
  explicit ForkMonitorLock(ForkMonitor* monitor) ABSL_EXCLUSIVE_LOCK_FUNCTION(monitor)
      : monitor_(monitor) {
    monitor_->Lock();
  }
  ~ForkMonitorLock() ABSL_UNLOCK_FUNCTION() { monitor_->Unlock(); }
  ForkMonitorLock(const ForkMonitorLock&) = delete;
  ForkMonitorLock& operator=(const ForkMonitorLock&) = delete;

 private:
  ForkMonitor* const monitor_;
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_FORK_H_
