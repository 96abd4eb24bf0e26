#ifndef PHASOR_TESTS_CHECKPOINT_TEMPORARY_FOLDER_H_
#define PHASOR_TESTS_CHECKPOINT_TEMPORARY_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/string_view.h"

namespace phasor {

/// A folder of a test's own, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "phasor-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a file and gives its path; one that is there is replaced by renaming.
  std::string Write(const std::string& name, absl::string_view bytes) const {
    const std::string path = *this / name;
    const std::string next = *this / ".next";
    std::ofstream(next, std::ios::binary) << bytes;
    std::filesystem::rename(next, path);
    return path;
  }

 private:
  std::string path_;
};

}  // namespace phasor

#endif  // PHASOR_TESTS_CHECKPOINT_TEMPORARY_FOLDER_H_
