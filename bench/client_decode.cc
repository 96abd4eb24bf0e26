// The client library as decoders use it: steps from memory beside memcpy, steps
// that wait for the network, calls, and a gather of rows that nobody has.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/items.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/rows_source.h"
#include "phasor/phasor.h"

namespace phasor::bench {
namespace {

constexpr std::int64_t kWidth = 512;
constexpr std::int64_t kRowBytes = kWidth * 4;
const Sinusoidal kSpec{.width = kWidth};

std::string Nanoseconds(double seconds) { return absl::StrFormat("%.1f ns", seconds * 1e9); }

Table OpenAt(const std::string& address, std::int64_t cache_bytes = std::int64_t{64} << 20) {
  ClientOptions options;
  options.block_cache_bytes = cache_bytes;
  return Client::Connect(address, options).value().Open(kSpec).value();
}

// So that what is computed is.
void Keep(const void* p) { asm volatile("" : : "g"(p) : "memory"); }

double NextSeconds(Cursor cursor, std::int64_t rows) {
  const double begin = Now();
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = cursor.Next<float>();
    if (!row.ok()) Die("a step failed");
    Keep(row->data());
  }
  return Now() - begin;
}

void NextBesideMemcpy(const ScratchDirectory& scratch) {
  constexpr std::int64_t kRows = 4096;
  constexpr int kRounds = 200;
  const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch));
  const Table table = OpenAt(server->unix_address());
  // The rows' places in the blocks, and copies of cursors that keep them there.
  std::vector<const float*> rows;
  std::vector<Cursor> pins;
  Cursor cursor = table.Decode();
  for (std::int64_t i = 0; i < kRows; ++i) {
    rows.push_back(cursor.Next<float>()->data());
    if (i % 32 == 0) pins.push_back(cursor);
  }
  std::vector<std::byte> out(kRowBytes);
  const auto copy = [&] {
    const double begin = Now();
    for (const float* row : rows) {
      std::memcpy(out.data(), row, kRowBytes);
      Keep(out.data());
    }
    return Now() - begin;
  };
  std::vector<double> next;
  std::vector<double> limit;
  std::vector<double> control;
  for (int round = 0; round < kRounds; ++round) {
    next.push_back(NextSeconds(table.Decode(), kRows));
    limit.push_back(copy());
    control.push_back(copy());
  }
  const double ratio = MedianRatio(next, limit);
  Print({.what = "Next(), d = 512 float32, in memory",
         .measured = Nanoseconds(Median(next) / kRows),
         .beside = absl::StrCat("memcpy of the row ", Nanoseconds(Median(limit) / kRows)),
         .ratio = ratio,
         .control = MedianRatio(control, limit),
         .bar = "<= 1.5",
         .pass = ratio <= 1.5});
}

void StepOfABatch(const ScratchDirectory& scratch) {
  constexpr std::int64_t kPositions = 128 << 10;
  constexpr std::size_t kSequences = 256;
  constexpr int kRounds = 2000;
  const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch));
  const Table table = OpenAt(server->unix_address(), std::int64_t{1} << 30);
  std::vector<std::byte> resident(kPositions * kRowBytes);
  if (!table.ReadInto(0, kPositions, absl::MakeSpan(resident)).ok()) Die("ReadInto fails");
  Cursor warm = table.Decode();
  for (std::int64_t p = 0; p < kPositions; ++p) {
    if (!warm.Next<float>().ok()) Die("a step failed");
  }
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> uniform(0, kPositions - 1);
  std::vector<std::int64_t> positions(kSequences);
  std::vector<std::byte> out(kSequences * kRowBytes);
  std::vector<std::byte> copied(kSequences * kRowBytes);
  const auto draw = [&] {
    for (std::int64_t& position : positions) position = uniform(random);
  };
  const auto copy = [&] {
    draw();
    const double begin = Now();
    for (std::size_t i = 0; i < kSequences; ++i) {
      std::memcpy(copied.data() + i * kRowBytes, resident.data() + positions[i] * kRowBytes,
                  kRowBytes);
    }
    return Now() - begin;
  };
  std::vector<double> step;
  std::vector<double> limit;
  std::vector<double> control;
  for (int round = 0; round < kRounds; ++round) {
    draw();
    const double begin = Now();
    if (!table.Gather(positions, absl::MakeSpan(out)).ok()) Die("a step failed");
    step.push_back(Now() - begin);
    for (std::size_t i = 0; i < kSequences; ++i) {
      if (std::memcmp(out.data() + i * kRowBytes, resident.data() + positions[i] * kRowBytes,
                      kRowBytes) != 0) {
        Die("Gather gives other rows");
      }
    }
    limit.push_back(copy());
    control.push_back(copy());
  }
  const double ratio = Median(step) / Median(limit);
  Print({.what = "a step of 256 sequences within 128 k positions, in memory",
         .measured = Microseconds(Median(step)),
         .beside = absl::StrCat("256 memcpy from one table ", Microseconds(Median(limit))),
         .ratio = ratio,
         .control = Median(control) / Median(limit),
         .bar = "<= 2",
         .pass = ratio <= 2});
}

