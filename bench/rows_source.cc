#include "bench/rows_source.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/report.h"
#include "client/src/call.h"
#include "client/src/grpc_connection.h"
#include "client/src/rows_decoder.h"
#include "phasor/v1/position_table_service.pb.h"
#include "proto/spec_codec.h"

namespace phasor::bench {
namespace {

constexpr absl::Duration kTimeout = absl::Minutes(2);

internal::CallHead HeadOf(const char* method) {
  return {absl::StrCat("/phasor.v1.PositionTableService/", method), "", absl::Now() + kTimeout};
}

}  // namespace

std::unique_ptr<internal::TableHandle> TableOf(const TableSpec& spec) {
  return std::make_unique<internal::TableHandle>(CanonicalSpec::Create(spec).value());
}

grpc::ByteBuffer RowsRequest(const internal::TableHandle& table, std::int64_t start,
                             std::int64_t count) {
  v1::GetRowsRequest request;
  *request.mutable_spec() = CanonicalToProto(table.spec());
  request.set_expected_fingerprint(table.fingerprint());
  request.set_start_position(start);
  request.set_row_count(count);
  return internal::Serialize(request);
}

std::string RowsResponse(const internal::TableHandle& table, std::int64_t start,
                         absl::Span<const std::byte> data) {
  v1::GetRowsResponse response;
  v1::Rows& rows = *response.mutable_rows();
  rows.set_fingerprint(table.fingerprint());
  rows.set_start_position(start);
  rows.set_row_count(static_cast<std::int64_t>(data.size()) / table.spec().row_bytes());
  rows.set_row_width(table.spec().row_width());
  rows.set_element_type(ElementTypeToProto(table.spec().element_type()));
  rows.set_data(data.data(), data.size());
  return response.SerializeAsString();
}

std::string BareResponse(std::size_t bytes) { return std::string(bytes, 'x'); }

RowsSource::RowsSource(const std::string& address, bool slow_reader) {
  grpc::ChannelArguments arguments;
  if (slow_reader) {
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  } else {
    arguments = internal::ChannelArgumentsFor(/*connections=*/1);
  }
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

double RowsSource::GetRows(const grpc::ByteBuffer& request, grpc::ByteBuffer* response) {
  internal::UnaryCall call{channel_, HeadOf("GetRows"), request,
                           [response](grpc::ByteBuffer* bytes) {
                             response->Swap(bytes);
                             return absl::OkStatus();
                           }};
  const double begin = Now();
  internal::CallUnary(absl::MakeSpan(&call, 1));
  const double seconds = Now() - begin;
  if (!call.attempt.status.ok()) Die(call.attempt.status.ToString());
  return seconds;
}

std::string RowsSource::ReadRows(const grpc::ByteBuffer& request,
                                 absl::FunctionRef<bool(grpc::ByteBuffer*)> on_message) {
  const internal::Attempt attempt = internal::CallStreaming(
      channel_, HeadOf("ReadRows"), request, [on_message](grpc::ByteBuffer* bytes) {
        return on_message(bytes) ? absl::OkStatus() : absl::CancelledError("enough");
      });
  return attempt.status.ok() ? "" : attempt.status.ToString();
}

void CheckRows(grpc::ByteBuffer* response, const internal::TableHandle& table, std::int64_t start,
               absl::Span<const std::byte> rows) {
  static thread_local std::vector<std::byte> got;
  got.resize(rows.size());
  const auto count = internal::DecodeRows(response, table, start, absl::MakeSpan(got));
  if (!count.ok()) Die(count.status().ToString());
  if (*count * table.spec().row_bytes() != static_cast<std::int64_t>(rows.size()) ||
      std::memcmp(got.data(), rows.data(), rows.size()) != 0) {
    Die("a server sent other rows than core makes");
  }
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace phasor::bench
