#ifndef PHASOR_CORE_ELEMENT_ACCESS_H_
#define PHASOR_CORE_ELEMENT_ACCESS_H_

/// \file
/// Elements in memory of any alignment, and types as constants.

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "phasor/core/element_type.h"

namespace phasor {

/// The element at `from`, as its bits.
template <typename Bits>
Bits Load(const std::byte* from) {
  Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

/// Calls `visit` with the type, one of floating point, as a constant.
template <typename Visit>
decltype(auto) WithType(ElementType type, Visit visit) {
  switch (type) {
    case ElementType::kFloat32:
      return visit(std::integral_constant<ElementType, ElementType::kFloat32>());
    case ElementType::kFloat64:
      return visit(std::integral_constant<ElementType, ElementType::kFloat64>());
    case ElementType::kFloat16:
      return visit(std::integral_constant<ElementType, ElementType::kFloat16>());
    case ElementType::kBfloat16:
    case ElementType::kInt32: break;
  }
  return visit(std::integral_constant<ElementType, ElementType::kBfloat16>());
}

}  // namespace phasor

#endif  // PHASOR_CORE_ELEMENT_ACCESS_H_
