#ifndef PHASOR_SERVER_FIELD_CHECK_H_
#define PHASOR_SERVER_FIELD_CHECK_H_

/// \file
/// Fields that protobuf's own decoding would not show.

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/support/byte_buffer.h"

namespace phasor::server {

/// Refuses a request that holds a field not known here, a field twice that a
/// message has once, or two members of one `oneof`. Decoding lets the last one
/// win, and forgets what stood in the others, unknown fields among it. `bytes`
/// can be decoded as `type`.
///
/// **Errors**: INVALID_ARGUMENT, naming the field's path, or that of the
/// enclosing message with the number behind it.
absl::Status CheckFields(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_FIELD_CHECK_H_
