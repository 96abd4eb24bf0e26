#include "server/range_request.h"

#include <array>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "phasor/v1/position_table_service.pb.h"
#include "server/request.h"

namespace phasor::server {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// The fields of a request as they came.
struct Parts {
  std::optional<absl::string_view> spec;
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> count;
  std::optional<absl::string_view> fingerprint;
};

template <typename M>
constexpr std::array<int, 4> kFieldNumbers = {M::kSpecFieldNumber, M::kStartPositionFieldNumber,
                                              M::kRowCountFieldNumber,
                                              M::kExpectedFingerprintFieldNumber};
static_assert(kFieldNumbers<v1::GetRowsRequest> == kFieldNumbers<v1::ReadRowsRequest>);
using Fields = v1::GetRowsRequest;

// Splits a request whose fields come once each. What is anything else is left
// to protobuf.
std::optional<Parts> Split(absl::string_view bytes) {
  constexpr auto kVarint = WireFormatLite::WIRETYPE_VARINT;
  constexpr auto kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                      static_cast<int>(bytes.size()));
  const auto text = [&](std::optional<absl::string_view>* part) {
    std::uint32_t length = 0;
    if (part->has_value() || !in.ReadVarint32(&length)) return false;
    const auto at = static_cast<std::size_t>(in.CurrentPosition());
    if (length > bytes.size() - at || !in.Skip(static_cast<int>(length))) return false;
    *part = bytes.substr(at, length);
    return true;
  };
  const auto number = [&](std::optional<std::int64_t>* part) {
    std::uint64_t value = 0;
    if (part->has_value() || !in.ReadVarint64(&value)) return false;
    *part = static_cast<std::int64_t>(value);
    return true;
  };
  Parts parts;
  while (const std::uint32_t tag = in.ReadTag()) {
    bool ok = false;
    switch (tag) {
      case WireFormatLite::MakeTag(Fields::kSpecFieldNumber, kBytes): ok = text(&parts.spec); break;
      case WireFormatLite::MakeTag(Fields::kStartPositionFieldNumber, kVarint):
        ok = number(&parts.start);
        break;
      case WireFormatLite::MakeTag(Fields::kRowCountFieldNumber, kVarint):
        ok = number(&parts.count);
        break;
      case WireFormatLite::MakeTag(Fields::kExpectedFingerprintFieldNumber, kBytes):
        ok = text(&parts.fingerprint);
        break;
      default: break;
    }
    if (!ok) return std::nullopt;
  }
  if (!in.ConsumedEntireMessage() || !parts.spec.has_value()) return std::nullopt;
  return parts;
}

}  // namespace

template <typename Message>
absl::StatusOr<RowRange> ReadRangeRequest(const grpc::ByteBuffer& bytes,
                                          const LearnedTables& tables, KnownSpecs* known) {
  grpc::Slice slice;
  std::optional<Parts> parts;
  if (bytes.TrySingleSlice(&slice).ok()) {
    parts = Split({reinterpret_cast<const char*>(slice.begin()), slice.size()});
  }
  if (parts.has_value() && parts->count.has_value()) {
    RowRange request = {known->Find(*parts->spec), parts->start.value_or(0), *parts->count};
    if (request.spec != nullptr &&
        (!parts->fingerprint.has_value() || *parts->fingerprint == request.spec->fingerprint())) {
      absl::Status status = request.spec->CheckRange(request.start, request.count);
      if (!status.ok()) return status;
      return request;
    }
  }
  Message message;
  absl::Status status = Decode(bytes, &message);
  if (!status.ok()) return status;
  absl::StatusOr<CanonicalSpec> spec = CheckTable(message, tables);
  if (!spec.ok()) return spec.status();
  status = CheckRange(message, *spec);
  if (!status.ok()) return status;
  RowRange request = {std::make_shared<const CanonicalSpec>(*std::move(spec)),
                      message.start_position(), message.row_count()};
  if (parts.has_value() && !MeansWhatIsHeld(message.spec())) {
    known->Remember(*parts->spec, request.spec);
  }
  return request;
}

template absl::StatusOr<RowRange> ReadRangeRequest<v1::GetRowsRequest>(const grpc::ByteBuffer&,
                                                                       const LearnedTables&,
                                                                       KnownSpecs*);
template absl::StatusOr<RowRange> ReadRangeRequest<v1::ReadRowsRequest>(const grpc::ByteBuffer&,
                                                                        const LearnedTables&,
                                                                        KnownSpecs*);

}  // namespace phasor::server
