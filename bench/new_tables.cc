// Tables that nobody asked for before, one after another, beside hot calls.

#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/items.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/rows_source.h"

namespace phasor::bench {
namespace {

constexpr int kRounds = 12;
constexpr int kTables = 10000;
constexpr std::int64_t kCacheBytes = std::int64_t{256} << 20;
constexpr std::int64_t kMostBeyond = std::int64_t{64} << 20;
constexpr double kMostTail = 1.5;

// Table `i` of them: a base of its own; one in a hundred as wide as can be, the
// others up to 2048, so that all of them take a minute.
TableSpec SpecOf(int i) {
  static std::mt19937_64 random(4);
  const double exponent = 1 + 10 * static_cast<double>(random() >> 11) * 0x1p-53;
  const std::int64_t width = i % 100 == 0 ? kMaxWidth : std::llround(std::exp2(exponent) / 2) * 2;
  return Sinusoidal{.width = width, .base = 10000.5 + i};
}

// Calls for one row until `stop`; the 99th percentile of what they took.
double Tail(RowsSource& source, const grpc::ByteBuffer& request, const std::string& expected,
            const std::atomic<bool>& stop) {
  std::vector<double> seconds;
  grpc::ByteBuffer response;
  while (!stop) {
    seconds.push_back(source.GetRows(request, &response));
    if (response.Length() != expected.size()) Die("a hot call got another answer");
  }
  return Quantile(seconds, 0.99);
}

}  // namespace

void NewTables() {
  const ScratchDirectory scratch;
  const std::unique_ptr<ServerProcess> server(
      ServerProcess::Phasord(scratch, {absl::StrCat("--cache_bytes=", kCacheBytes)}));
  const auto hot = TableOf(Sinusoidal{.width = 512});
  std::vector<std::byte> row(static_cast<std::size_t>(hot->spec().row_bytes()));
  if (!hot->local().ReadInto(7, 1, absl::MakeSpan(row)).ok()) Die("core does not read");
  const grpc::ByteBuffer request = RowsRequest(*hot, 7, 1);
  const std::string expected = RowsResponse(*hot, 7, row);
  RowsSource decoding(server->tcp());
  grpc::ByteBuffer response;
  decoding.GetRows(request, &response);
  CheckRows(&response, *hot, 7, row);

  std::vector<double> beside_tables;
  std::vector<double> beside_busy;
  RowsSource opening(server->tcp());
  double opening_seconds = 0;
  int opened = 0;
  for (int round = 0; round < kRounds; ++round) {
    double round_seconds = 0;
    {
      std::atomic<bool> stop = false;
      std::thread opener([&] {
        const double begin = Now();
        for (; opened < kTables * (round + 1) / kRounds; ++opened) {
          const auto table = TableOf(SpecOf(opened));
          grpc::ByteBuffer answer;
          opening.GetRows(RowsRequest(*table, opened, 1), &answer);
          // Making the rows here as well would take as long again.
          if (opened % 500 == 1) {
            std::vector<std::byte> same(static_cast<std::size_t>(table->spec().row_bytes()));
            if (!table->local().ReadInto(opened, 1, absl::MakeSpan(same)).ok()) Die("no rows");
            CheckRows(&answer, *table, opened, same);
          }
        }
        round_seconds = Now() - begin;
        stop = true;
      });
      beside_tables.push_back(Tail(decoding, request, expected, stop));
      opener.join();
      opening_seconds += round_seconds;
    }
    {
      // An unrelated process that is busy on one thread for as long.
      const Process busy({"/bin/sh", "-c", "while :; do :; done"});
      std::atomic<bool> stop = false;
      std::thread timer([&] {
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(round_seconds, 2.0)));
        stop = true;
      });
      beside_busy.push_back(Tail(decoding, request, expected, stop));
      timer.join();
    }
  }
  const auto peak = static_cast<double>(server->process().PeakResidentBytes());
  Print(
      {.what = absl::StrCat(kTables, " different (d, base), d to ", kMaxWidth, ": resident memory"),
       .measured =
           absl::StrCat(Mebibytes(peak), " after ", static_cast<int>(opening_seconds), " s"),
       .beside = absl::StrCat("cache_bytes ", Mebibytes(static_cast<double>(kCacheBytes))),
       .ratio = std::nullopt,
       .control = std::nullopt,
       .bar = "<= cache_bytes + 64 MiB",
       .pass = peak <= static_cast<double>(kCacheBytes + kMostBeyond)});
  const double ratio = MedianRatio(beside_tables, beside_busy);
  Print({.what = "99th percentile of hot GetRows 2 KiB beside them",
         .measured = Microseconds(Median(beside_tables)),
         .beside = absl::StrCat("beside a busy process ", Microseconds(Median(beside_busy))),
         .ratio = ratio,
         .control = std::nullopt,
         .bar = absl::StrCat("<= ", kMostTail),
         .pass = ratio <= kMostTail});
}

}  // namespace phasor::bench
