#include "proto/field_codec.h"

#include "absl/strings/str_cat.h"
#include "phasor/core/errors.h"

namespace phasor {

absl::Status Required(absl::string_view field) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, "is required");
}

v1::Layout LayoutToProto(Layout layout) {
  switch (layout) {
    case Layout::kSinCosInterleaved: return v1::LAYOUT_SIN_COS_INTERLEAVED;
    case Layout::kSinCosHalves: return v1::LAYOUT_SIN_COS_HALVES;
    case Layout::kCosSinHalves: return v1::LAYOUT_COS_SIN_HALVES;
    case Layout::kCosSinInterleaved: return v1::LAYOUT_COS_SIN_INTERLEAVED;
    case Layout::kCosSinDuplicatedHalves: return v1::LAYOUT_COS_SIN_DUPLICATED_HALVES;
    case Layout::kCosSinDuplicatedPairs: return v1::LAYOUT_COS_SIN_DUPLICATED_PAIRS;
    case Layout::kCosOnly: return v1::LAYOUT_COS_ONLY;
    case Layout::kSinOnly: return v1::LAYOUT_SIN_ONLY;
  }
  return v1::LAYOUT_UNSPECIFIED;
}

absl::StatusOr<Layout> LayoutFromProto(v1::Layout layout, Layout unspecified,
                                       absl::string_view field) {
  switch (layout) {
    case v1::LAYOUT_UNSPECIFIED: return unspecified;
    case v1::LAYOUT_SIN_COS_INTERLEAVED: return Layout::kSinCosInterleaved;
    case v1::LAYOUT_SIN_COS_HALVES: return Layout::kSinCosHalves;
    case v1::LAYOUT_COS_SIN_HALVES: return Layout::kCosSinHalves;
    case v1::LAYOUT_COS_SIN_INTERLEAVED: return Layout::kCosSinInterleaved;
    case v1::LAYOUT_COS_SIN_DUPLICATED_HALVES: return Layout::kCosSinDuplicatedHalves;
    case v1::LAYOUT_COS_SIN_DUPLICATED_PAIRS: return Layout::kCosSinDuplicatedPairs;
    case v1::LAYOUT_COS_ONLY: return Layout::kCosOnly;
    case v1::LAYOUT_SIN_ONLY: return Layout::kSinOnly;
    default: break;
  }
  return FieldError(absl::StatusCode::kInvalidArgument, field,
                    absl::StrCat(static_cast<int>(layout), " is no known layout"));
}

}  // namespace phasor
