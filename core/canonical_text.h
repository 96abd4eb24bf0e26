#ifndef PHASOR_CORE_CANONICAL_TEXT_H_
#define PHASOR_CORE_CANONICAL_TEXT_H_

#include <string>

#include "phasor/core/spec.h"

namespace phasor {

/// The text that a fingerprint is the hash of: one line "path=value\n" for
/// each field of `spec` that does not stand at its default, sorted by path.
/// The form is fixed by the comment of TableSpec in
/// proto/phasor/v1/table_spec.proto. `spec` has been checked.
std::string CanonicalText(const TableSpec& spec);

}  // namespace phasor

#endif  // PHASOR_CORE_CANONICAL_TEXT_H_
