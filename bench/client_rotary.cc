// ApplyRotary beside memcpy of the same array.

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/items.h"
#include "bench/report.h"
#include "bench/rows_source.h"
#include "phasor/phasor.h"

namespace phasor::bench {
namespace {

constexpr std::size_t kHeads = 32;
constexpr std::size_t kHeadWidth = 128;

template <typename T>
void RotaryBesideMemcpy(const char* type, Pairing pairing, std::size_t tokens, int rounds) {
  ClientOptions options;
  options.block_cache_bytes = std::int64_t{256} << 20;
  const Table table = Client::Local(options)
                          .Open(Sinusoidal{.width = static_cast<std::int64_t>(kHeadWidth)})
                          .value();
  std::vector<std::int64_t> positions(tokens);
  std::iota(positions.begin(), positions.end(), std::int64_t{1000});
  Cursor warm = table.Decode(1000);
  for (std::size_t i = 0; i < tokens; ++i) {
    if (!warm.Next<float>().ok()) Die("a step failed");
  }
  std::vector<T> x(tokens * kHeads * kHeadWidth);
  std::vector<T> copied(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if constexpr (std::is_same_v<T, float>) {
      x[i] = static_cast<float>(i % 7) - 3;
    } else {
      x[i] = {static_cast<std::uint16_t>(0x3F80 + i % 7)};
    }
  }
  const auto copy = [&] {
    const double begin = Now();
    std::memcpy(copied.data(), x.data(), x.size() * sizeof(T));
    return Now() - begin;
  };
  std::vector<double> rotary;
  std::vector<double> limit;
  std::vector<double> control;
  copy();
  for (int round = 0; round < rounds; ++round) {
    const double begin = Now();
    if (!ApplyRotary(absl::MakeSpan(x), positions, table, pairing).ok()) Die("ApplyRotary fails");
    rotary.push_back(Now() - begin);
    limit.push_back(copy());
    control.push_back(copy());
  }
  const double bytes = static_cast<double>(x.size() * sizeof(T));
  const double ratio = MedianRatio(limit, rotary);
  Print({.what = absl::StrCat("ApplyRotary, ", tokens, " positions of 32 x 128 ", type, ", ",
                              pairing == Pairing::kHalfSplit ? "half-split" : "interleaved"),
         .measured = Rate(bytes / Median(rotary)),
         .beside = absl::StrCat("memcpy ", Rate(bytes / Median(limit))),
         .ratio = ratio,
         .control = MedianRatio(limit, control),
         .bar = ">= 0.5",
         .pass = ratio >= 0.5});
}

}  // namespace

void Rotary() {
  for (const Pairing pairing : {Pairing::kHalfSplit, Pairing::kInterleaved}) {
    RotaryBesideMemcpy<float>("float32", pairing, 256, 300);
    RotaryBesideMemcpy<float>("float32", pairing, 4096, 30);
    RotaryBesideMemcpy<Bfloat16>("bfloat16", pairing, 256, 300);
    RotaryBesideMemcpy<Bfloat16>("bfloat16", pairing, 4096, 30);
  }
}

}  // namespace phasor::bench
