#include "client/src/fork.h"

#include <pthread.h>

#include <atomic>
#include <list>
#include <new>

// All monitors are locked over a fork, in the order in which they were made, so
// that no other thread stands between two writes of what they guard. The child
// makes them anew: threads that waited for them do not exist there.

namespace phasor::internal {
namespace {

std::atomic<int> generation{0};
std::atomic<bool> grpc_lost{false};
std::atomic<bool (*)()> grpc_at_work{nullptr};

}  // namespace

class ForkRegistry {
 public:
  static ForkRegistry& Get() {
    static auto* registry = new ForkRegistry;
    return *registry;
  }

  void Add(ForkMonitor* monitor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    monitors_.push_back(monitor);
  }
  void Remove(ForkMonitor* monitor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    monitors_.remove(monitor);
  }

 private:
  ForkRegistry() { pthread_atfork(&Prepare, &InParent, &InChild); }

  static void Prepare() {
    ForkRegistry& all = Get();
    all.mutex_.lock();
    for (ForkMonitor* monitor : all.monitors_) monitor->state_.mutex.lock();
    const auto at_work = grpc_at_work.load();
    all.grpc_at_work_ = at_work != nullptr && at_work();
  }
  static void InParent() {
    ForkRegistry& all = Get();
    for (ForkMonitor* monitor : all.monitors_) monitor->state_.mutex.unlock();
    all.mutex_.unlock();
  }
  static void InChild() {
    ForkRegistry& all = Get();
    ++generation;
    if (all.grpc_at_work_) grpc_lost = true;
    for (ForkMonitor* monitor : all.monitors_) new (&monitor->state_) ForkMonitor::State;
    all.mutex_.unlock();
  }

  std::mutex mutex_;
  std::list<ForkMonitor*> monitors_;
  bool grpc_at_work_ = false;
};

void WatchGrpcOverForks(bool (*at_work)()) { grpc_at_work = at_work; }

int ForkGeneration() { return generation.load(std::memory_order_relaxed); }

bool GrpcLostByFork() { return grpc_lost.load(std::memory_order_relaxed); }

ForkMonitor::ForkMonitor() { ForkRegistry::Get().Add(this); }

ForkMonitor::~ForkMonitor() { ForkRegistry::Get().Remove(this); }

bool ForkMonitor::Await(absl::FunctionRef<bool()> ready, absl::Time deadline) {
  std::unique_lock<std::mutex> lock(state_.mutex, std::adopt_lock);
  const bool result =
      state_.changed.wait_until(lock, absl::ToChronoTime(deadline), [&] { return ready(); });
  lock.release();
  return result;
}

}  // namespace phasor::internal
