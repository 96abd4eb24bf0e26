#ifndef PHASOR_SERVER_ROWS_MESSAGE_H_
#define PHASOR_SERVER_ROWS_MESSAGE_H_

/// \file
/// Encodes a response of rows without copying the rows.
///
/// GetRowsResponse, ReadRowsResponse, GatherRowsResponse and ShiftRowsResponse
/// are all `{ Rows rows = 1; }`, and Rows has its data last. So a message is a
/// short head, made here field by field, and the memory of the rows behind it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "phasor/core/element_type.h"

namespace phasor::server {

/// What a message of rows says beside the rows.
struct RowsHead {
  absl::string_view fingerprint;
  std::optional<std::int64_t> start_position;
  std::int64_t row_count = 0;
  std::int64_t row_width = 0;
  ElementType element_type = ElementType::kFloat32;
};

/// No head is longer.
inline constexpr std::int64_t kMaxRowsHeadBytes = 128;

/// Size of the whole message with `data_bytes` bytes of rows.
std::int64_t RowsMessageBytes(const RowsHead& head, std::int64_t data_bytes);

/// `rows`, which `owner` keeps alive, as a slice that keeps `owner` alive.
/// `rows` must not be empty.
grpc::Slice ShareRows(std::shared_ptr<const void> owner, absl::Span<const std::byte> rows);

using RowSlices = absl::InlinedVector<grpc::Slice, 4>;

/// The message; its data is `rows` one after another.
grpc::ByteBuffer EncodeRows(const RowsHead& head, RowSlices rows);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_ROWS_MESSAGE_H_
