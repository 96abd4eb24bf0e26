#ifndef PHASOR_SERVER_FAILURE_H_
#define PHASOR_SERVER_FAILURE_H_

/// \file
/// Failures that are nobody's request's fault.

#include "absl/status/status.h"

namespace phasor::server {

/// The exception being handled, as a status: UNAVAILABLE for a lack of memory,
/// INTERNAL for the rest. To be called in a catch block.
absl::Status CurrentExceptionStatus();

}  // namespace phasor::server

#endif  // PHASOR_SERVER_FAILURE_H_
