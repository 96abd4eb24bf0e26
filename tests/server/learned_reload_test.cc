// Learned tables read by many threads while one loads them anew.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/safetensors_writer.h"
#include "gtest/gtest.h"
#include "phasor/core/local_table.h"
#include "server/learned_tables.h"
#include "tests/checkpoint/temporary_folder.h"

namespace phasor::server {
namespace {

constexpr std::int64_t kRows = 6;
constexpr std::int64_t kWidth = 4;
constexpr std::size_t kElements = kRows * kWidth;

// All elements of one state of both files are its number.
void WriteFile(const std::string& path, float state) {
  const std::vector<float> weights(kElements, state);
  const checkpoint::NewTensor tensor = {
      "wpe.weight",
      ElementType::kFloat32,
      {kRows, kWidth},
      {reinterpret_cast<const std::byte*>(weights.data()), sizeof(float) * kElements}};
  ASSERT_TRUE(checkpoint::WriteSafetensors(path, absl::MakeConstSpan(&tensor, 1)).ok());
}

float FirstOf(const LoadedTable& table) {
  float first;
  std::memcpy(&first, table.rows.elements.get(), sizeof(first));
  return first;
}

class LearnedReloadTest : public testing::Test {
 protected:
  LearnedReloadTest() { WriteFiles(1); }

  void WriteFiles(float state) {
    WriteFile(folder_ / "a.safetensors", state);
    WriteFile(folder_ / "b.safetensors", state);
  }

  // As a request does: by name, then the rows of the spec.
  void ReadByName() {
    LearnedTable scheme{.name = "a"};
    ASSERT_TRUE(tables_.Resolve(ElementType::kFloat32, &scheme).ok());
    const auto table = tables_.Open(*CanonicalSpec::Create(TableSpec(scheme)));
    if (!table.ok()) {
      EXPECT_EQ(table.status().code(), absl::StatusCode::kFailedPrecondition) << table.status();
      return;
    }
    std::vector<float> rows(kElements);
    ASSERT_TRUE((*table)
                    ->ReadInto(0, kRows,
                               absl::MakeSpan(reinterpret_cast<std::byte*>(rows.data()),
                                              sizeof(float) * kElements))
                    .ok());
    EXPECT_EQ(rows, std::vector<float>(kElements, rows.front()));
    EXPECT_EQ(checkpoint::ContentSha256(
                  ElementType::kFloat32, kRows, kWidth,
                  {reinterpret_cast<const std::byte*>(rows.data()), sizeof(float) * kElements}),
              scheme.content_sha256);
  }

  const TemporaryFolder folder_;
  LearnedTables tables_{TableSources{.tables = {}, .directory = folder_.path()}};
};

TEST_F(LearnedReloadTest, ReadersSeeOneStateOfAllTablesOrTheOther) {
  ASSERT_TRUE(tables_.Reload().ok());
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      do {
        const auto all = tables_.All();
        ASSERT_EQ(all.size(), 2U);
        EXPECT_EQ(FirstOf(*all[0]), FirstOf(*all[1]));
        ReadByName();
      } while (!done);
    });
  }
  for (int state = 2; state < 40; ++state) {
    WriteFiles(static_cast<float>(state));
    EXPECT_TRUE(tables_.Reload().ok());
    EXPECT_FALSE(tables_.ShouldReload());
    folder_.Write("b.safetensors", "broken");
    EXPECT_FALSE(tables_.Reload().ok());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(FirstOf(*tables_.Find("b")), 39);
}

}  // namespace
}  // namespace phasor::server
