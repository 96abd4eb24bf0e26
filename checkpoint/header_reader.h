#ifndef PHASOR_CHECKPOINT_HEADER_READER_H_
#define PHASOR_CHECKPOINT_HEADER_READER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "checkpoint/safetensors.h"

namespace phasor::checkpoint {

/// The tensors that a header's JSON names, in its order; begin and end as it
/// gives them, from the start of the data. What the JSON says is of the right
/// form, not yet checked against anything else.
///
/// **Errors**: DATA_LOSS.
absl::StatusOr<std::vector<Tensor>> ReadHeaderJson(absl::string_view json);

}  // namespace phasor::checkpoint

#endif  // PHASOR_CHECKPOINT_HEADER_READER_H_
