#include "client/src/grpc_connection.h"

#include <algorithm>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/src/fork.h"
#include "client/src/rows_decoder.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpc/grpc.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "phasor/core/errors.h"
#include "phasor/v1/position_table_service.pb.h"
#include "proto/spec_codec.h"

namespace phasor::internal {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr absl::string_view kService = "/phasor.v1.PositionTableService/";
constexpr absl::string_view kHealthCheck = "/grpc.health.v1.Health/Check";

// A range this small is one unary call; a stream costs two messages more, and
// gains nothing where the rows fit one chunk.
constexpr std::int64_t kMaxUnaryBytes = std::int64_t{1} << 19;
// Below this any server takes the message; its limit is not asked for.
constexpr std::int64_t kAlwaysFits = std::int64_t{1} << 18;
// What a message holds beside rows, positions and spec: less than this.
constexpr std::int64_t kHeadBytes = 1024;
// A server's limit beyond this is not made use of: calls get no faster.
constexpr std::int64_t kMaxMessageBytes = std::int64_t{64} << 20;
// An int64 or a double, as one element of a packed field, takes at most this.
constexpr std::int64_t kPositionBytes = 10;
constexpr int kTablesPerPage = 1000;

template <typename Request>
Request RequestFor(const TableHandle& table) {
  Request request;
  *request.mutable_spec() = CanonicalToProto(table.spec());
  request.set_expected_fingerprint(table.fingerprint());
  return request;
}

// The status of a part of a call, with the part named: positions in its
// message count from the part's start.
absl::Status InPart(const absl::Status& status, std::int64_t first_row) {
  if (status.ok() || first_row == 0) return status;
  absl::Status named(status.code(), absl::StrCat(status.message(), " (in the part of the call ",
                                                 "that begins at its row ", first_row, ")"));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { named.SetPayload(url, payload); });
  return named;
}

absl::Status CheckSameTable(const TableHandle& table, const v1::GetTableResponse& response) {
  const auto differs = [&](const auto& what) {
    return FieldError(absl::StatusCode::kFailedPrecondition, "spec",
                      absl::StrCat("the server means another table by it: ", what));
  };
  if (response.fingerprint() != table.fingerprint()) {
    return differs(
        absl::StrCat("fingerprint \"", response.fingerprint(), "\", not ", table.fingerprint()));
  }
  const absl::StatusOr<TableSpec> spec = SpecFromProto(response.spec());
  if (!spec.ok()) return differs(spec.status().message());
  const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(*spec);
  if (!canonical.ok()) return differs(canonical.status().message());
  if (canonical->text() != table.spec().text()) {
    return differs(absl::StrCat("\n", canonical->text(), "not\n", table.spec().text()));
  }
  if (response.row_width() != table.spec().row_width() ||
      response.row_bytes() != table.spec().row_bytes()) {
    return differs(absl::StrCat("rows of ", response.row_width(), " elements, ",
                                response.row_bytes(), " bytes, not ", table.spec().row_width(),
                                " and ", table.spec().row_bytes()));
  }
  return absl::OkStatus();
}

// An answer that is none, though it could be read.
absl::Status Lost(const absl::Status& status) {
  return absl::DataLossError(absl::StrCat("the server's response: ", status.message()));
}

// Of two calls' pushbacks that of both: no retry, or the longer wait.
absl::optional<absl::Duration> LongerPushback(absl::optional<absl::Duration> a,
                                              absl::optional<absl::Duration> b) {
  const absl::Duration zero = absl::ZeroDuration();
  return std::min(a.value_or(zero), b.value_or(zero)) < zero ? absl::Seconds(-1) : std::max(a, b);
}

// Rows that are all of `out`.
absl::Status DecodeAll(grpc::ByteBuffer* bytes, const TableHandle& table,
                       std::optional<std::int64_t> start, absl::Span<std::byte> out) {
  const std::int64_t wanted = static_cast<std::int64_t>(out.size()) / table.spec().row_bytes();
  const absl::StatusOr<std::int64_t> rows = DecodeRows(bytes, table, start, out);
  if (!rows.ok()) return rows.status();
  if (*rows == wanted) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the server sent ", *rows, " rows of ", wanted));
}

