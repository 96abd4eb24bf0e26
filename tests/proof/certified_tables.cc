#include "tests/proof/certified_tables.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "phasor/core/local_table.h"

namespace phasor::proof {
namespace {

struct Shape {
  std::int64_t base;
  std::int64_t width;
};

// Added to the embedding, then turned into queries and keys.
constexpr Shape kAdded[] = {{10000, 512}, {10000, 1024}};
constexpr Layout kAddedLayouts[] = {Layout::kSinCosInterleaved, Layout::kSinCosHalves};
constexpr Shape kRotary[] = {{10000, 64},   {10000, 128},   {10000, 256},
                             {150000, 64},  {500000, 64},   {500000, 128},
                             {1000000, 64}, {1000000, 128}, {1000000, 256}};
constexpr Layout kRotaryLayouts[] = {Layout::kCosSinHalves, Layout::kCosSinInterleaved,
                                     Layout::kCosSinDuplicatedHalves};
constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

}  // namespace

std::string CertifiedTable::Name() const {
  std::ostringstream name;
  name << "base " << base << ", width " << width << ", " << std::string(LayoutName(layout)) << ", "
       << std::string(ElementTypeName(type));
  return name.str();
}

std::vector<CertifiedTable> CertifiedTables() {
  std::vector<CertifiedTable> tables;
  const auto add = [&](const auto& shapes, const auto& layouts) {
    for (const Shape shape : shapes) {
      for (const Layout layout : layouts) {
        for (const ElementType type : kTypes) {
          tables.push_back({shape.base, shape.width, layout, type});
        }
      }
    }
  };
  add(kAdded, kAddedLayouts);
  add(kRotary, kRotaryLayouts);
  return tables;
}

Digests LoadDigests(const std::string& path) {
  std::map<std::string, CertifiedTable> known;
  const auto key = [](auto base, auto width, const auto& layout, const auto& type) {
    std::ostringstream text;
    text << base << ' ' << width << ' ' << layout << ' ' << type;
    return text.str();
  };
  for (const CertifiedTable& t : CertifiedTables()) {
    known.emplace(key(t.base, t.width, std::string(LayoutName(t.layout)),
                      std::string(ElementTypeName(t.type))),
                  t);
  }
  Digests digests;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string base;
    std::string width;
    std::string layout;
    std::string type;
    std::string digest;
    std::int64_t rows = 0;
    fields >> base >> width >> layout >> type >> rows >> digest;
    digests.emplace(std::pair(known.at(key(base, width, layout, type)), rows), digest);
  }
  return digests;
}

void SaveDigests(const std::string& path, const Digests& digests) {
  std::ofstream file(path);
  file << "# SHA-256 of the first `rows` rows (positions 0 ... rows-1, little-endian, row-major) "
          "of\n"
          "# sinusoidal tables of the paper's ladder. Every element by MPFR: ./dev certify.\n"
          "# base\twidth\tlayout\ttype\trows\tsha256\n";
  for (const CertifiedTable& table : CertifiedTables()) {
    for (const std::int64_t rows : kLengths) {
      const auto found = digests.find({table, rows});
      if (found == digests.end()) continue;
      file << table.base << '\t' << table.width << '\t' << std::string(LayoutName(table.layout))
           << '\t' << std::string(ElementTypeName(table.type)) << '\t' << rows << '\t'
           << found->second << '\n';
    }
  }
  if (!file.flush()) {
    std::cerr << "cannot write " << path << '\n';
    std::exit(1);
  }
}

std::string Sha256::SoFar() const {
  SHA2_CTX copy = state_;
  std::uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256Final(digest, &copy);
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

void HashCoreRows(
    const CertifiedTable& table, std::int64_t rows,
    const std::function<void(std::int64_t length, const std::string& digest)>& found) {
  // Of no special size for core, and a divisor of every length.
  constexpr std::int64_t kChunk = 512;
  auto spec = CanonicalSpec::Create(TableSpec(
      Sinusoidal{
          .width = table.width, .base = static_cast<double>(table.base), .layout = table.layout},
      table.type));
  if (!spec.ok()) std::abort();
  const auto local = LocalTable::Create(*std::move(spec));
  std::vector<std::byte> buffer(kChunk * local->spec().row_bytes());
  Sha256 sha;
  for (std::int64_t start = 0; start < rows; start += kChunk) {
    if (!local->ReadInto(start, kChunk, absl::MakeSpan(buffer)).ok()) std::abort();
    sha.Update(buffer.data(), buffer.size());
    const std::int64_t done = start + kChunk;
    if (std::find(std::begin(kLengths), std::end(kLengths), done) != std::end(kLengths)) {
      found(done, sha.SoFar());
    }
  }
}

}  // namespace phasor::proof
