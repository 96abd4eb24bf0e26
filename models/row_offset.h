#ifndef PHASOR_MODELS_ROW_OFFSET_H_
#define PHASOR_MODELS_ROW_OFFSET_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace phasor::models {

/// How many rows of a learned table stand before that of the first token, by
/// its model's config.json: its own key "row_offset" if there is one, else as
/// DescribeModel reads it. `tensor` is the table's name in the checkpoint, which
/// tells an encoder's from a decoder's; [rows, width] is its shape.
///
/// **Errors**: INVALID_ARGUMENT (config_json): those of DescribeModel; a model
/// that has no such table, or one of another shape.
absl::StatusOr<std::int64_t> RowOffsetOf(absl::string_view config_json, absl::string_view tensor,
                                         std::int64_t rows, std::int64_t width);

}  // namespace phasor::models

#endif  // PHASOR_MODELS_ROW_OFFSET_H_
