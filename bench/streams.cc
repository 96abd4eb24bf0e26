// Long ranges beside a bare stream of messages of the same size.

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/items.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/rows_source.h"
#include "grpcpp/support/slice.h"
#include "phasor/client.h"

namespace phasor::bench {
namespace {

constexpr std::int64_t kChunkBytes = std::int64_t{1} << 20;
constexpr double kLeastRate = 0.9;

Line StreamLine(const std::string& what, double bytes, const std::vector<double>& seconds,
                const std::vector<double>& bare, const std::vector<double>& control) {
  const double ratio = MedianRatio(bare, seconds);
  return {.what = what,
          .measured = Rate(bytes / Median(seconds)),
          .beside = absl::StrCat("bare ", Rate(bytes / Median(bare))),
          .ratio = ratio,
          .control = MedianRatio(bare, control),
          .bar = absl::StrCat(">= ", kLeastRate),
          .pass = ratio >= kLeastRate};
}

// Seconds to read a stream of `bytes` bytes of rows and drop it. Its data are
// checked where a row of core's is given.
double Drop(RowsSource& source, const grpc::ByteBuffer& request, std::int64_t bytes) {
  std::int64_t got = 0;
  const double begin = Now();
  const std::string error = source.ReadRows(request, [&](grpc::ByteBuffer* message) {
    got += static_cast<std::int64_t>(message->Length());
    return true;
  });
  const double seconds = Now() - begin;
  if (!error.empty()) Die(error);
  if (got < bytes || got > bytes + bytes / 1000) Die("a stream has another size");
  return seconds;
}

// The same into `out`.
double Copy(RowsSource& source, const grpc::ByteBuffer& request, absl::Span<std::byte> out) {
  std::size_t done = 0;
  const double begin = Now();
  const std::string error = source.ReadRows(request, [&](grpc::ByteBuffer* message) {
    std::vector<grpc::Slice> slices;
    if (!message->Dump(&slices).ok()) return false;
    for (const grpc::Slice& slice : slices) {
      const std::size_t size = std::min(slice.size(), out.size() - done);
      std::memcpy(out.data() + done, slice.begin(), size);
      done += size;
    }
    return true;
  });
  const double seconds = Now() - begin;
  if (!error.empty()) Die(error);
  if (done != out.size()) Die("a stream has another size");
  return seconds;
}

// `held`: by a cache that holds all of it, else made while it is sent.
void LongStream(bool tcp, bool held) {
  constexpr int kStarts = 3;
  constexpr int kRounds = 6;
  constexpr std::int64_t kBytes = std::int64_t{1} << 30;
  const auto table = TableOf(Sinusoidal{.width = 512});
  const std::int64_t rows = kBytes / table->spec().row_bytes();
  const std::int64_t rows_of_chunk = kChunkBytes / table->spec().row_bytes();
  const std::size_t chunk =
      RowsResponse(*table, rows_of_chunk, std::vector<std::byte>(kChunkBytes)).size();
  const grpc::ByteBuffer request = RowsRequest(*table, 0, rows);
  std::vector<std::string> flags;
  // What is larger than half of the cache passes it by.
  if (held) flags.push_back(absl::StrCat("--cache_bytes=", kBytes / 4 * 9));
  std::vector<double> phasord;
  std::vector<double> bare;
  std::vector<double> control;
  for (int i = 0; i < kStarts; ++i) {
    const ScratchDirectory scratch;
    const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch, flags));
    const std::unique_ptr<ServerProcess> limit(
        ServerProcess::Bare(scratch, chunk, kBytes / kChunkBytes));
    const std::unique_ptr<ServerProcess> same(
        ServerProcess::Bare(scratch, chunk, kBytes / kChunkBytes));
    const auto source = [tcp](ServerProcess& of) {
      return RowsSource(tcp ? of.tcp() : of.unix_address());
    };
    RowsSource from_server = source(*server);
    RowsSource from_limit = source(*limit);
    RowsSource from_same = source(*same);
    if (held) Drop(from_server, request, kBytes);
    for (int round = 0; round < kRounds; ++round) {
      phasord.push_back(Drop(from_server, request, kBytes));
      bare.push_back(Drop(from_limit, request, kBytes));
      control.push_back(Drop(from_same, request, kBytes));
    }
    // What the stream brings, once: each message beside core's own rows.
    std::vector<std::byte> expected(static_cast<std::size_t>(kChunkBytes));
    std::int64_t start = 0;
    const std::string error = from_server.ReadRows(request, [&](grpc::ByteBuffer* message) {
      if (!table->local().ReadInto(start, rows_of_chunk, absl::MakeSpan(expected)).ok())
        return false;
      CheckRows(message, *table, start, expected);
      start += rows_of_chunk;
      return start < rows / 8;
    });
    if (start < rows / 8) Die(error);
  }
  Print(StreamLine(absl::StrCat("ReadRows 1 GiB ", held ? "of the cache" : "made while sent",
                                tcp ? ", TCP" : ", UNIX"),
                   kBytes, phasord, bare, control));
}

void WholeTable(bool tcp) {
  constexpr int kStarts = 3;
  constexpr int kRounds = 10;
  constexpr std::int64_t kRows = 131072;
  const TableSpec spec = Sinusoidal{.width = 128};
  const auto table = TableOf(spec);
  const auto bytes = static_cast<std::size_t>(kRows * table->spec().row_bytes());
  const std::int64_t rows_of_chunk = kChunkBytes / table->spec().row_bytes();
  const std::size_t chunk =
      RowsResponse(*table, rows_of_chunk, std::vector<std::byte>(kChunkBytes)).size();
  std::vector<std::byte> expected(bytes);
  if (!table->local().ReadInto(0, kRows, absl::MakeSpan(expected)).ok()) Die("core does not read");
  std::vector<std::byte> out(bytes);
  const grpc::ByteBuffer request = RowsRequest(*table, 0, kRows);
  std::vector<double> phasord;
  std::vector<double> bare;
  std::vector<double> control;
  for (int i = 0; i < kStarts; ++i) {
    const ScratchDirectory scratch;
    const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch));
    const std::int64_t messages = kRows / rows_of_chunk;
    const std::unique_ptr<ServerProcess> limit(ServerProcess::Bare(scratch, chunk, messages));
    const std::unique_ptr<ServerProcess> same(ServerProcess::Bare(scratch, chunk, messages));
    const auto address = [tcp](ServerProcess& of) { return tcp ? of.tcp() : of.unix_address(); };
    const Table remote = Client::Connect(address(*server)).value().Open(spec).value();
    RowsSource from_limit(address(*limit));
    RowsSource from_same(address(*same));
    for (int round = 0; round < kRounds; ++round) {
      const double begin = Now();
      if (!remote.ReadInto(0, kRows, absl::MakeSpan(out)).ok()) Die("ReadInto fails");
      phasord.push_back(Now() - begin);
      if (std::memcmp(out.data(), expected.data(), bytes) != 0) Die("ReadInto gives other rows");
      bare.push_back(Copy(from_limit, request, absl::MakeSpan(out)));
      control.push_back(Copy(from_same, request, absl::MakeSpan(out)));
    }
  }
  Print(StreamLine(absl::StrCat("ReadInto of 131072 x 128 float32", tcp ? ", TCP" : ", UNIX"),
                   static_cast<double>(bytes), phasord, bare, control));
}

}  // namespace

void Streams() {
  for (const bool tcp : {true, false}) {
    LongStream(tcp, /*held=*/true);
    LongStream(tcp, /*held=*/false);
    WholeTable(tcp);
  }
}

}  // namespace phasor::bench
