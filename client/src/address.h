#ifndef PHASOR_CLIENT_SRC_ADDRESS_H_
#define PHASOR_CLIENT_SRC_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace phasor::internal {

/// The gRPC target that `address` (Client::Connect) stands for.
///
/// **Errors**: INVALID_ARGUMENT (address).
absl::StatusOr<std::string> TargetOf(absl::string_view address);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_ADDRESS_H_
