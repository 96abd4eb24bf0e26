// phasor_bench [NAME...]: measures what is named, or everything, and prints a
// Markdown table. Its exit status is 0 if no bar was missed, 3 if one was.

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "absl/synchronization/mutex.h"
#include "bench/items.h"
#include "bench/report.h"

namespace phasor::bench {
namespace {

// Each item ends by itself long before.
constexpr unsigned kMostSeconds = 118;

struct Item {
  const char* name;
  void (*measure)();
};

constexpr Item kItems[] = {
    {"kernel", &Kernel},        {"types", &ElementTypes},
    {"layouts", &Layouts},      {"small", &SmallReads},
    {"hostile", &Hostile},      {"calls_tcp", &CallsTcp},
    {"calls_unix", &CallsUnix}, {"cold", &ColdCalls},
    {"streams", &Streams},      {"memory", &StreamMemory},
    {"tables", &NewTables},     {"idle", &Idle},
    {"decoding", &Decoding},    {"rotary", &Rotary},
    {"peers", &Peers},          {"deadlock_detection", &DeadlockDetection},
};

const Item* Find(const char* name) {
  for (const Item& item : kItems) {
    if (std::strcmp(item.name, name) == 0) return &item;
  }
  return nullptr;
}

int Run(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (Find(argv[i]) != nullptr) continue;
    std::fprintf(stderr, "phasor_bench: no item '%s'; there are", argv[i]);
    for (const Item& item : kItems) std::fprintf(stderr, " %s", item.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  PrintHeader();
  for (const Item& item : kItems) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strcmp(item.name, argv[i]) == 0;
    if (!wanted) continue;
    alarm(kMostSeconds);
    item.measure();
  }
  return Missed() == 0 ? 0 : 3;
}

}  // namespace
}  // namespace phasor::bench

int main(int argc, char** argv) {
  // As the servers that are measured do.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc == 3 && std::strcmp(argv[1], phasor::bench::kOpenTables) == 0) {
    return phasor::bench::OpenTables(argv[2]);
  }
  return phasor::bench::Run(argc, argv);
}
