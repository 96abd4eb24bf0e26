#ifndef PHASOR_TESTS_PROOF_CERTIFIED_TABLES_H_
#define PHASOR_TESTS_PROOF_CERTIFIED_TABLES_H_

/// \file
/// The tables of well-known models and the SHA-256 digests of their rows, as
/// MPFR has them (tests/golden/certified.tsv, written by certify.cc).

#include <sha2.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "phasor/core/element_type.h"
#include "phasor/core/spec.h"

namespace phasor::proof {

/// A sinusoidal table of the paper's ladder, from position 0 on.
struct CertifiedTable {
  std::int64_t base;
  std::int64_t width;
  Layout layout;
  ElementType type;
  auto operator<=>(const CertifiedTable&) const = default;

  std::string Name() const;
};

/// All of them, in the order of the file.
std::vector<CertifiedTable> CertifiedTables();

/// Digests are kept of the first 4096, 8192, ... rows, so that a table of a
/// model's own length can be looked up.
inline constexpr std::int64_t kLengths[] = {4096, 8192, 32768, 131072};
inline constexpr std::int64_t kRows = 131072;

/// Lower-case hex, by table and number of rows.
using Digests = std::map<std::pair<CertifiedTable, std::int64_t>, std::string>;

/// The digests in a file; empty if there is no such file.
Digests LoadDigests(const std::string& path);
/// Writes them with a head that says what they are.
void SaveDigests(const std::string& path, const Digests& digests);

/// SHA-256 of a stream, which can be asked for on the way.
class Sha256 {
 public:
  Sha256() { SHA256Init(&state_); }
  void Update(const void* data, std::size_t size) {
    SHA256Update(&state_, static_cast<const std::uint8_t*>(data), size);
  }
  std::string SoFar() const;

 private:
  SHA2_CTX state_;
};

/// Hashes the rows that core makes, up to `rows`, and calls `found` with the
/// digest at each of kLengths.
void HashCoreRows(const CertifiedTable& table, std::int64_t rows,
                  const std::function<void(std::int64_t length, const std::string& digest)>& found);

}  // namespace phasor::proof

#endif  // PHASOR_TESTS_PROOF_CERTIFIED_TABLES_H_
