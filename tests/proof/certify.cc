// Makes tests/golden/certified.tsv: every element of every table of
// CertifiedTables() by MPFR, rounded to each element type, laid out, hashed. No
// code of core takes part. One sine and cosine serves all types, layouts and
// all widths whose ladder is a part of the widest one's: b^(-i/h) is
// b^(-(k i)/(k h)).
//
// Digests that the file has already are kept: stopped, it goes on with the next
// base. With --check nothing is made, and core's rows are compared instead.

#include <mpfr.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/oracle/oracle.h"
#include "tests/proof/certified_tables.h"

namespace phasor::proof {
namespace {

__extension__ using Uint128 = unsigned __int128;
using Clock = std::chrono::steady_clock;

// The angle: the frequency has an error of 2^-184 relative (oracle.h), the
// product another 2^-192; below 2^17 radians that is 2^-166 absolute.
constexpr mpfr_prec_t kAngleBits = 192;
constexpr mpfr_prec_t kValueBits = 128;
// With no value below 2^-60 the relative error is then below 2^-105.
constexpr mpfr_exp_t kLeastExponent = -60;
constexpr int kErrorBits = 128 - 105;

constexpr int kTypeCount = 4;
constexpr std::int64_t kChunk = 256;
static_assert(std::size(kLengths) == 4 && kLengths[0] % kChunk == 0);

struct Format {
  int precision;
  int quantum_exponent;  // of the smallest subnormal
  int bits;
};
// By ElementType.
constexpr Format kFormats[kTypeCount] = {
    {24, -149, 32}, {53, -1074, 64}, {11, -24, 16}, {8, -133, 16}};

// Rounds significand * 2^(exponent - 128), known within 2^kErrorBits of its last
// place, to nearest; false if that leaves the rounding open.
bool Round(const Format& format, bool negative, Uint128 significand, std::int64_t exponent,
           std::uint64_t& out) {
  const std::int64_t quantum =
      std::max<std::int64_t>(exponent - format.precision, format.quantum_exponent);
  const std::int64_t kept = exponent - quantum;
  const std::uint64_t sign = negative ? std::uint64_t{1} << (format.bits - 1) : 0;
  if (kept < 0) {
    out = sign;
    return true;
  }
  // What stands after the first bit that is dropped.
  const Uint128 mask = (~Uint128{0} >> kept) >> 1;
  const Uint128 rest = significand & mask;
  const Uint128 error = Uint128{1} << kErrorBits;
  if (rest < error || rest > mask - error) return false;
  const auto integer = kept == 0 ? 0 : static_cast<std::uint64_t>(significand >> (128 - kept));
  const auto up = static_cast<std::uint64_t>((significand >> (127 - kept)) & 1);
  out = sign |
        ((static_cast<std::uint64_t>(quantum - format.quantum_exponent) << (format.precision - 1)) +
         integer + up);
  return true;
}

// Sines and cosines of a chunk of rows, in every type: [kChunk, pairs] each.
struct Elements {
  std::vector<std::uint64_t> of[kTypeCount][2];  // [type][0: cosine, 1: sine]
};

// The widest table of one base, which holds the others of that base.
class Family {
 public:
  Family(std::int64_t base, std::int64_t width) : pairs_(width / 2) {
    const Sinusoidal spec{.width = width, .base = static_cast<double>(base)};
    for (int type = 0; type < kTypeCount; ++type) {
      oracles_.push_back(std::make_unique<oracle::Table>(spec, static_cast<ElementType>(type)));
      for (auto& half : elements_.of[type]) half.resize(kChunk * pairs_);
    }
    for (std::int64_t i = 0; i < pairs_; ++i) {
      frequencies_.push_back(std::make_unique<oracle::Number>(kAngleBits));
      oracles_[0]->Frequency(i, frequencies_.back()->v);
    }
  }

  std::int64_t pairs() const { return pairs_; }
  const Elements& elements() const { return elements_; }

  void Compute(std::int64_t start, int threads) {
    std::vector<std::thread> workers;
    std::vector<std::vector<Open>> open(threads);
    for (int k = 0; k < threads; ++k) {
      workers.emplace_back([&, k] {
        for (std::int64_t i = k; i < pairs_; i += threads) ComputePair(i, start, open[k]);
        mpfr_free_cache();
      });
    }
    for (std::thread& worker : workers) worker.join();
    // More precision, until it decides.
    for (const auto& list : open) {
      for (const Open& e : list) {
        elements_.of[e.type][e.sine][e.row * pairs_ + e.pair] =
            e.sine ? oracles_[e.type]->Sine(e.pair, {start + e.row})
                   : oracles_[e.type]->Cosine(e.pair, {start + e.row});
      }
    }
  }

 private:
  struct Open {
    std::int64_t row;
    std::int64_t pair;
    int type;
    bool sine;
  };

  void ComputePair(std::int64_t i, std::int64_t start, std::vector<Open>& open) {
    oracle::Number angle(kAngleBits);
    oracle::Number value[2] = {oracle::Number(kValueBits), oracle::Number(kValueBits)};
    for (std::int64_t row = 0; row < kChunk; ++row) {
      mpfr_mul_si(angle.v, frequencies_[i]->v, start + row, MPFR_RNDN);
      mpfr_sin_cos(value[1].v, value[0].v, angle.v, MPFR_RNDN);
      for (const bool sine : {false, true}) {
        const mpfr_srcptr v = value[sine ? 1 : 0].v;
        // Of row 0 too: 0 and 1 are exact.
        const bool far = mpfr_regular_p(v) != 0 && mpfr_get_exp(v) >= kLeastExponent;
        Uint128 significand = 0;
        if (far) {
          std::memcpy(&significand, mpfr_custom_get_significand(v), sizeof(significand));
        }
        for (int type = 0; type < kTypeCount; ++type) {
          std::uint64_t& out = elements_.of[type][sine ? 1 : 0][row * pairs_ + i];
          if (!far ||
              !Round(kFormats[type], mpfr_signbit(v) != 0, significand, mpfr_get_exp(v), out)) {
            open.push_back({row, i, type, sine});
          }
        }
      }
    }
  }

