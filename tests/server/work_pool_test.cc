#include "server/work_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"

namespace phasor::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Lt;
using Progress = WorkPool::Progress;

// A job of one function.
class FunctionJob : public WorkPool::Job {
 public:
  explicit FunctionJob(std::function<Progress()> step) : step_(std::move(step)) {}
  Progress Step() override { return step_(); }
  void Fail(absl::Status status) override {
    failure = status;
    failed.Notify();
  }

  absl::Status failure;
  absl::Notification failed;

 private:
  std::function<Progress()> step_;
};

// Keeps a pool's thread until it is released.
class Blocker {
 public:
  explicit Blocker(WorkPool* pool) {
    EXPECT_TRUE(pool->Submit(&job_).ok());
    running_.WaitForNotification();
  }
  ~Blocker() {
    Release();
    done_.WaitForNotification();
  }
  void Release() {
    if (!release_.HasBeenNotified()) release_.Notify();
  }

 private:
  absl::Notification running_, release_, done_;
  FunctionJob job_{[this] {
    running_.Notify();
    release_.WaitForNotification();
    done_.Notify();
    return Progress::kDone;
  }};
};

TEST(WorkPool, TakesAStepOfEachJobInTurn) {
  std::string order;
  absl::BlockingCounter done(2);
  int long_left = 4;
  int short_left = 2;
  const auto job = [&](char name, int* left) {
    return [&, name, left] {
      order += name;
      if (--*left > 0) return Progress::kAgain;
      done.DecrementCount();
      return Progress::kDone;
    };
  };
  WorkPool pool(1, 10);
  FunctionJob long_job(job('l', &long_left));
  FunctionJob short_job(job('s', &short_left));
  {
    Blocker blocker(&pool);
    ASSERT_TRUE(pool.Submit(&long_job).ok());
    ASSERT_TRUE(pool.Submit(&short_job).ok());
  }
  done.Wait();
  EXPECT_EQ(order, "lslsll");
}

TEST(WorkPool, AnEndlessJobStarvesNobody) {
  WorkPool pool(1, 10);
  std::atomic<bool> stop = false;
  absl::Notification ended;
  FunctionJob endless([&] {
    if (!stop) return Progress::kAgain;
    ended.Notify();
    return Progress::kDone;
  });
  ASSERT_TRUE(pool.Submit(&endless).ok());
  for (int i = 0; i < 100; ++i) {
    absl::Notification done;
    FunctionJob job([&] {
      done.Notify();
      return Progress::kDone;
    });
    ASSERT_TRUE(pool.Submit(&job).ok());
    done.WaitForNotification();
  }
  stop = true;
  ended.WaitForNotification();
}

TEST(WorkPool, RefusesMoreThanItsQueueHolds) {
  WorkPool pool(1, 2);
  absl::BlockingCounter done(2);
  const auto step = [&] {
    done.DecrementCount();
    return Progress::kDone;
  };
  FunctionJob first(step), second(step), third(step);
  {
    Blocker blocker(&pool);
    ASSERT_TRUE(pool.Submit(&first).ok());
    ASSERT_TRUE(pool.Submit(&second).ok());
    EXPECT_EQ(pool.queued_jobs(), 2);
    EXPECT_EQ(pool.Submit(&third).code(), absl::StatusCode::kUnavailable);
  }
  done.Wait();
}

TEST(WorkPool, TakesAWaitingJobBackAlthoughItsQueueIsFull) {
  WorkPool pool(1, 1);
  absl::BlockingCounter done(2);
  bool waited = false;
  absl::Notification waiting;
  FunctionJob waiter([&] {
    if (!waited) {
      waited = true;
      waiting.Notify();
      return Progress::kWait;
    }
    done.DecrementCount();
    return Progress::kDone;
  });
  FunctionJob other([&] {
    done.DecrementCount();
    return Progress::kDone;
  });
  ASSERT_TRUE(pool.Submit(&waiter).ok());
  waiting.WaitForNotification();
  {
    Blocker blocker(&pool);
    ASSERT_TRUE(pool.Submit(&other).ok());
    pool.Resume(&waiter);
    EXPECT_EQ(pool.queued_jobs(), 2);
  }
  done.Wait();
}

TEST(WorkPool, TurnsAnExceptionIntoAFailureAndGoesOn) {
  WorkPool pool(1, 10);
  FunctionJob without_memory([]() -> Progress { throw std::bad_alloc(); });
  FunctionJob broken([]() -> Progress { throw std::runtime_error("a fault"); });
  ASSERT_TRUE(pool.Submit(&without_memory).ok());
  ASSERT_TRUE(pool.Submit(&broken).ok());
  without_memory.failed.WaitForNotification();
  broken.failed.WaitForNotification();
  EXPECT_EQ(without_memory.failure.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(broken.failure.code(), absl::StatusCode::kInternal);
}

TEST(WorkPool, StepsOfAJobNeverOverlap) {
  WorkPool pool(4, 100);
  constexpr int kJobs = 16;
  absl::BlockingCounter done(kJobs);
  std::vector<std::unique_ptr<FunctionJob>> jobs;
  std::vector<std::unique_ptr<int>> left;  // not atomic: a race would be seen
  for (int i = 0; i < kJobs; ++i) {
    left.push_back(std::make_unique<int>(500));
    jobs.push_back(std::make_unique<FunctionJob>([&done, count = left.back().get()] {
      if (--*count > 0) return Progress::kAgain;
      done.DecrementCount();
      return Progress::kDone;
    }));
    ASSERT_TRUE(pool.Submit(jobs.back().get()).ok());
  }
  done.Wait();
  EXPECT_EQ(pool.steps(), kJobs * 500);
}

}  // namespace
}  // namespace phasor::server
