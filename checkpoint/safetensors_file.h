#ifndef PHASOR_CHECKPOINT_SAFETENSORS_FILE_H_
#define PHASOR_CHECKPOINT_SAFETENSORS_FILE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "checkpoint/safetensors.h"

namespace phasor::checkpoint {

/// What tells one state of a file from another.
struct FileVersion {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileVersion&) const = default;
};

/// The version of the file at `path`, or of none: all zero.
FileVersion VersionOf(const std::string& path);

/// The bytes of a small file, of at most `max_bytes`.
///
/// **Errors**: NOT_FOUND for no such file; UNAVAILABLE, naming path and reason.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::uint64_t max_bytes);

/// A safetensors file, open for reading. Nothing is mapped: a file that is cut
/// or replaced meanwhile ends a read with an error, never the process.
///
/// **Thread safety**: one thread at a time.
class SafetensorsFile {
 public:
  /// Opens a regular file, and reads and checks its header.
  ///
  /// **Errors**, all with the path: NOT_FOUND, UNAVAILABLE (the reason of the
  /// system); those of ReadTensors.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  /// In the order of their data.
  const std::vector<Tensor>& tensors() const { return tensors_; }

  /// Reads `out.size()` bytes of `tensor`, one of tensors(), from its byte
  /// `first` on.
  ///
  /// **Errors**, with path and bytes: DATA_LOSS if the file is shorter now;
  /// UNAVAILABLE if it was changed since it was opened, or cannot be read. `out`
  /// is then unspecified.
  absl::Status Read(const Tensor& tensor, std::uint64_t first, absl::Span<std::byte> out) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;
  SafetensorsFile(std::string path, File file, FileVersion version)
      : path_(std::move(path)), file_(std::move(file)), version_(version) {}

  absl::Status ReadAt(std::uint64_t offset, absl::Span<char> out) const;

  std::string path_;
  File file_;
  FileVersion version_;
  std::vector<Tensor> tensors_;
};

}  // namespace phasor::checkpoint

#endif  // PHASOR_CHECKPOINT_SAFETENSORS_FILE_H_
