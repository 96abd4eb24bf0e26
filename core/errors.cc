#include "phasor/core/errors.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace phasor {
namespace {

constexpr absl::string_view kFieldPayload = "phasor.v1/field";

}  // namespace

absl::Status FieldError(absl::StatusCode code, absl::string_view field, absl::string_view what) {
  absl::Status status(code, absl::StrCat(field, ": ", what));
  status.SetPayload(kFieldPayload, absl::Cord(field));
  return status;
}

std::string FieldOf(const absl::Status& status) {
  absl::optional<absl::Cord> field = status.GetPayload(kFieldPayload);
  return field.has_value() ? std::string(*field) : std::string();
}

}  // namespace phasor
