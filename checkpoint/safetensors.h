#ifndef PHASOR_CHECKPOINT_SAFETENSORS_H_
#define PHASOR_CHECKPOINT_SAFETENSORS_H_

/// \file
/// The format of Hugging Face's safetensors: 8 bytes, the length n of the
/// header, little-endian; n bytes of JSON, an object that gives dtype, shape
/// and data_offsets of each tensor by name; then the data, little-endian and
/// row-major, offsets counting from its first byte.
///
/// Nobody who wrote the file is trusted.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/element_type.h"

namespace phasor::checkpoint {

/// Bytes of the length before the header.
inline constexpr std::uint64_t kLengthBytes = 8;
/// Longest header that is read; the format's own readers have the same bound.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

/// A tensor of a file, checked: its range is inside the data, as long as dtype
/// and shape say, and no other tensor's.
struct Tensor {
  std::string name;
  std::string dtype;  ///< as the file writes it: "F32"
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  ///< first byte, counted from the start of the file
  std::uint64_t end = 0;    ///< one past its last byte

  std::uint64_t bytes() const { return end - begin; }
  /// The type of its elements, if tables have such.
  std::optional<ElementType> element_type() const;
  /// "F32 [1024, 768]".
  std::string Description() const;
};

/// Reads `out.size()` bytes from `offset` on, which are inside the file.
using ReadAt = absl::FunctionRef<absl::Status(std::uint64_t offset, absl::Span<char> out)>;

/// Reads and checks the header of a file of `file_bytes` bytes. Gives the
/// tensors in the order of their data. Memory: a small multiple of the header,
/// which is neither longer than the file nor than kMaxHeaderBytes; the data is
/// not looked at.
///
/// Refused: a length beyond the file or the bound; what is not one JSON object
/// of the form above; a name or key that comes twice, a key or a dtype that is
/// not known; shapes whose size overflows, or is not that of the range; ranges
/// outside the data or that overlap; bytes that belong to no tensor, between
/// them or at the end. Accepted: tensors in any order, empty ones, names with
/// any characters, data at any alignment.
///
/// **Errors**: DATA_LOSS, naming the bytes or the tensor, and what should be
/// there; those of `read`.
absl::StatusOr<std::vector<Tensor>> ReadTensors(std::uint64_t file_bytes, ReadAt read);

/// A name for people: escaped, and cut where it is very long.
std::string Quoted(absl::string_view name);

}  // namespace phasor::checkpoint

#endif  // PHASOR_CHECKPOINT_SAFETENSORS_H_
