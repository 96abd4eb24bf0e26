#ifndef PHASOR_CLIENT_CLI_PROGRESS_H_
#define PHASOR_CLIENT_CLI_PROGRESS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace phasor::cli {

/// One line on stderr that tells how far long work is: only where stderr is a
/// terminal, only after half a second, and gone when the work ends.
class Progress {
 public:
  /// `total` units of work, `unit` for instance "rows".
  Progress(std::int64_t total, std::string unit);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void Advance(std::int64_t units);

 private:
  const std::int64_t total_;
  const std::string unit_;
  const bool enabled_;
  std::int64_t done_ = 0;
  absl::Time next_;  // when to draw next
  bool drawn_ = false;
};

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_PROGRESS_H_
