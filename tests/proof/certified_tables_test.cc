#include "tests/proof/certified_tables.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace phasor::proof {
namespace {

void ExpectCertified(const Digests& digests, const CertifiedTable& table, std::int64_t rows) {
  HashCoreRows(table, rows, [&](std::int64_t length, const std::string& digest) {
    const auto found = digests.find({table, length});
    ASSERT_NE(found, digests.end()) << table.Name();
    EXPECT_EQ(digest, found->second) << table.Name() << ", the first " << length << " rows";
  });
}

TEST(CertifiedTablesTest, FirstRowsOfEveryTypeAndLayout) {
  const Digests digests = LoadDigests(PHASOR_GOLDEN_DIR "/certified.tsv");
  for (const CertifiedTable& table : CertifiedTables()) {
    ExpectCertified(digests, table, kLengths[0]);
  }
}

// All in all 11 tables, 1.4 GB; every other layout: ./dev certify --check.
TEST(CertifiedTablesTest, Float32WholeInOneLayout) {
  const Digests digests = LoadDigests(PHASOR_GOLDEN_DIR "/certified.tsv");
  std::set<std::tuple<std::int64_t, std::int64_t>> seen;
  for (const CertifiedTable& table : CertifiedTables()) {
    if (table.type != ElementType::kFloat32) continue;
    if (seen.emplace(table.base, table.width).second) ExpectCertified(digests, table, kRows);
  }
  EXPECT_EQ(seen.size(), 11u);
}

}  // namespace
}  // namespace phasor::proof