absl::Status LostByFork() {
  return absl::UnavailableError(
      "this process was forked after gRPC had been at work in its parent, and cannot reach a "
      "server; fork before the first call, or exec, or set fallback");
}

}  // namespace

grpc::ChannelArguments ChannelArgumentsFor(int connections) {
  grpc::ChannelArguments arguments;
  if (connections > 1) arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetLoadBalancingPolicyName("round_robin");
  // Whole blocks a frame and 16 MiB on the way: nearly twice the throughput of
  // gRPC's defaults for long ranges.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 4 << 20);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 16 << 20);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // A proxy of the environment is for web pages, not for a service next door.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // RetryUnavailable retries; both at once would multiply.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  // Calls on a connection whose other end is gone fail in time to be repeated.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  // A server that moved is found within a second of a failure, not thirty.
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1000);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // The time that an attempt to connect may take. It outlasts the waits between calls, so that the
  // next one sees why an attempt failed.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  return arguments;
}

GrpcConnection::~GrpcConnection() {
  if (!GrpcLostByFork()) return;
  // Nothing of gRPC's can be ended here. It is left as it is, for good.
  background_.release();  // NOLINT(bugprone-unused-return-value)
  static_cast<void>(new (std::nothrow)
                        std::vector<std::shared_ptr<grpc::Channel>>(std::move(channels_)));
}

std::vector<std::shared_ptr<grpc::Channel>>& GrpcConnection::Channels() {
  absl::call_once(channels_once_, [this] { channels_ = make_(); });
  return channels_;
}

const std::shared_ptr<grpc::Channel>& GrpcConnection::NextChannel() {
  std::vector<std::shared_ptr<grpc::Channel>>& channels = Channels();
  return channels[turn_.fetch_add(1, std::memory_order_relaxed) % channels.size()];
}

absl::Status GrpcConnection::Retry(CallLimits limits,
                                   absl::FunctionRef<Attempt(absl::Time deadline)> attempt) {
  return RetryUnavailable(backoff_, limits, counters_, attempt,
                          [this](absl::Duration wait) { SleepConnecting(Channels(), wait); });
}

absl::Status GrpcConnection::Call(absl::string_view method, absl::string_view fingerprint,
                                  const grpc::ByteBuffer& request, CallLimits limits,
                                  OnMessage on_response) {
  if (GrpcLostByFork()) return LostByFork();
  CallHead head{std::string(method), std::string(fingerprint), limits.deadline};
  return Retry(limits, [&](absl::Time deadline) {
    head.deadline = deadline;
    Count(counters_->rpcs);
    return CallUnary(NextChannel(), head, request, on_response);
  });
}

absl::Status GrpcConnection::Ask(absl::string_view method, absl::string_view fingerprint,
                                 const google::protobuf::MessageLite& request,
                                 google::protobuf::MessageLite* response, CallLimits limits) {
  return Call(absl::StrCat(kService, method), fingerprint, Serialize(request), limits,
              [&](grpc::ByteBuffer* bytes) { return ParseResponse(bytes, response); });
}

absl::Status GrpcConnection::CallForRows(const TableHandle& table, absl::string_view method,
                                         const google::protobuf::MessageLite& request,
                                         std::optional<std::int64_t> start,
                                         absl::Span<std::byte> out, CallLimits limits) {
  return Call(absl::StrCat(kService, method), table.fingerprint(), Serialize(request), limits,
              [&](grpc::ByteBuffer* bytes) { return DecodeAll(bytes, table, start, out); });
}

