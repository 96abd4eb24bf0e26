#include "client/src/sequence_length.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "phasor/core/errors.h"

namespace phasor::internal {

absl::StatusOr<std::int64_t> SequenceLength(const CanonicalSpec& spec, absl::string_view field,
                                            std::size_t size,
                                            absl::Span<const std::int64_t> offsets) {
  const std::size_t step = offsets.size() * static_cast<std::size_t>(spec.row_width());
  if (step == 0 ? size != 0 : size % step != 0) {
    return FieldError(absl::StatusCode::kInvalidArgument, field,
                      absl::StrCat(size, " elements are not whole rows of ", spec.row_width(),
                                   " for ", offsets.size(), " sequences"));
  }
  if (size == 0) return 0;
  const auto length = static_cast<std::int64_t>(size / step);
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    if (absl::Status status = spec.CheckRange(offsets[b], length); !status.ok()) {
      return FieldError(status.code(), absl::StrCat("offsets[", b, "]"), status.message());
    }
  }
  return length;
}

}  // namespace phasor::internal
