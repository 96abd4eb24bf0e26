// core on one thread, beside what memory allows and beside NumPy's recipe.

#include <sys/mman.h>
#include <time.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "bench/items.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/rows_source.h"
#include "phasor/core/local_table.h"

namespace phasor::bench {
namespace {

constexpr int kRounds = 15;
constexpr std::int64_t kRows = 65536;
constexpr std::int64_t kWidth = 512;
constexpr double kLeastOfMemset = 0.8;
constexpr double kLeastOfMemsetWide = 0.5;
constexpr double kLeastOfMemsetHalf = 0.25;
constexpr double kLeastTimesNumPy = 8;
constexpr double kLeastOfInterleaved = 0.7;
constexpr double kLeastSeededElements = 20e6;
constexpr double kMostBlockSeconds = 40e-6;
constexpr double kMostOpenSeconds = 20e-3;

// Memory that was touched, in ordinary pages.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    std::memset(bytes_.data(), 1, bytes_.size());
  }
  absl::Span<std::byte> span() { return absl::MakeSpan(bytes_); }

  // Seconds of a memset that is not left out.
  double Set() {
    const double begin = Now();
    std::memset(bytes_.data(), 2, bytes_.size());
    asm volatile("" : : "r"(bytes_.data()) : "memory");
    return Now() - begin;
  }

  // Seconds of stores that pass the caches by, or nothing where there are none.
  std::optional<double> Stream() {
#if defined(__x86_64__)
    const double begin = Now();
    const __m128i value = _mm_set1_epi8(3);
    auto* out = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(bytes_.data()) + 15) &
                                        ~std::uintptr_t{15});
    auto* const end = reinterpret_cast<char*>(bytes_.data() + bytes_.size());
    for (; out + 64 <= end; out += 64) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out), value);
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + 16), value);
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + 32), value);
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + 48), value);
    }
    _mm_sfence();
    return Now() - begin;
#else
    return std::nullopt;
#endif
  }

 private:
  std::vector<std::byte> bytes_;
};

std::shared_ptr<const LocalTable> Open(const TableSpec& spec) {
  return LocalTable::Create(CanonicalSpec::Create(spec).value());
}

double CpuNow() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void Read(const LocalTable& table, std::int64_t start, absl::Span<std::byte> out) {
  const std::int64_t count = static_cast<std::int64_t>(out.size()) / table.spec().row_bytes();
  const absl::Status status = table.ReadInto(start, count, out);
  if (!status.ok()) Die(status.ToString());
}

double ReadSeconds(const LocalTable& table, absl::Span<std::byte> out) {
  const double begin = Now();
  Read(table, 0, out);
  return Now() - begin;
}

// Rows that were read as a whole beside the same ones gathered one by one,
// which is another way through core.
void CheckSome(const LocalTable& table, absl::Span<const std::byte> rows) {
  static std::mt19937_64 random(1);
  const std::int64_t row_bytes = table.spec().row_bytes();
  const std::int64_t count = static_cast<std::int64_t>(rows.size()) / row_bytes;
  std::vector<std::int64_t> positions(16);
  for (std::int64_t& position : positions) {
    position = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
  }
  std::vector<std::byte> gathered(positions.size() * static_cast<std::size_t>(row_bytes));
  if (!table.GatherInto(positions, absl::MakeSpan(gathered)).ok()) Die("core does not gather");
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (std::memcmp(gathered.data() + i * static_cast<std::size_t>(row_bytes),
                    rows.data() + positions[i] * row_bytes,
                    static_cast<std::size_t>(row_bytes)) != 0) {
      Die(absl::StrCat("row ", positions[i], " differs from the same row gathered"));
    }
  }
}

// Float32 sines and cosines, interleaved, beside the C library's in binary64:
// their difference is less than one unit in the last place of 1.
void CheckFormula(absl::Span<const std::byte> rows, std::int64_t count) {
  static std::mt19937_64 random(2);
  const auto* elements = reinterpret_cast<const float*>(rows.data());
  for (int i = 0; i < 4096; ++i) {
    const auto position = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
    const auto column = static_cast<std::int64_t>(random() % kWidth);
    const double angle =
        static_cast<double>(position) *
        std::pow(kDefaultBase, -static_cast<double>(column / 2 * 2) / static_cast<double>(kWidth));
    const double expected = column % 2 == 0 ? std::sin(angle) : std::cos(angle);
    if (std::abs(elements[position * kWidth + column] - expected) > 0x1p-24) {
      Die(absl::StrCat("element ", column, " of row ", position, " is wrong"));
    }
  }
}