absl::StatusOr<CanonicalSpec> GrpcConnection::Resolve(const LearnedTable& table, ElementType type,
                                                      CallLimits limits) {
  if (absl::Status status = CheckTableName(table.name); !status.ok()) return status;
  v1::GetTableRequest request;
  *request.mutable_spec() = NameToProto(table, type);
  v1::GetTableResponse response;
  const absl::Status status = Ask("GetTable", "", request, &response, limits);
  if (!status.ok()) return status;
  absl::StatusOr<TableSpec> spec = SpecFromProto(response.spec());
  if (!spec.ok()) return Lost(spec.status());
  const auto* learned = std::get_if<LearnedTable>(&spec->scheme);
  if (learned == nullptr || learned->name != table.name || spec->element_type != type) {
    return absl::DataLossError(
        absl::StrCat("the server's response is not about the table \"", table.name, "\""));
  }
  absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(*std::move(spec));
  if (!canonical.ok()) return Lost(canonical.status());
  const absl::Status same = CheckSameTable(TableHandle(*canonical), response);
  if (!same.ok()) return same;
  return canonical;
}

absl::Status GrpcConnection::Open(const TableHandle& table, CallLimits limits) {
  v1::GetTableResponse response;
  const absl::Status status = Ask("GetTable", table.fingerprint(),
                                  RequestFor<v1::GetTableRequest>(table), &response, limits);
  return status.ok() ? CheckSameTable(table, response) : status;
}

absl::Status GrpcConnection::Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                                  absl::Span<std::byte> out, CallLimits limits) {
  if (count == 0) return absl::OkStatus();
  if (static_cast<std::int64_t>(out.size()) > kMaxUnaryBytes) {
    return ReadStream(table, start, count, out, limits);
  }
  auto request = RequestFor<v1::GetRowsRequest>(table);
  request.set_start_position(start);
  request.set_row_count(count);
  const absl::Status status = CallForRows(table, "GetRows", request, start, out, limits);
  // The server may be told to send smaller messages than others do.
  return absl::IsResourceExhausted(status) ? ReadStream(table, start, count, out, limits) : status;
}

absl::Status GrpcConnection::ReadStream(const TableHandle& table, std::int64_t start,
                                        std::int64_t count, absl::Span<std::byte> out,
                                        CallLimits limits) {
  if (GrpcLostByFork()) return LostByFork();
  CallHead head{absl::StrCat(kService, "ReadRows"), table.fingerprint(), limits.deadline};
  const std::int64_t row_bytes = table.spec().row_bytes();
  auto request = RequestFor<v1::ReadRowsRequest>(table);
  std::int64_t done = 0;
  return Retry(limits, [&](absl::Time deadline) {
    head.deadline = deadline;
    // A stream that broke goes on where it broke.
    const std::int64_t before = done;
    request.set_start_position(start + done);
    request.set_row_count(count - done);
    Count(counters_->rpcs);
    Attempt attempt =
        CallStreaming(NextChannel(), head, Serialize(request), [&](grpc::ByteBuffer* bytes) {
          const absl::StatusOr<std::int64_t> rows = DecodeRows(
              bytes, table, start + done, out.subspan(static_cast<std::size_t>(done * row_bytes)));
          if (!rows.ok()) return rows.status();
          if (*rows == 0) return absl::DataLossError("the server sent a message without rows");
          done += *rows;
          return absl::OkStatus();
        });
    attempt.progress = done > before;
    if (done == count &&
        (absl::IsUnavailable(attempt.status) || absl::IsDeadlineExceeded(attempt.status))) {
      attempt.status = absl::OkStatus();
    }
    if (done < count && attempt.status.ok()) {
      attempt.status =
          absl::DataLossError(absl::StrCat("the server sent ", done, " rows of ", count));
    }
    return attempt;
  });
}

bool GrpcConnection::ReadsAhead() {
  return !GrpcLostByFork() && absl::GetCurrentTimeNanos() >= no_background_until_;
}

