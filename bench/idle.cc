// A server that nobody asks anything.

#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "bench/items.h"
#include "bench/process.h"
#include "bench/report.h"

namespace phasor::bench {

void Idle() {
  constexpr std::int64_t kMostTicks = 2;
  constexpr double kMostResident = 40 << 20;
  const ScratchDirectory scratch;
  const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch));
  const std::unique_ptr<ServerProcess> bare(ServerProcess::Bare(scratch, 2048));
  std::this_thread::sleep_for(std::chrono::seconds(2));  // their start is over
  const std::int64_t before = server->process().CpuTicks();
  const std::int64_t bare_before = bare->process().CpuTicks();
  const double seconds = server->process().CpuSeconds();
  const double bare_seconds = bare->process().CpuSeconds();
  std::this_thread::sleep_for(std::chrono::seconds(60));
  const std::int64_t ticks = server->process().CpuTicks() - before;
  const std::int64_t bare_ticks = bare->process().CpuTicks() - bare_before;
  const auto tell = [](std::int64_t count, double cpu) {
    return absl::StrCat(count, " ticks (", Microseconds(cpu), ")");
  };
  Print({.what = "idle for 60 s: CPU",
         .measured = tell(ticks, server->process().CpuSeconds() - seconds),
         .beside =
             absl::StrCat("bare ", tell(bare_ticks, bare->process().CpuSeconds() - bare_seconds)),
         .ratio = std::nullopt,
         .control = std::nullopt,
         .bar = "<= 2 ticks more",
         .pass = ticks <= bare_ticks + kMostTicks});
  const auto resident = static_cast<double>(server->process().ResidentBytes());
  Print({.what = "idle: resident memory",
         .measured = Mebibytes(resident),
         .beside =
             absl::StrCat("bare ", Mebibytes(static_cast<double>(bare->process().ResidentBytes()))),
         .ratio = std::nullopt,
         .control = std::nullopt,
         .bar = "<= 40 MiB",
         .pass = resident <= kMostResident});
}

}  // namespace phasor::bench
