#include "core/c/wanted.h"

#include "absl/strings/str_cat.h"

namespace phasor::c {

absl::StatusOr<ElementType> TakeElementType(absl::string_view path, std::int32_t type,
                                            ElementType standard) {
  switch (type) {
    case PHASOR_DEFAULT_ELEMENT_TYPE: return standard;
    case PHASOR_FLOAT32: return ElementType::kFloat32;
    case PHASOR_FLOAT64: return ElementType::kFloat64;
    case PHASOR_FLOAT16: return ElementType::kFloat16;
    case PHASOR_BFLOAT16: return ElementType::kBfloat16;
    case PHASOR_INT32: return ElementType::kInt32;
    default: break;
  }
  return Invalid(path, absl::StrCat(type, " is no known element type"));
}

absl::StatusOr<Numerics> TakeNumerics(std::int32_t numerics) {
  switch (numerics) {
    case PHASOR_DEFAULT_NUMERICS:
    case PHASOR_EXACT: return Numerics::kExact;
    default: break;
  }
  return Invalid("spec.numerics", absl::StrCat(numerics, " is no known numerics"));
}

absl::StatusOr<Layout> TakeLayout(absl::string_view path, std::int32_t layout, Layout standard) {
  switch (layout) {
    case PHASOR_DEFAULT_LAYOUT: return standard;
    case PHASOR_SIN_COS_INTERLEAVED: return Layout::kSinCosInterleaved;
    case PHASOR_SIN_COS_HALVES: return Layout::kSinCosHalves;
    case PHASOR_COS_SIN_HALVES: return Layout::kCosSinHalves;
    case PHASOR_COS_SIN_INTERLEAVED: return Layout::kCosSinInterleaved;
    case PHASOR_COS_SIN_DUPLICATED_HALVES: return Layout::kCosSinDuplicatedHalves;
    case PHASOR_COS_SIN_DUPLICATED_PAIRS: return Layout::kCosSinDuplicatedPairs;
    case PHASOR_COS_ONLY: return Layout::kCosOnly;
    case PHASOR_SIN_ONLY: return Layout::kSinOnly;
    default: break;
  }
  return Invalid(path, absl::StrCat(layout, " is no known layout"));
}

absl::StatusOr<bool> TakeBool(absl::string_view path, std::int32_t value) {
  if (value == 0 || value == 1) return value == 1;
  return Invalid(path, absl::StrCat(value, " is neither 0 nor 1"));
}

}  // namespace phasor::c