// NumPy's recipe, in a process of its own.
class NumPy {
 public:
  NumPy()
      : process_({PHASOR_BENCH_PYTHON, absl::StrCat(PHASOR_BENCH_DIR, "/numpy_recipe.py"),
                  absl::StrCat(kRows), absl::StrCat(kWidth)}) {
    version_ = process_.ReadLine();
    if (version_.empty()) Die("there is no NumPy: ./dev deps test");
  }
  const std::string& version() const { return version_; }
  double Seconds(const std::string& how) {
    process_.Send(how);
    return std::stod(process_.ReadLine());
  }

 private:
  Process process_;
  std::string version_;
};

std::string Times(double ratio) { return absl::StrFormat(">= %g", ratio); }

// The rate of whole reads of `spec` beside `limit`, a function that returns the
// seconds for as many bytes.
Line Beside(const std::string& what, const TableSpec& spec, std::int64_t rows,
            const std::string& limit_name, const std::function<double(Buffer&)>& limit,
            double least) {
  const auto table = Open(spec);
  Buffer out(rows * table->spec().row_bytes());
  std::vector<double> seconds;
  std::vector<double> beside;
  Read(*table, 0, out.span());
  for (int round = 0; round < kRounds; ++round) {
    beside.push_back(limit(out));
    seconds.push_back(ReadSeconds(*table, out.span()));
    CheckSome(*table, out.span());
  }
  const double ratio = MedianRatio(beside, seconds);
  const auto bytes = static_cast<double>(out.span().size());
  return {.what = what,
          .measured = Rate(bytes / Median(seconds)),
          .beside = absl::StrCat(limit_name, " ", Rate(bytes / Median(beside))),
          .ratio = ratio,
          .control = std::nullopt,
          .bar = Times(least),
          .pass = ratio >= least};
}

}  // namespace

void Kernel() {
  const auto table = Open(Sinusoidal{.width = kWidth});
  Buffer out(kRows * table->spec().row_bytes());
  const auto bytes = static_cast<double>(out.span().size());
  NumPy numpy;
  numpy.Seconds("whole");
  numpy.Seconds("chunks");
  Read(*table, 0, out.span());
  std::vector<double> exact;
  std::vector<double> set;
  std::vector<double> stream;
  std::vector<double> whole;
  std::vector<double> chunks;
  for (int round = 0; round < kRounds; ++round) {
    if (const std::optional<double> seconds = out.Stream()) stream.push_back(*seconds);
    set.push_back(out.Set());
    exact.push_back(ReadSeconds(*table, out.span()));
    CheckFormula(out.span(), kRows);
    CheckSome(*table, out.span());
    whole.push_back(numpy.Seconds("whole"));
    chunks.push_back(numpy.Seconds("chunks"));
  }
  const std::string what = absl::StrCat(kRows, " x ", kWidth, " float32");
  const auto print = [&](const std::string& name, const std::vector<double>& beside, double least) {
    if (beside.empty()) return;
    const double ratio = MedianRatio(beside, exact);
    Print({.what = what,
           .measured = Rate(bytes / Median(exact)),
           .beside = absl::StrCat(name, " ", Rate(bytes / Median(beside))),
           .ratio = ratio,
           .control = std::nullopt,
           .bar = least == 0 ? "" : Times(least),
           .pass = ratio >= least});
  };
  print("memset", set, kLeastOfMemset);
  print("non-temporal fill", stream, 0);
  print(absl::StrCat(numpy.version(), ", whole array"), whole, kLeastTimesNumPy);
  print(absl::StrCat(numpy.version(), ", chunks of 256 rows"), chunks, 0);
}

void ElementTypes() {
  const auto set = [](Buffer& buffer) { return buffer.Set(); };
  const auto print = [&](ElementType type, double least) {
    TableSpec spec(Sinusoidal{.width = kWidth});
    spec.element_type = type;
    Print(Beside(absl::StrCat(kRows, " x ", kWidth, " ", ElementTypeName(type)), spec, kRows,
                 "memset", set, least));
  };
  print(ElementType::kFloat64, kLeastOfMemsetWide);
  print(ElementType::kFloat16, kLeastOfMemsetHalf);
  print(ElementType::kBfloat16, kLeastOfMemsetHalf);
}

