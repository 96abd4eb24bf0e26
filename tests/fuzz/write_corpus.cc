// Writes the published files, and configurations, into a folder: what ./dev fuzz
// begins with.

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/checkpoint/published_files.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_corpus FOLDER\n");
    return 2;
  }
  std::vector<std::string> files = {
      R"({"model_type":"opt","max_position_embeddings":1022})",
      R"({"model_type":"roberta","max_position_embeddings":1024,"pad_token_id":1})",
      R"({"row_offset":2})",
  };
  for (const auto& file : phasor::checkpoint::PublishedFiles()) files.push_back(file.bytes);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::ofstream out(absl::StrCat(argv[1], "/", i), std::ios::binary);
    if (!(out << files[i]).flush()) return 1;
  }
  return 0;
}
