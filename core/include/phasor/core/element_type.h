#ifndef PHASOR_CORE_ELEMENT_TYPE_H_
#define PHASOR_CORE_ELEMENT_TYPE_H_

/// \file
/// The number formats that a table's elements can have.

#include <cstdint>

#include "absl/strings/string_view.h"
#include "phasor/core/export.h"

namespace phasor {

/// All are IEEE 754 binary formats, except kBfloat16, the upper half of a
/// binary32 (8 bits of exponent, 8 of significand), and kInt32, a two's complement
/// integer, which relative_buckets has and no other scheme. In memory and on the wire
/// elements are little-endian, row-major, without padding.
enum class ElementType : std::uint8_t {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kBfloat16 = 3,
  kInt32 = 4,
};

/// Size of one element, in bytes.
constexpr int ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kInt32: return 4;
    case ElementType::kFloat64: return 8;
    case ElementType::kFloat16:
    case ElementType::kBfloat16: return 2;
  }
  return 0;
}

/// The type's name in the wire protocol without its prefix: "FLOAT32".
PHASOR_EXPORT absl::string_view ElementTypeName(ElementType type);

}  // namespace phasor

#endif  // PHASOR_CORE_ELEMENT_TYPE_H_
