#include "phasor/core/element_type.h"

namespace phasor {

absl::string_view ElementTypeName(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return "FLOAT32";
    case ElementType::kFloat64: return "FLOAT64";
    case ElementType::kFloat16: return "FLOAT16";
    case ElementType::kBfloat16: return "BFLOAT16";
    case ElementType::kInt32: return "INT32";
  }
  return "";
}

}  // namespace phasor
