#ifndef PHASOR_SERVER_STREAM_CALL_H_
#define PHASOR_SERVER_STREAM_CALL_H_

/// \file
/// ReadRows: a range of any length, in messages of bounded size.

#include "grpcpp/support/server_callback.h"
#include "server/call.h"

namespace phasor::server {

/// Starts a ReadRows call. What is returned deletes itself.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartReadRowsCall(Backend* backend,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request);

/// Most bytes of rows in one message of ReadRows, unless one row is larger.
std::int64_t MaxChunkBytes(std::int64_t max_message_bytes);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_STREAM_CALL_H_
