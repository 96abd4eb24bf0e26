// Others that hand out the same rows. Nothing is judged here: each has its
// place, and what is slower than another is seen.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bench/items.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/rows_source.h"
#include "phasor/client.h"

namespace phasor::bench {
namespace {

constexpr std::int64_t kTableRows = 8192;
constexpr int kRounds = 9;

// Redis, asked over a UNIX socket, as far as GETRANGE and SET need.
class Redis {
 public:
  explicit Redis(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    for (int tries = 0; tries < 100; ++tries) {
      fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
      close(fd_);
      fd_ = -1;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  Redis(const Redis&) = delete;
  ~Redis() {
    if (fd_ >= 0) close(fd_);
  }

  bool connected() const { return fd_ >= 0; }

  void Send(const std::vector<std::string>& words) {
    std::string text = absl::StrCat("*", words.size(), "\r\n");
    for (const std::string& word : words)
      absl::StrAppend(&text, "$", word.size(), "\r\n", word, "\r\n");
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = write(fd_, text.data() + done, text.size() - done);
      if (count <= 0) Die("Redis does not listen");
      done += static_cast<std::size_t>(count);
    }
  }

  // The answer's first line; the bytes behind it, if it tells of any, to `out`.
  void Receive(absl::Span<std::byte> out) {
    const std::size_t size = buffer_.size();
    std::size_t have = 0;
    std::size_t end = std::string::npos;
    while (end == std::string::npos) {
      have += Read(buffer_.data() + have, size - have);
      end = absl::string_view(buffer_.data(), have).find("\r\n");
    }
    if (buffer_[0] == '-') Die(std::string(buffer_.data(), end));
    if (buffer_[0] != '$') return;
    end += 2;
    std::size_t done = std::min(have - end, out.size());
    std::memcpy(out.data(), buffer_.data() + end, done);
    std::size_t rest = out.size() + 2 - (have - end);
    while (done < out.size()) {
      const std::size_t count = Read(reinterpret_cast<char*>(out.data()) + done, out.size() - done);
      done += count;
      rest -= count;
    }
    char tail[2];
    while (rest > 0) rest -= Read(tail, rest);
  }

 private:
  std::size_t Read(char* to, std::size_t most) const {
    const ssize_t count = read(fd_, to, most);
    if (count <= 0) Die("Redis does not answer");
    return static_cast<std::size_t>(count);
  }

  int fd_ = -1;
  std::vector<char> buffer_ = std::vector<char>(4096);
};

struct Way {
  std::string name;
  std::function<double()> seconds;  // of one call
  std::vector<double> rounds = {};
};

}  // namespace

void Peers() {
  const TableSpec spec(Sinusoidal{.width = 512});
  const auto table = TableOf(spec);
  const std::int64_t row_bytes = table->spec().row_bytes();
  std::vector<std::byte> rows(static_cast<std::size_t>(kTableRows * row_bytes));
  if (!table->local().ReadInto(0, kTableRows, absl::MakeSpan(rows)).ok()) Die("core does not read");

  const ScratchDirectory scratch;
  const std::string file = scratch.path() + "/rows.raw";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(rows.data()), static_cast<std::streamsize>(rows.size()));
  const std::unique_ptr<ServerProcess> server(ServerProcess::Phasord(scratch));
  RowsSource source(server->unix_address());
  const Table local = Client::Local({.block_cache_bytes = 0}).Open(spec).value();
  const std::string socket = scratch.path() + "/redis";
  const Process redis_process({"redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                               "--dir", scratch.path(), "--loglevel", "warning"});
  Redis redis(socket);
  if (redis.connected()) {
    redis.Send(
        {"SET", "rows", std::string(reinterpret_cast<const char*>(rows.data()), rows.size())});
    redis.Receive({});
  }
  Process python({PHASOR_BENCH_PYTHON, absl::StrCat(PHASOR_BENCH_DIR, "/numpy_rows.py"), file,
                  absl::StrCat(table->spec().row_width())});
  if (python.ReadLine().empty()) Die("there is no NumPy: ./dev deps test");

  for (const std::int64_t count : {1, 32, 512}) {
    const auto bytes = static_cast<std::size_t>(count * row_bytes);
    std::vector<std::byte> out(bytes);
    std::int64_t start = 0;
    const auto expected = [&] {
      return absl::MakeConstSpan(rows).subspan(static_cast<std::size_t>(start * row_bytes), bytes);
    };
    const auto check = [&](const char* who) {
      if (std::memcmp(out.data(), expected().data(), bytes) != 0) {
        Die(absl::StrCat(who, " gives other rows"));
      }
    };
    std::vector<Way> ways;
    ways.push_back({"phasord, UNIX, hot", [&] {
                      grpc::ByteBuffer response;
                      const double seconds =
                          source.GetRows(RowsRequest(*table, start, count), &response);
                      CheckRows(&response, *table, start, expected());
                      return seconds;
                    }});
    ways.push_back({"phasor in the process", [&] {
                      const double begin = Now();
                      if (!local.ReadInto(start, count, absl::MakeSpan(out)).ok()) Die("no rows");
                      const double seconds = Now() - begin;
                      check("core");
                      return seconds;
                    }});
    if (redis.connected()) {
      ways.push_back({"Redis GETRANGE, UNIX", [&] {
                        const double begin = Now();
                        redis.Send({"GETRANGE", "rows", absl::StrCat(start * row_bytes),
                                    absl::StrCat((start + count) * row_bytes - 1)});
                        redis.Receive(absl::MakeSpan(out));
                        const double seconds = Now() - begin;
                        check("Redis");
                        return seconds;
                      }});
    }
    for (const char* how : {"numpy.memmap of a file", "NumPy in the process"}) {
      ways.push_back({how, [&, how] {
                        python.Send(
                            absl::StrCat(how[5] == '.' ? "map" : "make", " ", start, " ", count));
                        return std::stod(python.ReadLine());
                      }});
    }
    for (int round = 0; round < kRounds; ++round) {
      for (Way& way : ways) {
        std::vector<double> seconds;
        for (int call = 0; call < 100; ++call) {
          start = (start + 512) % kTableRows;
          seconds.push_back(way.seconds());
        }
        way.rounds.push_back(Median(seconds));
      }
    }
    for (std::size_t i = 1; i < ways.size(); ++i) {
      Print({.what = absl::StrCat(bytes / 1024, " KiB of rows: ", ways[i].name),
             .measured = Microseconds(Median(ways[i].rounds)),
             .beside = absl::StrCat(ways[0].name, " ", Microseconds(Median(ways[0].rounds))),
             .ratio = MedianRatio(ways[i].rounds, ways[0].rounds),
             .control = std::nullopt,
             .bar = ""});
    }
  }
}

}  // namespace phasor::bench
