#ifndef PHASOR_SERVER_REQUEST_H_
#define PHASOR_SERVER_REQUEST_H_

/// \file
/// What is checked alike in every request, and how messages leave and arrive.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "phasor/core/errors.h"
#include "phasor/core/spec.h"
#include "phasor/v1/table_spec.pb.h"
#include "proto/spec_codec.h"
#include "server/field_check.h"
#include "server/known_specs.h"
#include "server/learned_tables.h"

namespace phasor::server {

/// Decodes a request and refuses fields that are not known here.
///
/// **Errors**: INVALID_ARGUMENT for bytes that are no such message, and those
/// of CheckFields.
template <typename Request>
absl::Status Decode(const grpc::ByteBuffer& bytes, Request* request) {
  grpc::ByteBuffer copy(bytes);  // shares the bytes; a reader wants its own
  grpc::ProtoBufferReader reader(&copy);
  if (!reader.status().ok() || !request->ParseFromZeroCopyStream(&reader)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request cannot be decoded as ", request->GetTypeName()));
  }
  return CheckFields(bytes, *Request::descriptor());
}

/// The bytes of a response that is not made of rows.
grpc::ByteBuffer Encode(const google::protobuf::MessageLite& response);

/// Checks a spec; of a learned table that of the rows that `tables` holds.
///
/// **Errors**: those of SpecFromProto, LearnedTables::Resolve and
/// CanonicalSpec::Create.
absl::StatusOr<CanonicalSpec> CheckSpec(const v1::TableSpec& spec, const LearnedTables& tables);
/// Whether `spec` means whatever is held under its name.
bool MeansWhatIsHeld(const v1::TableSpec& spec);

/// Checks the fingerprint that a caller holds against `fingerprint`.
///
/// **Errors** (expected_fingerprint): INVALID_ARGUMENT for text that is no
/// fingerprint, FAILED_PRECONDITION for another one.
absl::Status CheckFingerprint(absl::string_view expected, absl::string_view fingerprint);

/// Checks the spec of a request, and the fingerprint if it carries one.
template <typename Request>
absl::StatusOr<CanonicalSpec> CheckTable(const Request& request, const LearnedTables& tables) {
  absl::StatusOr<CanonicalSpec> spec = CheckSpec(request.spec(), tables);
  if (!spec.ok() || !request.has_expected_fingerprint()) return spec;
  absl::Status status = CheckFingerprint(request.expected_fingerprint(), spec->fingerprint());
  if (!status.ok()) return status;
  return spec;
}

/// The same with a spec that may be known.
template <typename Request>
absl::StatusOr<std::shared_ptr<const CanonicalSpec>> CheckKnownTable(const Request& request,
                                                                     const LearnedTables& tables,
                                                                     KnownSpecs* known) {
  const std::string bytes = request.spec().SerializeAsString();
  std::shared_ptr<const CanonicalSpec> spec = known->Find(bytes);
  if (spec != nullptr && (!request.has_expected_fingerprint() ||
                          request.expected_fingerprint() == spec->fingerprint())) {
    return spec;
  }
  absl::StatusOr<CanonicalSpec> checked = CheckTable(request, tables);
  if (!checked.ok()) return checked.status();
  spec = std::make_shared<const CanonicalSpec>(*std::move(checked));
  if (!MeansWhatIsHeld(request.spec())) known->Remember(bytes, spec);
  return spec;
}

/// Checks the range of a request. **Errors**: those of
/// CanonicalSpec::CheckRange; INVALID_ARGUMENT (row_count) for none.
template <typename Request>
absl::Status CheckRange(const Request& request, const CanonicalSpec& spec) {
  if (!request.has_row_count()) {
    return FieldError(absl::StatusCode::kInvalidArgument, "row_count", "is required");
  }
  return spec.CheckRange(request.start_position(), request.row_count());
}

/// Checks that a response of `bytes` bytes, which holds nothing that could be
/// asked for in parts, fits one message.
///
/// **Errors**: RESOURCE_EXHAUSTED (`field`), naming size, limit and way out.
absl::Status CheckFits(absl::string_view field, absl::string_view what, std::int64_t bytes,
                       std::int64_t max_message_bytes);

/// Whether `text` is a fingerprint: 32 lower-case hexadecimal digits.
bool IsFingerprint(absl::string_view text);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_REQUEST_H_
