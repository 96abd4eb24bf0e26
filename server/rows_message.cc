#include "server/rows_message.h"

#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "phasor/v1/position_table_service.pb.h"
#include "proto/spec_codec.h"

namespace phasor::server {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kLengthDelimited = 2;

void AddVarint(std::uint64_t value, std::string* out) {
  std::uint8_t bytes[10];
  const std::uint8_t* end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  out->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(end - bytes));
}

void AddTag(int field, std::uint32_t wire_type, std::string* out) {
  AddVarint(static_cast<std::uint64_t>(field) << 3 | wire_type, out);
}

void AddInteger(int field, std::int64_t value, std::string* out) {
  AddTag(field, kVarint, out);
  AddVarint(static_cast<std::uint64_t>(value), out);
}

void AddLength(int field, std::size_t length, std::string* out) {
  AddTag(field, kLengthDelimited, out);
  AddVarint(length, out);
}

// The message up to its data. Fields without presence are left out at zero,
// as every encoder does.
std::string EncodeHead(const RowsHead& head, std::size_t data_bytes) {
  using v1::Rows;
  std::string rows;
  if (!head.fingerprint.empty()) {
    AddLength(Rows::kFingerprintFieldNumber, head.fingerprint.size(), &rows);
    rows += head.fingerprint;
  }
  if (head.start_position.has_value()) {
    AddInteger(Rows::kStartPositionFieldNumber, *head.start_position, &rows);
  }
  if (head.row_count != 0) AddInteger(Rows::kRowCountFieldNumber, head.row_count, &rows);
  if (head.row_width != 0) AddInteger(Rows::kRowWidthFieldNumber, head.row_width, &rows);
  AddInteger(Rows::kElementTypeFieldNumber, ElementTypeToProto(head.element_type), &rows);
  if (data_bytes != 0) AddLength(Rows::kDataFieldNumber, data_bytes, &rows);

  std::string message;
  AddLength(v1::GetRowsResponse::kRowsFieldNumber, rows.size() + data_bytes, &message);
  return message + rows;
}

void DropOwner(void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); }

}  // namespace

std::int64_t RowsMessageBytes(const RowsHead& head, std::int64_t data_bytes) {
  const auto head_bytes = EncodeHead(head, static_cast<std::size_t>(data_bytes)).size();
  return static_cast<std::int64_t>(head_bytes) + data_bytes;
}

grpc::Slice ShareRows(std::shared_ptr<const void> owner, absl::Span<const std::byte> rows) {
  // gRPC only reads what it sends.
  void* data = const_cast<std::byte*>(rows.data());
  return grpc::Slice(data, rows.size(), &DropOwner,
                     new std::shared_ptr<const void>(std::move(owner)));
}

grpc::ByteBuffer EncodeRows(const RowsHead& head, std::vector<grpc::Slice> rows) {
  std::size_t data_bytes = 0;
  for (const grpc::Slice& slice : rows) data_bytes += slice.size();
  rows.insert(rows.begin(), grpc::Slice(EncodeHead(head, data_bytes)));
  return grpc::ByteBuffer(rows.data(), rows.size());
}

}  // namespace phasor::server
