#ifndef PHASOR_CLIENT_SRC_SEQUENCE_LENGTH_H_
#define PHASOR_CLIENT_SRC_SEQUENCE_LENGTH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/spec.h"

namespace phasor::internal {

/// T of an array [B, T, row_width] of `size` elements, whose sequence b takes
/// rows offsets[b] ... offsets[b]+T-1 of the table `spec`; B is the number of
/// offsets. 0 for no sequences or an empty array.
///
/// **Errors**: INVALID_ARGUMENT (`field`) for a size that is none of such an
/// array; OUT_OF_RANGE (offsets[b]).
absl::StatusOr<std::int64_t> SequenceLength(const CanonicalSpec& spec, absl::string_view field,
                                            std::size_t size,
                                            absl::Span<const std::int64_t> offsets);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_SEQUENCE_LENGTH_H_
