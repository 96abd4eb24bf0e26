#include "client/src/rows_decoder.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "phasor/v1/position_table_service.pb.h"
#include "proto/spec_codec.h"

namespace phasor::internal {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using v1::GetRowsResponse;

// No fingerprint of ours is longer; a longer one is another table's.
constexpr std::uint32_t kMaxFingerprintBytes = 256;

absl::Status Lost(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("the server's response ", what));
}

struct Head {
  std::string fingerprint;
  std::optional<std::int64_t> start_position;
  std::int64_t row_count = 0;
  std::int64_t row_width = 0;
  std::int32_t element_type = 0;
  std::size_t data_bytes = 0;
};

bool ReadInt64(CodedInputStream& in, std::int64_t* value) {
  std::uint64_t bits = 0;
  if (!in.ReadVarint64(&bits)) return false;
  *value = static_cast<std::int64_t>(bits);
  return true;
}

// Room for rows that are to follow each other.
class Room {
 public:
  Room(absl::Span<const absl::Span<std::byte>> parts, std::size_t skip)
      : parts_(parts), skip_(skip) {}

  bool Fits(std::size_t length) const {
    std::size_t room = 0;
    for (const absl::Span<std::byte> part : parts_) room += part.size();
    return length <= room - std::min(room, skip_);
  }
  // To the front of the room, as often as it is called.
  bool Read(CodedInputStream& in, std::size_t length) const {
    std::size_t skip = skip_;
    for (const absl::Span<std::byte> part : parts_) {
      const std::size_t begin = std::min(skip, part.size());
      const std::size_t size = std::min(part.size() - begin, length);
      if (size > 0 && !in.ReadRaw(part.data() + begin, static_cast<int>(size))) return false;
      skip -= begin;
      length -= size;
    }
    return length == 0;
  }

 private:
  absl::Span<const absl::Span<std::byte>> parts_;
  std::size_t skip_;
};

// One field of Rows. A field of the wrong wire type is skipped as unknown, as
// protobuf does; what it would have said is then missing.
absl::Status ReadField(CodedInputStream& in, std::uint32_t tag, const Room& room, Head& head) {
  constexpr auto kVarint = WireFormatLite::WIRETYPE_VARINT;
  constexpr auto kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  const auto is = [tag](int field, WireFormatLite::WireType type) {
    return tag == WireFormatLite::MakeTag(field, type);
  };
  bool ok = true;
  std::int64_t number = 0;
  std::uint32_t length = 0;
  if (is(v1::Rows::kDataFieldNumber, kBytes)) {
    ok = in.ReadVarint32(&length);
    if (ok && !room.Fits(length)) return Lost("holds more rows than were asked for");
    ok = ok && room.Read(in, length);
    head.data_bytes = length;
  } else if (is(v1::Rows::kFingerprintFieldNumber, kBytes)) {
    ok = in.ReadVarint32(&length) && length <= kMaxFingerprintBytes &&
         in.ReadString(&head.fingerprint, static_cast<int>(length));
  } else if (is(v1::Rows::kStartPositionFieldNumber, kVarint)) {
    ok = ReadInt64(in, &number);
    head.start_position = number;
  } else if (is(v1::Rows::kRowCountFieldNumber, kVarint)) {
    ok = ReadInt64(in, &head.row_count);
  } else if (is(v1::Rows::kRowWidthFieldNumber, kVarint)) {
    ok = ReadInt64(in, &head.row_width);
  } else if (is(v1::Rows::kElementTypeFieldNumber, kVarint)) {
    ok = ReadInt64(in, &number);
    head.element_type = static_cast<std::int32_t>(number);
  } else {
    ok = WireFormatLite::SkipField(&in, tag);
  }
  return ok ? absl::OkStatus() : Lost("is not a message of rows");
}

absl::Status ReadRows(CodedInputStream& in, const Room& room, Head& head) {
  while (const std::uint32_t tag = in.ReadTag()) {
    if (tag != WireFormatLite::MakeTag(GetRowsResponse::kRowsFieldNumber,
                                       WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!WireFormatLite::SkipField(&in, tag)) return Lost("is not a message of rows");
      continue;
    }
    std::uint32_t length = 0;
    if (!in.ReadVarint32(&length) || length > static_cast<std::uint32_t>(INT32_MAX)) {
      return Lost("is not a message of rows");
    }
    const CodedInputStream::Limit limit = in.PushLimit(static_cast<int>(length));
    while (const std::uint32_t inner = in.ReadTag()) {
      absl::Status status = ReadField(in, inner, room, head);
      if (!status.ok()) return status;
    }
    if (!in.ConsumedEntireMessage() || in.BytesUntilLimit() != 0) return Lost("is cut short");
    in.PopLimit(limit);
  }
  return in.ConsumedEntireMessage() ? absl::OkStatus() : Lost("is cut short");
}

}  // namespace

absl::StatusOr<std::int64_t> DecodeRows(grpc::ByteBuffer* response, const TableHandle& table,
                                        std::optional<std::int64_t> start,
                                        absl::Span<std::byte> out) {
  return DecodeRows(response, table, start, absl::MakeConstSpan(&out, 1), 0);
}

absl::StatusOr<std::int64_t> DecodeRows(grpc::ByteBuffer* response, const TableHandle& table,
                                        std::optional<std::int64_t> start,
                                        absl::Span<const absl::Span<std::byte>> parts,
                                        std::size_t skip) {
  Head head;
  {
    grpc::ProtoBufferReader reader(response);
    if (!reader.status().ok()) return Lost("cannot be read");
    CodedInputStream in(&reader);
    absl::Status status = ReadRows(in, Room(parts, skip), head);
    if (!status.ok()) return status;
  }
  if (head.fingerprint != table.fingerprint()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the server sent rows of table \"", head.fingerprint, "\", not of ", table.fingerprint()));
  }
  const CanonicalSpec& spec = table.spec();
  if (head.row_width != spec.row_width()) {
    return Lost(absl::StrCat("has row_width ", head.row_width, ", not ", spec.row_width()));
  }
  if (head.element_type != ElementTypeToProto(spec.element_type())) {
    return Lost(absl::StrCat("has element_type ", head.element_type, ", not ",
                             ElementTypeName(spec.element_type())));
  }
  if (start.has_value() && head.start_position != start) {
    return Lost(absl::StrCat("starts at position ",
                             head.start_position ? absl::StrCat(*head.start_position) : "unknown",
                             ", not ", *start));
  }
  const std::int64_t whole = static_cast<std::int64_t>(head.data_bytes) / spec.row_bytes();
  if (head.row_count != whole ||
      static_cast<std::int64_t>(head.data_bytes) % spec.row_bytes() != 0) {
    return Lost(absl::StrCat("has row_count ", head.row_count, " and ", head.data_bytes,
                             " bytes of rows of ", spec.row_bytes()));
  }
  return head.row_count;
}

}  // namespace phasor::internal
