// Unary calls. Two servers that are the same differ by a quarter when one is
// measured after the other; so here calls to all of them alternate, in several
// rounds and over several starts of the servers, and beside each quotient
// stands the same quotient of two bare servers.

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/items.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/rows_source.h"

namespace phasor::bench {
namespace {

constexpr int kStarts = 3;
constexpr int kRounds = 10;  // each start
constexpr int kTurn = 8;     // calls to one server before the next has its turn
// Of two equal servers, the one whose threads happen to run where the client
// does is half as fast again: so they have their places.
constexpr int kClientCpu = 0;
constexpr int kServerCpu = 1;
constexpr double kMostCpu = 1.1;
constexpr double kMostLatency = 1.05;
constexpr double kMostCold = 1.3;

std::vector<std::byte> LocalRows(const internal::TableHandle& table, std::int64_t start,
                                 std::int64_t count) {
  std::vector<std::byte> rows(static_cast<std::size_t>(count * table.spec().row_bytes()));
  if (!table.local().ReadInto(start, count, absl::MakeSpan(rows)).ok()) Die("core does not read");
  return rows;
}

// One server's figures, round by round.
struct Figures {
  std::vector<double> cpu;      // seconds a call
  std::vector<double> latency;  // the round's median, in seconds
};

struct Contender {
  ServerProcess* server;
  RowsSource source;
  std::string response;
  Figures* figures;
  std::vector<double> latencies = {};
};

void Check(const grpc::ByteBuffer& response, const std::string& expected) {
  std::vector<grpc::Slice> slices;
  bool same = response.Length() == expected.size() && response.Dump(&slices).ok();
  std::size_t done = 0;
  for (const grpc::Slice& slice : slices) {
    same = same && std::memcmp(slice.begin(), expected.data() + done, slice.size()) == 0;
    done += slice.size();
  }
  if (!same) Die("a response is not what it has to be");
}

// Every response is checked, all alike, outside of what is timed.
void Round(std::vector<std::unique_ptr<Contender>>& contenders, const grpc::ByteBuffer& request,
           int calls) {
  std::vector<double> cpu;
  for (const auto& contender : contenders) {
    cpu.push_back(contender->server->process().CpuSeconds());
    contender->latencies.clear();
  }
  for (int done = 0; done < calls; done += kTurn) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      // Each has each place in the row.
      Contender& contender =
          *contenders[(i + static_cast<std::size_t>(done / kTurn)) % contenders.size()];
      for (int call = 0; call < kTurn; ++call) {
        grpc::ByteBuffer response;
        contender.latencies.push_back(contender.source.GetRows(request, &response));
        Check(response, contender.response);
      }
    }
  }
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    Contender& contender = *contenders[i];
    contender.figures->cpu.push_back((contender.server->process().CpuSeconds() - cpu[i]) /
                                     static_cast<double>(contender.latencies.size()));
    contender.figures->latency.push_back(Median(contender.latencies));
  }
}

// A server for each of `figures`, all asked in turn.
struct Field {
  std::vector<std::unique_ptr<ServerProcess>> servers;
  std::vector<std::unique_ptr<Contender>> contenders;

  void Add(ServerProcess* server, bool tcp, std::string response, Figures* figures) {
    servers.emplace_back(server);
    server->process().RunOn(kServerCpu);
    const std::string& address = tcp ? server->tcp() : server->unix_address();
    contenders.push_back(std::unique_ptr<Contender>(
        new Contender{server, RowsSource(address), std::move(response), figures}));
  }

  void Measure(const grpc::ByteBuffer& request, int calls) {
    std::vector<Figures*> figures;
    Figures warm_up;
    for (const auto& contender : contenders) {
      figures.push_back(std::exchange(contender->figures, &warm_up));
    }
    Round(contenders, request, calls / 4);
    for (std::size_t i = 0; i < figures.size(); ++i) contenders[i]->figures = figures[i];
    for (int round = 0; round < kRounds; ++round) Round(contenders, request, calls);
  }
};

