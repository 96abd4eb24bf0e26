#ifndef PHASOR_CORE_C_BOUNDARY_H_
#define PHASOR_CORE_C_BOUNDARY_H_

/// \file
/// What every function of phasor.h passes through.

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/c/phasor.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"

struct phasor_spec {
  explicit phasor_spec(phasor::CanonicalSpec checked)
      : spec(std::move(checked)), fingerprint(spec.fingerprint()) {}
  const phasor::CanonicalSpec spec;
  const std::string fingerprint;
};

struct phasor_table {
  explicit phasor_table(std::shared_ptr<const phasor::LocalTable> opened)
      : table(std::move(opened)), spec(table->spec()) {}
  const std::shared_ptr<const phasor::LocalTable> table;
  const phasor_spec spec;
};

namespace phasor::c {

/// Writes `status` to `error`, unless that is null, and gives its code.
phasor_code Report(const absl::Status& status, phasor_error* error);

/// An INVALID_ARGUMENT error about one argument.
inline absl::Status Invalid(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, what);
}

/// Calls `body`, which gives an absl::Status, and reports it; what `body`
/// throws goes no further.
template <typename Body>
phasor_code Guard(phasor_error* error, Body body) noexcept {
  try {
    const absl::Status status = body();
    return status.ok() ? PHASOR_OK : Report(status, error);
  } catch (const std::bad_alloc&) {
    // Reporting at length would allocate again.
    if (error != nullptr) *error = {PHASOR_RESOURCE_EXHAUSTED, "", "no memory"};
    return PHASOR_RESOURCE_EXHAUSTED;
  } catch (...) {
    if (error != nullptr) *error = {PHASOR_INTERNAL, "", "an unexpected exception"};
    return PHASOR_INTERNAL;
  }
}

/// INVALID_ARGUMENT for a null pointer to something that is not empty.
template <typename T>
absl::Status CheckPointer(absl::string_view field, T* pointer, std::size_t size = 1) {
  if (pointer != nullptr || size == 0) return absl::OkStatus();
  return Invalid(field, "is NULL");
}

}  // namespace phasor::c

#endif  // PHASOR_CORE_C_BOUNDARY_H_
