#include "client/cli/progress.h"

#include <cstdio>
#include <utility>

#include "absl/time/clock.h"
#include "client/cli/output.h"

namespace phasor::cli {
namespace {

constexpr absl::Duration kSilence = absl::Milliseconds(500);
constexpr absl::Duration kInterval = absl::Milliseconds(100);
constexpr char kClearLine[] = "\r\x1b[K";

}  // namespace

Progress::Progress(std::int64_t total, std::string unit)
    : total_(total),
      unit_(std::move(unit)),
      enabled_(StderrIsTerminal()),
      next_(absl::Now() + kSilence) {}

Progress::~Progress() {
  if (drawn_) std::fputs(kClearLine, stderr);
}

void Progress::Advance(std::int64_t units) {
  done_ += units;
  if (!enabled_ || absl::Now() < next_) return;
  next_ = absl::Now() + kInterval;
  drawn_ = true;
  std::fprintf(stderr, "%s%3.0f %%  %lld of %lld %s", kClearLine,
               100.0 * static_cast<double>(done_) / static_cast<double>(total_),
               static_cast<long long>(done_), static_cast<long long>(total_), unit_.c_str());
}

}  // namespace phasor::cli
