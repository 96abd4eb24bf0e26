// quickstart [ADDRESS]: prints a table's first rows and decodes from position
// 1000, asking the server at ADDRESS, or none.

#include <cstdio>

#include "phasor/phasor.h"

namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

void Print(std::int64_t position, absl::Span<const float> row) {
  std::printf("%5lld:", static_cast<long long>(position));
  for (const float x : row) std::printf(" %9.6f", x);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = argc > 1 ? phasor::Client::Connect(argv[1]) : phasor::Client::Local();
  if (!client.ok()) return Fail(client.status());
  const auto table = client->Open(phasor::Sinusoidal{.width = 4});
  if (!table.ok()) return Fail(table.status());

  const auto rows = table->Read(/*start=*/0, /*count=*/3);
  if (!rows.ok()) return Fail(rows.status());
  for (int p = 0; p < 3; ++p) Print(p, *rows->row<float>(p));

  phasor::Cursor cursor = table->Decode(/*offset=*/1000);
  for (int token = 0; token < 3; ++token) {
    const std::int64_t position = cursor.position();
    const auto row = cursor.Next<float>();
    if (!row.ok()) return Fail(row.status());
    Print(position, *row);
  }
  return 0;
}
