// Resident memory of a server beside many streams.

#include <atomic>
#include <memory>
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

constexpr std::int64_t kCacheBytes = std::int64_t{256} << 20;
constexpr std::int64_t kMostBeyond = std::int64_t{64} << 20;
constexpr double kSeconds = 20;
constexpr std::int64_t kChunkBytes = std::int64_t{1} << 20;

// `streams` at the same time for kSeconds; all but every eighth take a message
// a second at most.
void BesideStreams(int streams) {
  constexpr int kFast = 8;
  const ScratchDirectory scratch;
  const std::unique_ptr<ServerProcess> server(
      ServerProcess::Phasord(scratch, {absl::StrCat("--cache_bytes=", kCacheBytes)}));
  const auto table = TableOf(Sinusoidal{.width = 512});
  table->local();
  const std::int64_t rows_of_chunk = kChunkBytes / table->spec().row_bytes();
  const double end = Now() + kSeconds;
  std::atomic<std::int64_t> messages{0};
  std::atomic<int> refused{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < streams; ++i) {
    readers.emplace_back([&, i] {
      const bool fast = i % kFast == 0;
      RowsSource source(i % 2 == 0 ? server->tcp() : server->unix_address(), !fast);
      std::vector<std::byte> expected(static_cast<std::size_t>(kChunkBytes));
      const std::int64_t first = std::int64_t{i} << 24;
      while (Now() < end) {
        std::int64_t start = first;
        const std::string error = source.ReadRows(
            RowsRequest(*table, first, 64 * rows_of_chunk), [&](grpc::ByteBuffer* message) {
              if (start == first) {
                // A message may be shorter where memory is scarce.
                const auto size = message->Length() / static_cast<std::size_t>(rows_of_chunk);
                if (size >= static_cast<std::size_t>(table->spec().row_bytes())) {
                  if (!table->local().ReadInto(first, rows_of_chunk, absl::MakeSpan(expected)).ok())
                    return false;
                  CheckRows(message, *table, first, expected);
                }
              }
              start += rows_of_chunk;
              ++messages;
              for (int tenth = 0; !fast && tenth < 10 && Now() < end; ++tenth) {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
              }
              return Now() < end;
            });
        if (!error.empty() && Now() < end) {
          ++refused;
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  const auto peak = static_cast<double>(server->process().PeakResidentBytes());
  Print({.what = absl::StrCat("resident memory, ", streams, " streams, seven in eight slow"),
         .measured = absl::StrCat(Mebibytes(peak), "; ", messages.load(), " MiB sent, ",
                                  refused.load(), " streams refused"),
         .beside = absl::StrCat("cache_bytes ", Mebibytes(static_cast<double>(kCacheBytes))),
         .ratio = std::nullopt,
         .control = std::nullopt,
         .bar = "<= cache_bytes + 64 MiB",
         .pass = peak <= static_cast<double>(kCacheBytes + kMostBeyond)});
}

}  // namespace

void StreamMemory() {
  for (const int streams : {1, 16, 256}) BesideStreams(streams);
}

}  // namespace phasor::bench
