#ifndef PHASOR_CLIENT_SRC_ROWS_DECODER_H_
#define PHASOR_CLIENT_SRC_ROWS_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/src/connection.h"
#include "grpcpp/support/byte_buffer.h"

namespace phasor::internal {

/// Reads a response that is one phasor.v1.Rows in field 1, whatever its
/// method, and copies the elements straight to `out`: once, and never past its
/// end. The sender is not trusted: the rows have to be of `table`, start at
/// `start` if that is set, and be whole; gives their number.
///
/// **Errors**: DATA_LOSS, naming what is not as asked for; FAILED_PRECONDITION
/// for another table. `out` is then unspecified.
absl::StatusOr<std::int64_t> DecodeRows(grpc::ByteBuffer* response, const TableHandle& table,
                                        std::optional<std::int64_t> start,
                                        absl::Span<std::byte> out);

/// The same to memory in parts, from byte `skip` of it on.
absl::StatusOr<std::int64_t> DecodeRows(grpc::ByteBuffer* response, const TableHandle& table,
                                        std::optional<std::int64_t> start,
                                        absl::Span<const absl::Span<std::byte>> parts,
                                        std::size_t skip);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_ROWS_DECODER_H_