void PacedSequences(const ScratchDirectory& scratch) {
  constexpr int kThreads = 8;
  constexpr int kInAThread = 8;
  constexpr int kSteps = 2000;
  const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch));
  const Client client = Client::Connect(server->tcp()).value();
  const Table table = client.Open(kSpec).value();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&table, t] {
      std::vector<Cursor> cursors;
      for (int i = 0; i < kInAThread; ++i) {
        // Anywhere in a block, its last rows too.
        cursors.push_back(table.Decode((t * kInAThread + i) * std::int64_t{100'003}));
      }
      auto next = std::chrono::steady_clock::now();
      for (int step = 0; step < kSteps; ++step) {
        for (Cursor& cursor : cursors) {
          if (!cursor.Next<float>().ok()) Die("a step failed");
        }
        next += std::chrono::milliseconds(5);
        std::this_thread::sleep_until(next);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::int64_t sequences = kThreads * kInAThread;
  const std::int64_t waits = client.counters().stalls - sequences;
  Print({.what = "steps that waited, 64 sequences at 200 steps/s, after the first block",
         .measured = absl::StrCat(waits, " of ", sequences * kSteps),
         .bar = "0",
         .pass = waits == 0});
}

void CallsPerStep(const ScratchDirectory& scratch) {
  constexpr std::int64_t kSteps = 20'000;
  const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch));
  const Client client = Client::Connect(server->tcp()).value();
  Cursor cursor = client.Open(kSpec).value().Decode();
  NextSeconds(cursor, 2000);
  cursor.Seek(2000);
  const std::int64_t before = client.counters().rpcs;
  NextSeconds(cursor, kSteps);
  const double calls = static_cast<double>(client.counters().rpcs - before) * 1000 / kSteps;
  Print({.what = "calls per 1000 steps of one sequence, d = 512",
         .measured = absl::StrFormat("%.2f", calls),
         .bar = "<= 4",
         .pass = calls <= 4});
}

// Rows that the client does not have; `server_has_them`: but the server.
void ColdGather(const ScratchDirectory& scratch, bool server_has_them) {
  constexpr std::size_t kRows = 256;
  constexpr int kStarts = 3;
  constexpr int kRounds = 100;
  const std::int64_t positions_of_server =
      server_has_them ? std::int64_t{128} << 10 : std::int64_t{1} << 40;
  std::vector<double> gather;
  std::vector<double> bare;
  std::vector<double> control;
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> uniform(0, positions_of_server - 1);
  const auto handle = TableOf(kSpec);
  const grpc::ByteBuffer request = RowsRequest(*handle, 0, kRows);
  std::vector<std::byte> out(kRows * kRowBytes);
  for (int i = 0; i < kStarts; ++i) {
    const std::unique_ptr<ServerProcess> server(
        ServerProcess::Phasord(scratch, {"--cache_bytes=1073741824"}));
    const std::unique_ptr<ServerProcess> limit(ServerProcess::Bare(scratch, kRows * kRowBytes));
    const std::unique_ptr<ServerProcess> same(ServerProcess::Bare(scratch, kRows * kRowBytes));
    // Without blocks of its own a client is always cold.
    const Table table = OpenAt(server->tcp(), 0);
    if (server_has_them) {
      std::vector<std::byte> all(positions_of_server * kRowBytes);
      if (!table.ReadInto(0, positions_of_server, absl::MakeSpan(all)).ok()) Die("ReadInto fails");
    }
    RowsSource from_limit(limit->tcp());
    RowsSource from_same(same->tcp());
    const auto call = [&](RowsSource& source) {
      grpc::ByteBuffer response;
      return source.GetRows(request, &response);
    };
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::int64_t> positions(kRows);
      for (std::int64_t& position : positions) position = uniform(random);
      const double begin = Now();
      if (!table.Gather(positions, absl::MakeSpan(out)).ok()) Die("Gather fails");
      gather.push_back(Now() - begin);
      bare.push_back(call(from_limit));
      control.push_back(call(from_same));
    }
  }
  const double ratio = Median(gather) / Median(bare);
  Line line{.what = absl::StrCat("Gather of 256 random positions that the client has not, ",
                                 server_has_them ? "the server has" : "nor the server"),
            .measured = Microseconds(Median(gather)),
            .beside = absl::StrCat("a bare call ", Microseconds(Median(bare))),
            .ratio = ratio,
            .control = Median(control) / Median(bare)};
  if (server_has_them) {
    line.bar = "<= 2";
    line.pass = ratio <= 2;
  }
  Print(line);
}

}  // namespace

void Decoding() {
  const ScratchDirectory scratch;
  NextBesideMemcpy(scratch);
  StepOfABatch(scratch);
  PacedSequences(scratch);
  CallsPerStep(scratch);
  ColdGather(scratch, /*server_has_them=*/true);
  ColdGather(scratch, /*server_has_them=*/false);
}

}  // namespace phasor::bench
