// Computes row 2 of a table in this process, with phasor::core alone.

#include <cstdio>
#include <vector>

#include "phasor/core/local_table.h"

int main() {
  const auto spec = phasor::CanonicalSpec::Create(phasor::Sinusoidal{.width = 4});
  if (!spec.ok()) return 1;
  std::vector<float> row(4);
  const absl::Status status = phasor::LocalTable::Create(*spec)->ReadInto(
      /*start=*/2, /*count=*/1, {reinterpret_cast<std::byte*>(row.data()), 4 * sizeof(float)});
  if (!status.ok()) return 1;
  for (const float x : row) std::printf(" %9.6f", x);
  std::printf("\n");
  return 0;
}
