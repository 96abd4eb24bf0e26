#ifndef PHASOR_CORE_ROTARY_CHECK_H_
#define PHASOR_CORE_ROTARY_CHECK_H_

#include "absl/status/status.h"
#include "phasor/core/element_type.h"
#include "phasor/core/rotary.h"

namespace phasor {

/// Checks every field of `spec` and fills in its defaults.
///
/// **Errors**: INVALID_ARGUMENT naming the field; OUT_OF_RANGE
/// (spec.rotary.attention_factor) for one, given or derived, that rounds to an
/// infinity of `type`.
absl::Status CheckRotary(ElementType type, Rotary& spec);

}  // namespace phasor

#endif  // PHASOR_CORE_ROTARY_CHECK_H_