void HotCalls(bool tcp, std::int64_t rows, int calls, const std::string& size) {
  const OnCpu here(kClientCpu);
  const auto table = TableOf(Sinusoidal{.width = 512});
  const std::int64_t start = 1024;
  const grpc::ByteBuffer request = RowsRequest(*table, start, rows);
  const std::string response = RowsResponse(*table, start, LocalRows(*table, start, rows));
  const std::string constant = BareResponse(response.size());
  Figures phasord;
  Figures bare;
  Figures control;
  for (int i = 0; i < kStarts; ++i) {
    const ScratchDirectory scratch;
    Field field;
    field.Add(ServerProcess::Phasord(scratch), tcp, response, &phasord);
    field.Add(ServerProcess::Bare(scratch, response.size()), tcp, constant, &bare);
    field.Add(ServerProcess::Bare(scratch, response.size()), tcp, constant, &control);
    field.Measure(request, calls);
  }
  const std::string what = absl::StrCat("hot GetRows ", size, tcp ? ", TCP" : ", UNIX");
  const auto print = [&](const char* name, std::vector<double> Figures::*of, double most) {
    const double ratio = MedianRatio(phasord.*of, bare.*of);
    const double same = MedianRatio(control.*of, bare.*of);
    Print({.what = absl::StrCat(what, ": ", name),
           .measured = Microseconds(Median(phasord.*of)),
           .beside = absl::StrCat("bare ", Microseconds(Median(bare.*of))),
           .ratio = ratio,
           .control = same,
           .bar = absl::StrCat("<= ", most),
           .pass = ratio <= most + std::abs(same - 1)});
  };
  print("server CPU", &Figures::cpu, kMostCpu);
  print("median latency", &Figures::latency, kMostLatency);
}

void HotCalls(bool tcp) {
  HotCalls(tcp, 1, 800, "2 KiB");
  HotCalls(tcp, 32, 480, "64 KiB");
  HotCalls(tcp, 512, 120, "1 MiB");
}

}  // namespace

void CallsTcp() { HotCalls(true); }

void CallsUnix() { HotCalls(false); }

void ColdCalls() {
  constexpr std::int64_t kRows = 32;
  constexpr int kCalls = 480;
  const auto table = TableOf(Sinusoidal{.width = 512});
  for (const bool tcp : {true, false}) {
    std::vector<double> cold_rounds;
    std::vector<double> hot_rounds;
    std::int64_t block = 0;
    for (int i = 0; i < kStarts; ++i) {
      const ScratchDirectory scratch;
      const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch));
      RowsSource source(tcp ? server->tcp() : server->unix_address());
      const grpc::ByteBuffer hot_request = RowsRequest(*table, 0, kRows);
      grpc::ByteBuffer response;
      for (int call = 0; call < kCalls; ++call) source.GetRows(hot_request, &response);
      for (int round = 0; round < kRounds; ++round) {
        std::vector<double> cold;
        std::vector<double> hot;
        for (int call = 0; call < kCalls; ++call) {
          hot.push_back(source.GetRows(hot_request, &response));
          const std::int64_t start = ++block * kRows;
          const grpc::ByteBuffer cold_request = RowsRequest(*table, start, kRows);
          cold.push_back(source.GetRows(cold_request, &response));
          CheckRows(&response, *table, start, LocalRows(*table, start, kRows));
        }
        cold_rounds.push_back(Median(cold));
        hot_rounds.push_back(Median(hot));
      }
    }
    const double ratio = MedianRatio(cold_rounds, hot_rounds);
    Print(
        {.what = absl::StrCat("cold GetRows 64 KiB", tcp ? ", TCP" : ", UNIX", ": median latency"),
         .measured = Microseconds(Median(cold_rounds)),
         .beside = absl::StrCat("hot ", Microseconds(Median(hot_rounds))),
         .ratio = ratio,
         .control = std::nullopt,
         .bar = absl::StrCat("<= ", kMostCold),
         .pass = ratio <= kMostCold});
  }
}

void DeadlockDetection() {
  const OnCpu here(kClientCpu);
  const auto table = TableOf(Sinusoidal{.width = 512});
  constexpr std::size_t kBytes = 2048;
  Figures with;
  Figures without;
  Figures control;
  for (int i = 0; i < kStarts; ++i) {
    const ScratchDirectory scratch;
    Field field;
    const std::string response = BareResponse(kBytes);
    field.Add(ServerProcess::Bare(scratch, kBytes, 1, {"deadlock_detection"}), true, response,
              &with);
    field.Add(ServerProcess::Bare(scratch, kBytes), true, response, &without);
    field.Add(ServerProcess::Bare(scratch, kBytes), true, response, &control);
    field.Measure(RowsRequest(*table, 0, 1), 800);
  }
  const auto print = [&](const char* name, std::vector<double> Figures::*of) {
    Print({.what = absl::StrCat("bare server with Abseil's deadlock detection, 2 KiB, TCP: ", name),
           .measured = Microseconds(Median(with.*of)),
           .beside = absl::StrCat("without ", Microseconds(Median(without.*of))),
           .ratio = MedianRatio(with.*of, without.*of),
           .control = MedianRatio(control.*of, without.*of),
           .bar = ""});
  };
  print("server CPU", &Figures::cpu);
  print("median latency", &Figures::latency);
}

}  // namespace phasor::bench