  std::int64_t pairs_;
  std::vector<std::unique_ptr<oracle::Table>> oracles_;
  std::vector<std::unique_ptr<oracle::Number>> frequencies_;
  Elements elements_;
};

// One table's rows out of its family's elements.
class Rows {
 public:
  Rows(const CertifiedTable& table, std::int64_t family_pairs)
      : table_(table), family_pairs_(family_pairs) {
    const std::int64_t step = family_pairs / (table.width / 2);
    for (std::int64_t c = 0; c < RowWidth(table.layout, table.width); ++c) {
      const oracle::Place place = oracle::PlaceOf(table.layout, table.width / 2, c);
      columns_.push_back({place.sine ? 1 : 0, place.pair * step});
    }
    buffer_.resize(kChunk * columns_.size() * ElementBytes(table.type));
  }

  const CertifiedTable& table() const { return table_; }
  std::string SoFar() const { return sha_.SoFar(); }

  void Add(const Elements& elements) {
    const auto& halves = elements.of[static_cast<int>(table_.type)];
    switch (ElementBytes(table_.type)) {
      case 2: Fill<std::uint16_t>(halves); break;
      case 4: Fill<std::uint32_t>(halves); break;
      default: Fill<std::uint64_t>(halves); break;
    }
    sha_.Update(buffer_.data(), buffer_.size());
  }

 private:
  struct Column {
    int half;
    std::int64_t pair;
  };

  template <typename Bits>
  void Fill(const std::vector<std::uint64_t> (&halves)[2]) {
    std::byte* out = buffer_.data();
    for (std::int64_t row = 0; row < kChunk; ++row) {
      for (const Column& column : columns_) {
        const auto bits = static_cast<Bits>(halves[column.half][row * family_pairs_ + column.pair]);
        std::memcpy(out, &bits, sizeof(bits));
        out += sizeof(bits);
      }
    }
  }

  CertifiedTable table_;
  std::int64_t family_pairs_;
  std::vector<Column> columns_;
  std::vector<std::byte> buffer_;
  Sha256 sha_;
};

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

void Make(const std::string& path, int threads) {
  Digests digests = LoadDigests(path);
  std::map<std::int64_t, std::vector<CertifiedTable>> missing;
  for (const CertifiedTable& table : CertifiedTables()) {
    if (!digests.contains({table, kRows})) missing[table.base].push_back(table);
  }
  const auto widest = [](const std::vector<CertifiedTable>& tables) {
    return std::max_element(tables.begin(), tables.end(),
                            [](const auto& a, const auto& b) { return a.width < b.width; })
        ->width;
  };
  std::int64_t left = 0;
  for (const auto& [base, tables] : missing) left += widest(tables) / 2 * kRows;
  std::fprintf(stderr, "%lld sines and cosines to compute, %zu tables\n",
               static_cast<long long>(left), CertifiedTables().size());
  std::int64_t done = 0;
  const Clock::time_point started = Clock::now();
  for (const auto& [base, tables] : missing) {
    Family family(base, widest(tables));
    std::vector<Rows> all;
    for (const CertifiedTable& table : tables) all.emplace_back(table, family.pairs());
    for (std::int64_t start = 0; start < kRows; start += kChunk) {
      family.Compute(start, threads);
      for (Rows& rows : all) rows.Add(family.elements());
      const std::int64_t length = start + kChunk;
      if (std::find(std::begin(kLengths), std::end(kLengths), length) != std::end(kLengths)) {
        for (const Rows& rows : all) digests[{rows.table(), length}] = rows.SoFar();
      }
      done += family.pairs() * kChunk;
      if (length % 4096 == 0) {
        std::fprintf(
            stderr, "base %lld: %lld of %lld rows; %.0f s, %.0f s to go\n",
            static_cast<long long>(base), static_cast<long long>(length),
            static_cast<long long>(kRows), Seconds(started),
            Seconds(started) * static_cast<double>(left - done) / static_cast<double>(done));
      }
    }
    SaveDigests(path, digests);
  }
}

int Check(const std::string& path) {
  const Digests digests = LoadDigests(path);
  int wrong = 0;
  int right = 0;
  for (const CertifiedTable& table : CertifiedTables()) {
    bool same = true;
    HashCoreRows(table, kRows, [&](std::int64_t length, const std::string& digest) {
      const auto found = digests.find({table, length});
      if (found != digests.end() && found->second == digest) {
        ++right;
        return;
      }
      ++wrong;
      if (same) std::cout << table.Name() << ": wrong within the first " << length << " rows\n";
      same = false;
    });
    if (same) std::cout << table.Name() << ": ok" << std::endl;
  }
  std::cout << right << " digests agree, " << wrong << " do not\n";
  return wrong == 0 && right > 0 ? 0 : 1;
}

}  // namespace
}  // namespace phasor::proof

int main(int argc, char** argv) {
  const std::string path = PHASOR_GOLDEN_DIR "/certified.tsv";
  int threads = 1;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--check") return phasor::proof::Check(path);
    if (argument.rfind("--threads=", 0) == 0 && (threads = std::atoi(argument.c_str() + 10)) > 0) {
      continue;
    }
    std::cerr << "usage: certify [--threads=N | --check]\n";
    return 2;
  }
  phasor::proof::Make(path, threads);
  return 0;
}
