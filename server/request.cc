#include "server/request.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "grpcpp/support/slice.h"

namespace phasor::server {

grpc::ByteBuffer Encode(const google::protobuf::MessageLite& response) {
  const grpc::Slice bytes(response.SerializeAsString());
  return grpc::ByteBuffer(&bytes, 1);
}

bool MeansWhatIsHeld(const v1::TableSpec& spec) {
  return spec.has_learned_table() && !spec.learned_table().has_content_sha256();
}

absl::StatusOr<CanonicalSpec> CheckSpec(const v1::TableSpec& spec, const LearnedTables& tables) {
  absl::StatusOr<TableSpec> table = SpecFromProto(spec);
  if (!table.ok()) return table.status();
  if (auto* learned = std::get_if<LearnedTable>(&table->scheme)) {
    absl::Status status = tables.Resolve(table->element_type, learned);
    if (!status.ok()) return status;
  }
  return CanonicalSpec::Create(*std::move(table));
}

absl::Status CheckFits(absl::string_view field, absl::string_view what, std::int64_t bytes,
                       std::int64_t max_message_bytes) {
  if (bytes <= max_message_bytes) return absl::OkStatus();
  return FieldError(absl::StatusCode::kResourceExhausted, field,
                    absl::StrCat("the response with ", what, " has ", bytes,
                                 " bytes, more than max_message_bytes = ", max_message_bytes,
                                 ": raise the server's --max_message_bytes"));
}

bool IsFingerprint(absl::string_view text) {
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

absl::Status CheckFingerprint(absl::string_view expected, absl::string_view fingerprint) {
  constexpr absl::string_view kField = "expected_fingerprint";
  if (!IsFingerprint(expected)) {
    return FieldError(absl::StatusCode::kInvalidArgument, kField,
                      absl::StrCat("\"", expected.substr(0, 64),
                                   "\" is no fingerprint: 32 lower-case hexadecimal digits"));
  }
  if (expected != fingerprint) {
    return FieldError(absl::StatusCode::kFailedPrecondition, kField,
                      absl::StrCat("the table is ", fingerprint, " here, not ", expected,
                                   ": open it again with GetTable"));
  }
  return absl::OkStatus();
}

}  // namespace phasor::server
