#include "proto/status_codec.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "phasor/core/errors.h"
#include "phasor/v1/error_details.pb.h"

namespace phasor {
namespace {

constexpr char kTypePrefix[] = "type.googleapis.com/google.rpc.";

// Length of the UTF-8 character that `text` starts with; 0 if it is none.
std::size_t CharacterBytes(absl::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t bytes = lead < 0x80                   ? 1
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies past U+10FFFF.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90)) {
    return 0;
  }
  return bytes;
}

// A proto3 string has to be UTF-8, and readers in other languages insist.
std::string CutText(absl::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = CharacterBytes(text);
    const std::size_t taken = bytes == 0 ? 1 : bytes;
    if (result.size() + taken > kMaxErrorMessageBytes) break;
    absl::StrAppend(&result, bytes == 0 ? "?" : text.substr(0, bytes));
    text.remove_prefix(taken);
  }
  return result;
}

const char* ReasonOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument: return "INVALID_FIELD";
    case absl::StatusCode::kOutOfRange: return "OUT_OF_RANGE";
    case absl::StatusCode::kFailedPrecondition: return "FINGERPRINT_MISMATCH";
    case absl::StatusCode::kResourceExhausted: return "MESSAGE_TOO_LARGE";
    case absl::StatusCode::kUnavailable: return "OVERLOADED";
    case absl::StatusCode::kNotFound: return "TABLE_NOT_FOUND";
    default: return nullptr;
  }
}

void AddDetail(const char* name, const google::protobuf::MessageLite& detail,
               v1::ErrorStatus* out) {
  google::protobuf::Any& any = *out->add_details();
  any.set_type_url(absl::StrCat(kTypePrefix, name));
  detail.SerializeToString(any.mutable_value());
}

// Whether `status` has a detail of that name; it is then in `detail`.
bool FindDetail(const char* name, const grpc::Status& status,
                google::protobuf::MessageLite* detail) {
  v1::ErrorStatus proto;
  if (!proto.ParseFromString(status.error_details())) return false;
  for (const google::protobuf::Any& any : proto.details()) {
    if (any.type_url() == absl::StrCat(kTypePrefix, name)) {
      return detail->ParseFromString(any.value());
    }
  }
  return false;
}

// `message` without the "<field>: " that FieldError put before it.
absl::string_view WithoutField(absl::string_view message, absl::string_view field) {
  if (absl::StartsWith(message, field) && absl::StartsWith(message.substr(field.size()), ": ")) {
    return message.substr(field.size() + 2);
  }
  return message;
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string message = CutText(status.message());
  v1::ErrorStatus proto;
  proto.set_code(static_cast<int>(status.code()));
  proto.set_message(message);
  if (const std::string field = CutText(FieldOf(status)); !field.empty()) {
    v1::BadRequest bad_request;
    v1::BadRequest::FieldViolation& violation = *bad_request.add_field_violations();
    violation.set_field(field);
    violation.set_description(std::string(WithoutField(message, field)));
    AddDetail("BadRequest", bad_request, &proto);
  }
  if (const char* reason = ReasonOf(status.code()); reason != nullptr) {
    v1::ErrorInfo info;
    info.set_reason(reason);
    info.set_domain(kErrorDomain);
    AddDetail("ErrorInfo", info, &proto);
  }
  if (status.code() == absl::StatusCode::kUnavailable) {
    v1::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(static_cast<int>(absl::ToInt64Nanoseconds(kRetryDelay)));
    AddDetail("RetryInfo", retry, &proto);
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message,
                      proto.SerializeAsString());
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  v1::BadRequest bad_request;
  if (FindDetail("BadRequest", status, &bad_request) && !bad_request.field_violations().empty()) {
    const std::string& field = bad_request.field_violations(0).field();
    if (!field.empty()) return FieldError(code, field, WithoutField(status.error_message(), field));
  }
  return absl::Status(code, status.error_message());
}

absl::optional<absl::Duration> RetryDelayOf(const grpc::Status& status) {
  v1::RetryInfo retry;
  if (!FindDetail("RetryInfo", status, &retry)) return absl::nullopt;
  return absl::Seconds(retry.retry_delay().seconds()) +
         absl::Nanoseconds(retry.retry_delay().nanos());
}

}  // namespace phasor
