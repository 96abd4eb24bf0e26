// Blocks of tables chosen to be as hard to round as can be.

#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/items.h"
#include "bench/report.h"
#include "phasor/core/local_table.h"
#include "tests/core/hostile_specs.h"

namespace phasor::bench {
namespace {

constexpr double kMostSeconds = 2e-3;
constexpr std::int64_t kBlock = 65536;

double CpuNow() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void Hostile() {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                 ElementType::kFloat16, ElementType::kBfloat16}) {
    double worst = 0;
    std::string name;
    double slowest_opening = 0;
    for (const HostileSpec& hostile : hostile::Specs(type)) {
      const CanonicalSpec spec = CanonicalSpec::Create(hostile.spec).value();
      const double opened = CpuNow();
      const auto table = LocalTable::Create(spec);
      slowest_opening = std::max(slowest_opening, CpuNow() - opened);
      const std::int64_t rows = std::max<std::int64_t>(1, kBlock / spec.row_bytes());
      std::vector<std::byte> block(static_cast<std::size_t>(rows * spec.row_bytes()));
      std::vector<double> seconds;
      for (int round = 0; round < 9; ++round) {
        const double begin = CpuNow();
        if (!table->ReadInto(hostile.start, rows, absl::MakeSpan(block)).ok()) Die(hostile.name);
        seconds.push_back(CpuNow() - begin);
      }
      if (table->costly_elements() != 0) Die(absl::StrCat(hostile.name, " takes MPFR"));
      // A row may be larger than a block.
      const double a_block =
          Median(seconds) * static_cast<double>(kBlock) / static_cast<double>(block.size());
      if (a_block > worst) name = hostile.name;
      worst = std::max(worst, a_block);
    }
    Print({.what = absl::StrCat("64 KiB of the worst of tables chosen to be hard, ",
                                ElementTypeName(type), ": CPU"),
           .measured = Microseconds(worst),
           .beside = name,
           .ratio = std::nullopt,
           .control = std::nullopt,
           .bar = "<= 2 ms",
           .pass = worst <= kMostSeconds});
    Print({.what = absl::StrCat("opening the slowest of them, ", ElementTypeName(type), ": CPU"),
           .measured = absl::StrFormat("%.2f ms", slowest_opening * 1e3),
           .beside = "",
           .ratio = std::nullopt,
           .control = std::nullopt,
           .bar = "",
           .pass = true});
  }
}

}  // namespace phasor::bench
