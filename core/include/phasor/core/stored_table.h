#ifndef PHASOR_CORE_STORED_TABLE_H_
#define PHASOR_CORE_STORED_TABLE_H_

/// \file
/// Tables whose rows are not computed but given.

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "phasor/core/element_type.h"
#include "phasor/core/export.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"

namespace phasor {

/// The table of a LearnedTable, whose rows are `elements`, little-endian and
/// row-major, of type `stored`, at any alignment. Reading converts them to the
/// spec's type by one rounding, to nearest, ties to even; elements of that type
/// are given as they are, bit for bit. Infinities stay, and so do NaNs, with
/// their sign and as much of their payload as the type has, made quiet where
/// they are converted.
///
/// **Errors**: INVALID_ARGUMENT (spec) if `spec` is no learned table or the
/// rows are not as many as it says.
PHASOR_EXPORT absl::StatusOr<std::shared_ptr<const LocalTable>> MakeStoredTable(
    CanonicalSpec spec, ElementType stored, std::shared_ptr<const std::byte[]> elements,
    std::size_t bytes);

}  // namespace phasor

#endif  // PHASOR_CORE_STORED_TABLE_H_
