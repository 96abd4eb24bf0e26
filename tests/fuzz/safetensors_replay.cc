// The fuzzer's function without libFuzzer: on the published files, and on a few
// thousand changed ones, the same in every run.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/checkpoint/published_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace phasor::checkpoint {
namespace {

void RunOn(const std::string& file) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
}

TEST(SafetensorsReplayTest, PublishedFiles) {
  for (const PublishedFile& file : PublishedFiles()) RunOn(file.bytes);
}

TEST(SafetensorsReplayTest, ChangedFiles) {
  const std::vector<PublishedFile> files = PublishedFiles();
  std::mt19937_64 random(7);
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (int i = 0; i < 20'000; ++i) {
    std::string file = files[below(files.size())].bytes;
    if (file.size() > 10'000) continue;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(file.size());
      switch (below(5)) {
        case 0:
          if (!file.empty()) file[at] = static_cast<char>(random());
          break;
        case 1: file.insert(at, 1, "0123456789[]{},\":"[below(17)]); break;
        case 2: file.erase(at, below(4)); break;
        case 3: file.resize(at); break;
        case 4: file.insert(at, file.substr(below(file.size()), below(30))); break;
      }
    }
    RunOn(file);
  }
}

}  // namespace
}  // namespace phasor::checkpoint
