#include "server/rows_message.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "phasor/v1/position_table_service.pb.h"
#include "proto/spec_codec.h"

namespace phasor::server {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// The message up to its data.
class Head {
 public:
  Head(const RowsHead& head, std::size_t data_bytes) {
    using v1::Rows;
    std::uint8_t* const rows = bytes_.data() + kMaxPrefixBytes;
    std::uint8_t* end = rows;
    // Fields without presence are left out at zero, as every encoder does.
    if (!head.fingerprint.empty()) {
      end = WriteLength(Rows::kFingerprintFieldNumber, head.fingerprint.size(), end);
      end = std::copy(head.fingerprint.begin(), head.fingerprint.end(), end);
    }
    if (head.start_position.has_value()) {
      end = WireFormatLite::WriteInt64ToArray(Rows::kStartPositionFieldNumber, *head.start_position,
                                              end);
    }
    if (head.row_count != 0) {
      end = WireFormatLite::WriteInt64ToArray(Rows::kRowCountFieldNumber, head.row_count, end);
    }
    if (head.row_width != 0) {
      end = WireFormatLite::WriteInt64ToArray(Rows::kRowWidthFieldNumber, head.row_width, end);
    }
    end = WireFormatLite::WriteEnumToArray(Rows::kElementTypeFieldNumber,
                                           ElementTypeToProto(head.element_type), end);
    if (data_bytes != 0) end = WriteLength(Rows::kDataFieldNumber, data_bytes, end);

    std::array<std::uint8_t, kMaxPrefixBytes> prefix;
    const std::uint8_t* const prefix_end =
        WriteLength(v1::GetRowsResponse::kRowsFieldNumber,
                    static_cast<std::size_t>(end - rows) + data_bytes, prefix.data());
    begin_ =
        std::copy_backward(prefix.cbegin(), prefix.cbegin() + (prefix_end - prefix.data()), rows);
    size_ = static_cast<std::size_t>(end - begin_);
  }

  const std::uint8_t* data() const { return begin_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kMaxPrefixBytes = 16;

  static std::uint8_t* WriteLength(int field, std::size_t length, std::uint8_t* out) {
    out = WireFormatLite::WriteTagToArray(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, out);
    return CodedOutputStream::WriteVarint64ToArray(length, out);
  }

  std::array<std::uint8_t, kMaxPrefixBytes + kMaxRowsHeadBytes> bytes_;
  const std::uint8_t* begin_;
  std::size_t size_;
};

void DropOwner(void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); }

}  // namespace

std::int64_t RowsMessageBytes(const RowsHead& head, std::int64_t data_bytes) {
  const Head encoded(head, static_cast<std::size_t>(data_bytes));
  return static_cast<std::int64_t>(encoded.size()) + data_bytes;
}

grpc::Slice ShareRows(std::shared_ptr<const void> owner, absl::Span<const std::byte> rows) {
  // gRPC only reads what it sends.
  void* data = const_cast<std::byte*>(rows.data());
  return grpc::Slice(data, rows.size(), &DropOwner,
                     new std::shared_ptr<const void>(std::move(owner)));
}

grpc::ByteBuffer EncodeRows(const RowsHead& head, RowSlices rows) {
  std::size_t data_bytes = 0;
  for (const grpc::Slice& slice : rows) data_bytes += slice.size();
  const Head encoded(head, data_bytes);
  rows.insert(rows.begin(), grpc::Slice(encoded.data(), encoded.size()));
  return grpc::ByteBuffer(rows.data(), rows.size());
}

}  // namespace phasor::server
