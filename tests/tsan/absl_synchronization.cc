// Tells ThreadSanitizer what Debian's Abseil does. The library is built without it, so that what a
// Mutex orders would look unordered. These definitions stand before the library's, note the order
// and call the library's own. Linked into the tests of ./dev tsan alone.

#include <dlfcn.h>

#include <cstdlib>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}

namespace {

// The library's function of this mangled name, called as R(this, arguments...).
template <typename R, typename... Args>
R Library(const char* name, Args... args) {
  void* const function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) std::abort();
  return reinterpret_cast<R (*)(Args...)>(function)(args...);
}

void Acquire(const void* what) { __tsan_acquire(const_cast<void*>(what)); }
void Release(const void* what) { __tsan_release(const_cast<void*>(what)); }

// Whoever unlocks reads the conditions of those who wait, under the lock and after Release().
class LibraryReads {
 public:
  LibraryReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~LibraryReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
};

}  // namespace

#define ABSL_NAME(rest) "_ZN4absl7debian3" rest

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  Library<void>(ABSL_NAME("5Mutex4LockEv"), this);
  Acquire(this);
}

void Mutex::ReaderLock() {
  Library<void>(ABSL_NAME("5Mutex10ReaderLockEv"), this);
  Acquire(this);
}

bool Mutex::TryLock() {
  const bool locked = Library<bool>(ABSL_NAME("5Mutex7TryLockEv"), this);
  if (locked) Acquire(this);
  return locked;
}

void Mutex::Unlock() {
  Release(this);
  const LibraryReads reads;
  Library<void>(ABSL_NAME("5Mutex6UnlockEv"), this);
}

void Mutex::ReaderUnlock() {
  Release(this);
  const LibraryReads reads;
  Library<void>(ABSL_NAME("5Mutex12ReaderUnlockEv"), this);
}

void Mutex::LockWhen(const Condition& condition) {
  const LibraryReads reads;
  Library<void>(ABSL_NAME("5Mutex8LockWhenERKNS0_9ConditionE"), this, &condition);
  Acquire(this);
}

void Mutex::Await(const Condition& condition) {
  Release(this);
  const LibraryReads reads;
  Library<void>(ABSL_NAME("5Mutex5AwaitERKNS0_9ConditionE"), this, &condition);
  Acquire(this);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  Release(this);
  const LibraryReads reads;
  const bool is_true =
      Library<bool>(ABSL_NAME("5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE"), this,
                    &condition, timeout);
  Acquire(this);
  return is_true;
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  Release(this);
  const LibraryReads reads;
  const bool is_true =
      Library<bool>(ABSL_NAME("5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE"), this,
                    &condition, deadline);
  Acquire(this);
  return is_true;
}

void CondVar::Wait(Mutex* mutex) {
  Release(mutex);
  const LibraryReads reads;
  Library<void>(ABSL_NAME("7CondVar4WaitEPNS0_5MutexE"), this, mutex);
  Acquire(mutex);
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  Release(mutex);
  const LibraryReads reads;
  const bool timed_out = Library<bool>(
      ABSL_NAME("7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE"), this, mutex, deadline);
  Acquire(mutex);
  return timed_out;
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  Release(mutex);
  const LibraryReads reads;
  const bool timed_out = Library<bool>(
      ABSL_NAME("7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE"), this, mutex, timeout);
  Acquire(mutex);
  return timed_out;
}

// Their mutexes are locked inside the library, perhaps not by the functions above.

void Notification::Notify() {
  Release(this);
  Library<void>(ABSL_NAME("12Notification6NotifyEv"), this);
}

void Notification::WaitForNotification() const {
  Library<void>("_ZNK4absl7debian312Notification19WaitForNotificationEv", this);
  Acquire(this);
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  const bool notified = Library<bool>(
      "_ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE", this,
      timeout);
  if (notified) Acquire(this);
  return notified;
}

bool BlockingCounter::DecrementCount() {
  Release(this);
  return Library<bool>(ABSL_NAME("15BlockingCounter14DecrementCountEv"), this);
}

void BlockingCounter::Wait() {
  Library<void>(ABSL_NAME("15BlockingCounter4WaitEv"), this);
  Acquire(this);
}

ABSL_NAMESPACE_END
}  // namespace absl