void GrpcConnection::StartRead(std::shared_ptr<const TableHandle> table, std::int64_t start,
                               std::int64_t count, Parts parts, absl::Time deadline,
                               std::function<void(absl::Status)> done) {
  const CallHead head{absl::StrCat(kService, "ReadRows"), table->fingerprint(), deadline};
  auto request = RequestFor<v1::ReadRowsRequest>(*table);
  request.set_start_position(start);
  request.set_row_count(count);
  // Rows so far; written by one message after another, read at the end.
  auto arrived = std::make_shared<std::int64_t>(0);
  const auto on_response = [arrived, table, start,
                            parts = std::move(parts)](grpc::ByteBuffer* bytes) -> absl::Status {
    const absl::StatusOr<std::int64_t> rows =
        DecodeRows(bytes, *table, start + *arrived, parts,
                   static_cast<std::size_t>(*arrived * table->spec().row_bytes()));
    if (!rows.ok()) return rows.status();
    *arrived += *rows;
    return absl::OkStatus();
  };
  const auto on_end = [this, arrived, count, done = std::move(done)](const Attempt& attempt) {
    absl::Status status = attempt.status;
    if (status.ok() && *arrived < count) {
      status = absl::DataLossError(absl::StrCat("the server sent ", *arrived, " rows of ", count));
    }
    if (!status.ok()) {
      // Not a word to the server for a while; whoever needs rows asks himself.
      const absl::Duration asked = attempt.pushback.value_or(absl::ZeroDuration());
      const absl::Duration pause =
          asked < absl::ZeroDuration() ? backoff_.max : std::max(asked, backoff_.initial);
      no_background_until_ = absl::ToUnixNanos(absl::Now() + pause);
    }
    done(status);
  };
  Count(counters_->rpcs);
  background_->Start(NextChannel(), head, Serialize(request), on_response, on_end);
}

absl::StatusOr<std::int64_t> GrpcConnection::RowsPerMessage(std::int64_t rows,
                                                            std::int64_t row_bytes,
                                                            std::int64_t head_bytes,
                                                            CallLimits limits) {
  if (head_bytes + rows * row_bytes <= kAlwaysFits) return rows;
  std::int64_t most = 0;
  {
    absl::MutexLock lock(&mutex_);
    most = max_message_bytes_;
  }
  if (most == 0) {
    const absl::StatusOr<ServerInfo> info = GetServerInfo(limits);
    if (!info.ok()) return info.status();
    most = std::min(info->max_message_bytes, kMaxMessageBytes);
    absl::MutexLock lock(&mutex_);
    max_message_bytes_ = most;
  }
  return std::max<std::int64_t>(1, (most - head_bytes) / row_bytes);
}

absl::Status GrpcConnection::Gather(absl::Span<const GatherJob> jobs, CallLimits limits) {
  if (GrpcLostByFork()) return LostByFork();
  std::vector<GatherCall> calls;
  for (const GatherJob& job : jobs) {
    if (absl::Status status = CutGather(job, limits, calls); !status.ok()) return status;
  }
  // As many at once as a server may take from one connection, and no more bytes
  // than are worth it.
  constexpr std::size_t kAtOnce = 16;
  std::size_t begin = 0;  // of those not answered yet
  return Retry(limits, [&](absl::Time deadline) {
    Attempt attempt;
    while (begin < calls.size() && attempt.status.ok()) {
      const std::size_t end = std::min(calls.size(), begin + kAtOnce);
      std::vector<UnaryCall> now;
      for (std::size_t i = begin; i < end; ++i) {
        Count(counters_->rpcs);
        const GatherCall& call = calls[i];
        now.push_back({NextChannel(),
                       {absl::StrCat(kService, "GatherRows"), call.table->fingerprint(), deadline},
                       call.request,
                       [&call](grpc::ByteBuffer* bytes) {
                         return DecodeAll(bytes, *call.table, std::nullopt, call.out);
                       }});
      }
      CallUnary(absl::MakeSpan(now));
      // Those that failed are the first of the next round.
      std::vector<GatherCall> again;
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i].attempt.status.ok()) continue;
        // What cannot be mended counts, else the longest wait asked for.
        const bool worse = attempt.status.ok() || (absl::IsUnavailable(attempt.status) &&
                                                   !absl::IsUnavailable(now[i].attempt.status));
        if (worse) {
          attempt.status = InPart(now[i].attempt.status, calls[begin + i].first_row);
        }
        attempt.pushback = LongerPushback(attempt.pushback, now[i].attempt.pushback);
        again.push_back(std::move(calls[begin + i]));
      }
      attempt.progress = attempt.progress || again.size() < now.size();
      begin = end - again.size();
      std::move(again.begin(), again.end(), calls.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    return attempt;
  });
}

