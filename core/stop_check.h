#ifndef PHASOR_CORE_STOP_CHECK_H_
#define PHASOR_CORE_STOP_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "phasor/core/stop.h"

namespace phasor {

/// Turns work into questions to a caller's StopRequest. One call's own.
class StopCheck {
 public:
  /// Work between two questions. A unit is about a nanosecond on a slow machine.
  static constexpr std::int64_t kCostPerQuestion = 50'000;

  explicit StopCheck(StopRequest request) : request_(request) {}
  StopCheck(const StopCheck&) = delete;

  /// Counts work done; asks when enough has come together. Returns stopped().
  bool After(std::int64_t cost) {
    cost_ += cost;
    if (cost_ >= kCostPerQuestion) Ask();
    return stopped_;
  }
  /// Whether the caller has asked to stop; stays so.
  bool stopped() const { return stopped_; }

  /// What the call ends with, its work done or not.
  absl::Status status() const {
    return stopped_ ? absl::CancelledError("stopped at the caller's request") : absl::OkStatus();
  }

 private:
  void Ask() {
    cost_ = 0;
    if (!stopped_) stopped_ = request_();
  }

  const StopRequest request_;
  std::int64_t cost_ = 0;
  bool stopped_ = false;
};

}  // namespace phasor

#endif  // PHASOR_CORE_STOP_CHECK_H_
