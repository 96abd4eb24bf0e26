#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/cli/run.h"

namespace {

// Sees to it that no socket or file gets the number of a standard stream that
// the caller closed. Reading and writing these fail all the same.
__attribute__((no_sanitize("address", "undefined"))) void HoldStandardStreams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() gives the lowest free number, which is this one.
    if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor) _exit(1);
  }
}

// Before main, and before the constructors of libraries: libgrpc's opens a
// descriptor. So early there is no sanitizer yet.
__attribute__((section(".preinit_array"),
               used)) void (*g_hold_standard_streams)() = &HoldStandardStreams;

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away is seen by write().
  signal(SIGPIPE, SIG_IGN);
  // An error is one line, and it is the tool's.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  // Debian's Abseil aborts a process on a lock order that could deadlock; gRPC's
  // locks are not ours to judge in a user's hands.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  try {
    return phasor::cli::RunTool(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "phasor: %s\n", error.what());
    return 1;
  }
}