absl::Status GrpcConnection::CutGather(const GatherJob& job, CallLimits limits,
                                       std::vector<GatherCall>& calls) {
  auto request = RequestFor<v1::GatherRowsRequest>(*job.table);
  const auto head_bytes = kHeadBytes + static_cast<std::int64_t>(request.ByteSizeLong());
  const std::int64_t row_bytes = job.table->spec().row_bytes();
  const std::int64_t count = static_cast<std::int64_t>(job.out.size()) / row_bytes;
  if (count == 0) return absl::OkStatus();
  const auto cut = [&](auto all, auto* field) -> absl::Status {
    const std::int64_t axes = static_cast<std::int64_t>(all.size()) / count;
    if (axes != 1) request.set_axes(axes);
    const absl::StatusOr<std::int64_t> part =
        RowsPerMessage(count, std::max(row_bytes, axes * kPositionBytes), head_bytes, limits);
    if (!part.ok()) return part.status();
    for (std::int64_t done = 0; done < count; done += *part) {
      const std::int64_t rows = std::min(*part, count - done);
      field->Clear();
      field->Add(all.begin() + done * axes, all.begin() + (done + rows) * axes);
      calls.push_back({job.table, Serialize(request),
                       job.out.subspan(static_cast<std::size_t>(done * row_bytes),
                                       static_cast<std::size_t>(rows * row_bytes)),
                       done});
    }
    return absl::OkStatus();
  };
  if (const auto* whole = std::get_if<absl::Span<const std::int64_t>>(&job.positions)) {
    return cut(*whole, request.mutable_positions());
  }
  return cut(std::get<absl::Span<const double>>(job.positions), request.mutable_real_positions());
}

