#ifndef PHASOR_SERVER_RANGE_REQUEST_H_
#define PHASOR_SERVER_RANGE_REQUEST_H_

/// \file
/// GetRowsRequest and ReadRowsRequest, which are the same on the wire.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"
#include "phasor/core/spec.h"
#include "server/known_specs.h"
#include "server/learned_tables.h"

namespace phasor::server {

/// A request for rows that exist.
struct RowRange {
  std::shared_ptr<const CanonicalSpec> spec;
  std::int64_t start = 0;
  std::int64_t count = 0;
};

/// Decodes and checks one: `Message` is either of the two. A spec that is in
/// `known` is not looked at again; another one is then in it.
///
/// **Errors**: those of Decode, CheckTable and CheckRange (request.h).
template <typename Message>
absl::StatusOr<RowRange> ReadRangeRequest(const grpc::ByteBuffer& bytes,
                                          const LearnedTables& tables, KnownSpecs* known);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_RANGE_REQUEST_H_
