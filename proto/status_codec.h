#ifndef PHASOR_PROTO_STATUS_CODEC_H_
#define PHASOR_PROTO_STATUS_CODEC_H_

/// \file
/// Errors between the wire and the code behind it.

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "grpcpp/support/status.h"

namespace phasor {

/// The domain of every google.rpc.ErrorInfo.
inline constexpr char kErrorDomain[] = "phasor";

/// Longest message of an error on the wire, in bytes; a longer one is cut.
inline constexpr int kMaxErrorMessageBytes = 1024;

/// What the RetryInfo of UNAVAILABLE says.
inline constexpr absl::Duration kRetryDelay = absl::Milliseconds(100);

/// The status with its details: a google.rpc.Status that holds a BadRequest if
/// FieldOf(status) names a field, an ErrorInfo if the code has a reason
/// (proto/README.md), and a RetryInfo for UNAVAILABLE. Bytes that are not
/// UTF-8 become '?'.
grpc::Status ToGrpcStatus(const absl::Status& status);

/// The other way; FieldOf gives the field named in the details.
absl::Status FromGrpcStatus(const grpc::Status& status);

/// The delay before the next try that the details ask for; absent if they ask
/// for none.
absl::optional<absl::Duration> RetryDelayOf(const grpc::Status& status);

}  // namespace phasor

#endif  // PHASOR_PROTO_STATUS_CODEC_H_
