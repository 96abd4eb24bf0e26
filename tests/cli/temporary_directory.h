#ifndef PHASOR_TESTS_CLI_TEMPORARY_DIRECTORY_H_
#define PHASOR_TESTS_CLI_TEMPORARY_DIRECTORY_H_

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace phasor::cli {

/// An empty directory for one test, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "phasor_test_XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  std::string Path(absl::string_view name) const { return (path_ / std::string(name)).string(); }

  /// Writes a file; returns its path.
  std::string Write(absl::string_view name, absl::string_view content) const {
    std::ofstream(Path(name), std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return Path(name);
  }
  std::string Read(absl::string_view name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  /// Names of what is inside, sorted.
  std::vector<std::string> List() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace phasor::cli

#endif  // PHASOR_TESTS_CLI_TEMPORARY_DIRECTORY_H_
