#ifndef PHASOR_CORE_ERRORS_H_
#define PHASOR_CORE_ERRORS_H_

/// \file
/// How an absl::Status says which field of a request was wrong.
///
/// Every error about a request carries the field's path as it is written in
/// the wire protocol ("spec.sinusoidal.width"), in its message and, for
/// programs, as a payload. The message reads "<path>: <what is wrong>" and
/// names the value and the way out.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "phasor/core/export.h"

namespace phasor {

/// Makes an error about one field. The message becomes "<field>: <what>".
PHASOR_EXPORT absl::Status FieldError(absl::StatusCode code, absl::string_view field,
                                      absl::string_view what);

/// The path of the field that `status` is about; empty if it names none.
PHASOR_EXPORT std::string FieldOf(const absl::Status& status);

}  // namespace phasor

#endif  // PHASOR_CORE_ERRORS_H_