absl::Status GrpcConnection::Shift(const TableHandle& table, ShiftBy by,
                                   absl::Span<const std::byte> rows, absl::Span<std::byte> out,
                                   CallLimits limits) {
  auto request = RequestFor<v1::ShiftRowsRequest>(table);
  if (const auto* steps = std::get_if<std::int64_t>(&by)) {
    request.set_steps(*steps);
  } else {
    request.set_fractional_steps(std::get<double>(by));
  }
  const auto head_bytes = kHeadBytes + static_cast<std::int64_t>(request.ByteSizeLong());
  const std::int64_t row_bytes = table.spec().row_bytes();
  const std::int64_t count = static_cast<std::int64_t>(rows.size()) / row_bytes;
  const absl::StatusOr<std::int64_t> part = RowsPerMessage(count, row_bytes, head_bytes, limits);
  if (!part.ok()) return part.status();
  // No rows are a call too: what is wrong with the table or with `by` is said.
  std::int64_t done = 0;
  do {
    const auto begin = static_cast<std::size_t>(done * row_bytes);
    const auto size = static_cast<std::size_t>(std::min(*part, count - done) * row_bytes);
    request.set_data(rows.data() + begin, size);
    const absl::Status status =
        CallForRows(table, "ShiftRows", request, std::nullopt, out.subspan(begin, size), limits);
    if (!status.ok()) return InPart(status, done);
    done += *part;
  } while (done < count);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> GrpcConnection::Frequencies(const TableHandle& table,
                                                                CallLimits limits) {
  v1::GetFrequenciesResponse response;
  const absl::Status status = Ask("GetFrequencies", table.fingerprint(),
                                  RequestFor<v1::GetFrequenciesRequest>(table), &response, limits);
  if (!status.ok()) return status;
  if (response.fingerprint() != table.fingerprint()) {
    return absl::FailedPreconditionError(absl::StrCat("the server sent frequencies of table \"",
                                                      response.fingerprint(), "\", not of ",
                                                      table.fingerprint()));
  }
  if (response.frequencies_size() != table.spec().pairs()) {
    return absl::DataLossError(
        absl::StrCat("the server sent ", response.frequencies_size(), " frequencies"));
  }
  return std::vector<double>(response.frequencies().begin(), response.frequencies().end());
}

absl::StatusOr<std::vector<TableInfo>> GrpcConnection::ListTables(CallLimits limits) {
  std::vector<TableInfo> tables;
  v1::ListTablesRequest request;
  request.set_page_size(kTablesPerPage);
  do {
    v1::ListTablesResponse response;
    const absl::Status status = Ask("ListTables", "", request, &response, limits);
    if (!status.ok()) return status;
    for (const v1::TableInfo& table : response.tables()) {
      TableInfo& info = tables.emplace_back();
      if (table.has_spec()) {
        if (absl::StatusOr<TableSpec> spec = SpecFromProto(table.spec()); spec.ok()) {
          info.spec = *std::move(spec);
        }
      }
      info.fingerprint = table.fingerprint();
      info.cached_bytes = table.cached_bytes();
      info.cached_blocks = table.cached_blocks();
      info.hits = table.hits();
      info.misses = table.misses();
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return tables;
}

absl::StatusOr<ServerInfo> GrpcConnection::GetServerInfo(CallLimits limits) {
  v1::GetServerInfoResponse response;
  const absl::Status status =
      Ask("GetServerInfo", "", v1::GetServerInfoRequest(), &response, limits);
  if (!status.ok()) return status;
  ServerInfo info;
  info.version = response.version();
  info.numerics_version = response.numerics_version();
  info.max_message_bytes = response.max_message_bytes();
  info.max_chunk_bytes = response.max_chunk_bytes();
  info.cache_bytes = response.cache_bytes();
  info.cached_bytes = response.cached_bytes();
  info.max_width = response.max_width();
  info.settled_elements = response.settled_elements();
  info.costly_elements = response.costly_elements();
  return info;
}

// grpc.health.v1 by hand: one string there, one enumeration back, both in
// field 1. Generated code of it would be a second copy in who has one.
absl::StatusOr<ServingStatus> GrpcConnection::CheckHealth(absl::string_view service,
                                                          CallLimits limits) {
  std::string request;
  {
    google::protobuf::io::StringOutputStream stream(&request);
    google::protobuf::io::CodedOutputStream out(&stream);
    WireFormatLite::WriteString(1, std::string(service), &out);
  }
  grpc::Slice slice(request);
  std::uint64_t serving = 0;
  const absl::Status status =
      Call(kHealthCheck, "", grpc::ByteBuffer(&slice, 1), limits, [&](grpc::ByteBuffer* bytes) {
        grpc::ProtoBufferReader reader(bytes);
        CodedInputStream in(&reader);
        while (const std::uint32_t tag = in.ReadTag()) {
          const bool ok = tag == WireFormatLite::MakeTag(1, WireFormatLite::WIRETYPE_VARINT)
                              ? in.ReadVarint64(&serving)
                              : WireFormatLite::SkipField(&in, tag);
          if (!ok) return absl::DataLossError("the server's response is not one about health");
        }
        return absl::OkStatus();
      });
  if (absl::IsNotFound(status)) {
    return FieldError(absl::StatusCode::kNotFound, "service",
                      absl::StrCat("the server knows no service \"", service, "\""));
  }
  if (!status.ok()) return status;
  switch (serving) {
    case 1: return ServingStatus::kServing;
    case 2: return ServingStatus::kNotServing;
    default: return ServingStatus::kUnknown;
  }
}

bool GrpcConnection::Reachable() {
  if (GrpcLostByFork()) return false;
  bool reachable = false;
  for (const auto& channel : Channels()) {
    if (channel->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY) reachable = true;
  }
  return reachable;
}

}  // namespace phasor::internal
