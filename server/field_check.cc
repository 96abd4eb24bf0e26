#include "server/field_check.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "phasor/core/errors.h"

namespace phasor::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

absl::Status Wrong(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, what);
}

// Whether a field of that kind may be written so; what is not decodes as unknown.
bool IsWireTypeOf(const FieldDescriptor& field, WireFormatLite::WireType type) {
  if (field.is_packable() && type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) return true;
  return type ==
         WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field.type()));
}

// Decoding of `message` up to the stream's limit; `path` ends with a '.' or is empty.
absl::Status Walk(CodedInputStream& in, const Descriptor& message, const std::string& path) {
  std::vector<const FieldDescriptor*> seen;
  while (const std::uint32_t tag = in.ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const WireFormatLite::WireType type = WireFormatLite::GetTagWireType(tag);
    const FieldDescriptor* field = message.FindFieldByNumber(number);
    if (field == nullptr || !IsWireTypeOf(*field, type)) {
      return Wrong(
          absl::StrCat(path, number),
          absl::StrCat("field number ", number, " of ", message.full_name(), " is not known here"));
    }
    if (!field->is_repeated()) {
      for (const FieldDescriptor* other : seen) {
        const std::string name = absl::StrCat(path, field->name());
        if (other == field) return Wrong(name, "stands twice in the request; give it once");
        if (field->real_containing_oneof() != nullptr &&
            field->real_containing_oneof() == other->real_containing_oneof()) {
          return Wrong(name, absl::StrCat("stands beside ", other->name(), "; give one of both"));
        }
      }
      seen.push_back(field);
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!WireFormatLite::SkipField(&in, tag)) break;
      continue;
    }
    int length = 0;
    if (!in.ReadVarintSizeAsInt(&length)) break;
    const CodedInputStream::Limit limit = in.PushLimit(length);
    absl::Status status = Walk(in, *field->message_type(), absl::StrCat(path, field->name(), "."));
    if (!status.ok()) return status;
    in.PopLimit(limit);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFields(const grpc::ByteBuffer& bytes, const Descriptor& type) {
  grpc::ByteBuffer copy(bytes);  // shares the bytes; a reader wants its own
  grpc::ProtoBufferReader reader(&copy);
  CodedInputStream in(&reader);
  return Walk(in, type, "");
}

}  // namespace phasor::server
