#include "server/work_pool.h"

#include "absl/strings/str_cat.h"
#include "server/failure.h"

namespace phasor::server {

WorkPool::WorkPool(int threads, std::int64_t max_queued_jobs) : max_queued_jobs_(max_queued_jobs) {
  threads_.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkPool::~WorkPool() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    pushed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status WorkPool::Submit(Job* job) {
  absl::MutexLock lock(&mutex_);
  if (queued_ >= max_queued_jobs_) {
    return absl::UnavailableError(absl::StrCat(
        queued_, " calls are waiting for a thread, the most allowed; try again later"));
  }
  PushLocked(job);
  pushed_.Signal();
  return absl::OkStatus();
}

void WorkPool::Resume(Job* job) {
  absl::MutexLock lock(&mutex_);
  PushLocked(job);
  pushed_.Signal();
}

void WorkPool::GiveWay() { std::this_thread::yield(); }

std::int64_t WorkPool::queued_jobs() const {
  absl::MutexLock lock(&mutex_);
  return queued_;
}

void WorkPool::PushLocked(Job* job) {
  job->next_ = nullptr;
  (first_ == nullptr ? first_ : last_->next_) = job;
  last_ = job;
  ++queued_;
}

WorkPool::Job* WorkPool::PopOrNull() {
  absl::MutexLock lock(&mutex_);
  while (first_ == nullptr && !ending_) pushed_.Wait(&mutex_);
  return first_ == nullptr ? nullptr : PopLocked();
}

WorkPool::Job* WorkPool::PopLocked() {
  Job* job = first_;
  first_ = job->next_;
  --queued_;
  return job;
}

WorkPool::Job* WorkPool::NextAfter(Job* job) {
  absl::MutexLock lock(&mutex_);
  if (first_ == nullptr) return job;
  PushLocked(job);
  return PopLocked();
}

void WorkPool::Run() {
  for (Job* job = PopOrNull(); job != nullptr;) {
    steps_.fetch_add(1, std::memory_order_relaxed);
    bool again = false;
    try {
      again = job->Step() == Progress::kAgain;
    } catch (...) {
      job->Fail(CurrentExceptionStatus());
    }
    GiveWay();
    job = again ? NextAfter(job) : PopOrNull();
  }
}

}  // namespace phasor::server
