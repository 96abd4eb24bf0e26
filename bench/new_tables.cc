// Tables that nobody asked for before, one after another, beside hot calls.

#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
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
constexpr char kOpened[] = "opened";

// Table `i` of them: a base of its own, a width that is as likely between 2 and 4
// as between 32 768 and 65 536.
TableSpec SpecOf(int i) {
  static std::mt19937_64 random(4);
  const double exponent = 1 + 15 * static_cast<double>(random() >> 11) * 0x1p-53;
  return Sinusoidal{.width = std::llround(std::exp2(exponent) / 2) * 2, .base = 10000.5 + i};
}

// Calls for one row while `work` is done; the 99th percentile of what they took.
double Tail(RowsSource& source, const grpc::ByteBuffer& request, const std::string& expected,
            const std::function<void()>& work) {
  std::atomic<bool> done = false;
  std::thread worker([&] {
    work();
    done = true;
  });
  std::vector<double> seconds;
  grpc::ByteBuffer response;
  while (!done) {
    seconds.push_back(source.GetRows(request, &response));
    if (response.Length() != expected.size()) Die("a hot call got another answer");
  }
  worker.join();
  return Quantile(seconds, 0.99);
}

class Opener {
 public:
  explicit Opener(const ServerProcess& server)
      : process_({SiblingProgram("phasor_bench"), kOpenTables, server.tcp()}) {}

  // Returns when the first `count` tables are open.
  void OpenUntil(int count) {
    process_.Send(absl::StrCat(count));
    if (process_.ReadLine() != kOpened) Die("the process that opens tables is gone");
  }

 private:
  Process process_;
};

}  // namespace

int OpenTables(const std::string& address) {
  RowsSource source(address);
  int opened = 0;
  for (int wanted = 0; std::scanf("%d", &wanted) == 1;) {
    for (; opened < wanted; ++opened) {
      const auto table = TableOf(SpecOf(opened));
      grpc::ByteBuffer answer;
      source.GetRows(RowsRequest(*table, opened, 1), &answer);
      // Making the rows here as well would take as long again.
      if (opened % 500 == 1) {
        std::vector<std::byte> same(static_cast<std::size_t>(table->spec().row_bytes()));
        if (!table->local().ReadInto(opened, 1, absl::MakeSpan(same)).ok()) Die("no rows");
        CheckRows(&answer, *table, opened, same);
      }
    }
    std::printf("%s\n", kOpened);
    std::fflush(stdout);
  }
  return 0;
}

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

  // Another process, as those who decode are not those who want new tables.
  Opener opener(*server);
  std::vector<double> beside_tables;
  std::vector<double> beside_busy;
  double opening_seconds = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int opened = kTables * (round + 1) / kRounds;
    const double begin = Now();
    beside_tables.push_back(Tail(decoding, request, expected, [&] { opener.OpenUntil(opened); }));
    const double seconds = Now() - begin;
    opening_seconds += seconds;
    // Busy on one thread.
    const Process busy({"/bin/sh", "-c", "while :; do :; done"});
    beside_busy.push_back(Tail(decoding, request, expected, [seconds] {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(seconds, 2.0)));
    }));
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
