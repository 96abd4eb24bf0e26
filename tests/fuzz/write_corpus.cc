// Writes the published files into a folder: what ./dev fuzz
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
  std::vector<std::string> files;
  for (const auto& file : phasor::checkpoint::PublishedFiles()) files.push_back(file.bytes);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::ofstream out(absl::StrCat(argv[1], "/", i), std::ios::binary);
    if (!(out << files[i]).flush()) return 1;
  }
  return 0;
}
