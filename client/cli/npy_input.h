#ifndef PHASOR_CLIENT_CLI_NPY_INPUT_H_
#define PHASOR_CLIENT_CLI_NPY_INPUT_H_

/// \file
/// Reading the elements of an .npy file, which is not trusted.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/cli/npy.h"

namespace phasor::cli {

/// An .npy file being read from front to back, in bounded memory.
///
/// **Errors**: INVALID_ARGUMENT for a file that is not what it should be;
/// INTERNAL for one that cannot be read.
class NpyInput {
 public:
  /// Opens `path`, "-" for stdin, and reads its head. Where the size of the
  /// file is known it has to be exactly what the shape says.
  static absl::StatusOr<NpyInput> Open(const std::string& path);

  NpyInput(NpyInput&& other) noexcept;
  NpyInput& operator=(NpyInput&&) = delete;
  ~NpyInput();

  const NpyHeader& header() const { return header_; }

  /// Reads the next bytes: all of `out`.
  absl::Status Read(absl::Span<std::byte> out);
  /// Reads the elements' bytes from `offset` on, all of `out`, of a regular file,
  /// wherever Read() is; INVALID_ARGUMENT behind the file's end.
  bool is_regular() const { return is_regular_; }
  absl::Status ReadAt(std::int64_t offset, absl::Span<std::byte> out) const;
  /// Checks that nothing follows what was read.
  absl::Status ExpectEnd();

 private:
  explicit NpyInput(int descriptor) : descriptor_(descriptor) {}
  absl::Status ReadHead();
  /// Reads until `out` is full or the file ends: how many bytes.
  absl::StatusOr<std::size_t> ReadSome(absl::Span<std::byte> out);

  int descriptor_;  // -1 once moved from
  NpyHeader header_;
  bool is_regular_ = false;
  std::int64_t elements_begin_ = 0;  // of a regular file
};

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_NPY_INPUT_H_