void Layouts() {
  // In bytes a second, beside as many bytes of the interleaved layout.
  const auto interleaved = Open(Sinusoidal{.width = kWidth});
  const auto limit = [&](Buffer& buffer) { return ReadSeconds(*interleaved, buffer.span()); };
  for (const Layout layout : {Layout::kSinCosHalves, Layout::kCosSinHalves,
                              Layout::kCosSinInterleaved, Layout::kCosSinDuplicatedHalves,
                              Layout::kCosSinDuplicatedPairs, Layout::kCosOnly, Layout::kSinOnly}) {
    const std::int64_t rows = kRows * kWidth / RowWidth(layout, kWidth);
    Print(Beside(absl::StrCat(rows, " rows, ", LayoutName(layout), ", float32"),
                 Sinusoidal{.width = kWidth, .layout = layout}, rows, "interleaved", limit,
                 kLeastOfInterleaved));
  }
}

void SmallReads() {
  {
    const auto table = Open(LearnedInit{.max_positions = 8192, .width = kWidth});
    Buffer out(8192 * table->spec().row_bytes());
    std::vector<double> seconds;
    for (int round = 0; round < kRounds; ++round) {
      seconds.push_back(ReadSeconds(*table, out.span()));
      CheckSome(*table, out.span());
    }
    const double elements = 8192.0 * kWidth / Median(seconds);
    Print({.what = "learned_init, 8192 x 512 float32",
           .measured = absl::StrFormat("%.1f million elements/s", elements / 1e6),
           .beside = "",
           .ratio = std::nullopt,
           .control = std::nullopt,
           .bar = ">= 20 million",
           .pass = elements >= kLeastSeededElements});
  }
  for (const std::int64_t width : {512, 64, 128, 256, 1024, 4096, 8192}) {
    // Blocks anywhere in the table, none of them read before, each into memory
    // that was not written for a while.
    const auto table = Open(Sinusoidal{.width = width});
    constexpr std::int64_t kBlock = 65536;
    const std::int64_t rows = kBlock / table->spec().row_bytes();
    Buffer out(kBlock * 64);
    std::mt19937_64 random(3);
    std::vector<double> seconds;
    for (int i = 0; i < 2000; ++i) {
      const std::int64_t start = static_cast<std::int64_t>(random() % 1'000'000) * rows;
      const absl::Span<std::byte> block =
          out.span().subspan(static_cast<std::size_t>(i % 64) * kBlock, kBlock);
      const double begin = CpuNow();
      Read(*table, start, block);
      seconds.push_back(CpuNow() - begin);
    }
    const bool judged = width == 512;
    Print({.what = absl::StrCat("a cold 64 KiB block, d = ", width, ": CPU"),
           .measured = Microseconds(Median(seconds)),
           .beside = absl::StrCat("99th percentile ", Microseconds(Quantile(seconds, 0.99))),
           .ratio = std::nullopt,
           .control = std::nullopt,
           .bar = judged ? "<= 40 us" : "",
           .pass = !judged || Median(seconds) <= kMostBlockSeconds});
  }
  for (const std::int64_t width : {4096, 512, 65536}) {
    std::vector<double> seconds;
    std::vector<std::byte> row(static_cast<std::size_t>(4 * width));
    for (int i = 0; i < 20; ++i) {
      const TableSpec spec(
          Sinusoidal{.width = width, .base = 10000.0 + i + static_cast<double>(width)});
      const CanonicalSpec canonical = CanonicalSpec::Create(spec).value();
      const double begin = Now();
      const auto table = LocalTable::Create(canonical);
      seconds.push_back(Now() - begin);
      Read(*table, 0, absl::MakeSpan(row));
    }
    const bool judged = width == 4096;
    Print({.what = absl::StrCat("opening a new (d, base), d = ", width),
           .measured = absl::StrFormat("%.2f ms", Median(seconds) * 1e3),
           .beside = "",
           .ratio = std::nullopt,
           .control = std::nullopt,
           .bar = judged ? "<= 20 ms" : "",
           .pass = !judged || Median(seconds) <= kMostOpenSeconds});
  }
}

}  // namespace phasor::bench
