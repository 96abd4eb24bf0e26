#ifndef PHASOR_BENCH_ROWS_SOURCE_H_
#define PHASOR_BENCH_ROWS_SOURCE_H_

/// \file
/// A server as the measurements ask it: by the client library's own calls and
/// channel, below its caches.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "client/src/connection.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/byte_buffer.h"

namespace phasor::bench {

/// The table of `spec`, which has to be valid.
std::unique_ptr<internal::TableHandle> TableOf(const TableSpec& spec);

/// A request for rows, once encoded: GetRows and ReadRows take the same.
grpc::ByteBuffer RowsRequest(const internal::TableHandle& table, std::int64_t start,
                             std::int64_t count);

/// The response that has `rows` from `start` on, encoded by protobuf.
std::string RowsResponse(const internal::TableHandle& table, std::int64_t start,
                         absl::Span<const std::byte> rows);

/// What phasor_bare answers.
std::string BareResponse(std::size_t bytes);

/// A connection of its own to a server.
class RowsSource {
 public:
  /// `slow_reader`: gRPC's own window of 64 KiB, so that what is not read stays
  /// in the server.
  explicit RowsSource(const std::string& address, bool slow_reader = false);

  /// Seconds that a call took, its response in `*response`; ends the process if
  /// it fails.
  double GetRows(const grpc::ByteBuffer& request, grpc::ByteBuffer* response);
  /// Calls `on_message` with each message until it returns false. Whether all
  /// messages came, or an error by its text.
  std::string ReadRows(const grpc::ByteBuffer& request,
                       absl::FunctionRef<bool(grpc::ByteBuffer*)> on_message);

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

/// Ends the process unless `response` has exactly the rows of `table` at
/// `start` that are in `rows`.
void CheckRows(grpc::ByteBuffer* response, const internal::TableHandle& table, std::int64_t start,
               absl::Span<const std::byte> rows);

/// Seconds since some moment.
double Now();

}  // namespace phasor::bench

#endif  // PHASOR_BENCH_ROWS_SOURCE_H_
