#ifndef PHASOR_CHECKPOINT_DTYPE_H_
#define PHASOR_CHECKPOINT_DTYPE_H_

#include "absl/strings/string_view.h"
#include "phasor/core/element_type.h"

namespace phasor::checkpoint {

/// The format's name for a type of floating point: "F32".
constexpr absl::string_view DtypeOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return "F32";
    case ElementType::kFloat64: return "F64";
    case ElementType::kFloat16: return "F16";
    case ElementType::kBfloat16: return "BF16";
    case ElementType::kInt32: break;
  }
  return "";
}

}  // namespace phasor::checkpoint

#endif  // PHASOR_CHECKPOINT_DTYPE_H_
