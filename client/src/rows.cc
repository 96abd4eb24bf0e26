#include "phasor/rows.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "phasor/core/errors.h"

// Elements are handed out as they come over the wire.
static_assert(std::endian::native == std::endian::little);

namespace phasor {

absl::Status Rows::CheckType(ElementType asked) const {
  if (asked == element_type_) return absl::OkStatus();
  return FieldError(absl::StatusCode::kInvalidArgument, "T",
                    absl::StrCat("stands for ", ElementTypeName(asked), ", the rows are ",
                                 ElementTypeName(element_type_)));
}

absl::Status Rows::CheckRow(std::int64_t i) const {
  if (i >= 0 && i < row_count_) return absl::OkStatus();
  return FieldError(absl::StatusCode::kOutOfRange, "i",
                    absl::StrCat(i, " is not one of ", row_count_, " rows"));
}

}  // namespace phasor
