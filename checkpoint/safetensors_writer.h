#ifndef PHASOR_CHECKPOINT_SAFETENSORS_WRITER_H_
#define PHASOR_CHECKPOINT_SAFETENSORS_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "phasor/core/element_type.h"

namespace phasor::checkpoint {

/// A tensor to be written: little-endian, row-major, as long as its shape says.
struct NewTensor {
  std::string name;
  ElementType type = ElementType::kFloat32;
  std::vector<std::int64_t> shape;
  absl::Span<const std::byte> data;
};

/// Writes a file of `tensors` at `path`, their data aligned to 8 bytes. It is
/// written beside it and renamed, so that readers meet the old file or the new
/// one, whole.
///
/// **Errors**: INVALID_ARGUMENT (tensors[k]) for a name that is not UTF-8 or
/// comes twice, or data of another size; UNAVAILABLE (path), with the system's
/// reason. `path` is then as it was.
absl::Status WriteSafetensors(const std::string& path, absl::Span<const NewTensor> tensors);

}  // namespace phasor::checkpoint

#endif  // PHASOR_CHECKPOINT_SAFETENSORS_WRITER_H_
