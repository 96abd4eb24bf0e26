#include "tests/client/faulty_server.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "proto/spec_codec.h"
#include "proto/status_codec.h"

namespace phasor {
namespace {

CanonicalSpec SpecOf(const v1::TableSpec& proto) {
  return *CanonicalSpec::Create(*SpecFromProto(proto));
}

absl::Span<std::byte> Bytes(std::string* data) {
  return {reinterpret_cast<std::byte*>(data->data()), data->size()};
}

}  // namespace

FaultyServer::FaultyServer(std::int64_t max_message_bytes) : max_message_bytes_(max_message_bytes) {
  std::string pattern = (std::filesystem::temp_directory_path() / "phasor-XXXXXX").string();
  directory_ = mkdtemp(pattern.data());
  address_ = "unix:" + directory_ + "/socket";
  Start();
}

FaultyServer::~FaultyServer() {
  Stop();
  std::filesystem::remove_all(directory_);
}

void FaultyServer::Start() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(static_cast<int>(max_message_bytes_));
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  ASSERT_NE(server_, nullptr);
}

void FaultyServer::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(absl::ToChronoTime(absl::Now()));
  server_ = nullptr;
}

std::vector<FaultyServer::Call> FaultyServer::calls() const {
  absl::MutexLock lock(&mutex_);
  return calls_;
}

std::vector<FaultyServer::Call> FaultyServer::calls(const std::string& method) const {
  std::vector<Call> result;
  for (const Call& call : calls()) {
    if (call.method == method) result.push_back(call);
  }
  return result;
}

template <typename Request>
grpc::Status FaultyServer::Begin(grpc::ServerContext* context, const char* method,
                                 const Request& request, std::int64_t start, std::int64_t rows) {
  Call call{.method = method, .start = start, .rows = rows};
  call.request_bytes = static_cast<std::int64_t>(request.ByteSizeLong());
  if constexpr (requires { request.expected_fingerprint(); }) {
    call.fingerprint = request.expected_fingerprint();
  }
  const auto& metadata = context->client_metadata();
  if (auto found = metadata.find("x-phasor-table"); found != metadata.end()) {
    call.table_metadata.assign(found->second.data(), found->second.size());
  }
  {
    absl::MutexLock lock(&mutex_);
    calls_.push_back(call);
  }
  if (before) {
    if (grpc::Status s = before(context); !s.ok()) return s;
  }
  return before_call ? before_call(call) : grpc::Status::OK;
}

void FaultyServer::SetHead(const CanonicalSpec& spec, std::int64_t rows, v1::Rows* out) {
  out->set_fingerprint(spec.fingerprint());
  out->set_row_count(rows);
  out->set_row_width(spec.row_width());
  out->set_element_type(ElementTypeToProto(spec.element_type()));
  out->mutable_data()->resize(static_cast<std::size_t>(rows * spec.row_bytes()));
}

void FaultyServer::Finish(v1::Rows* rows) const {
  if (tamper) tamper(rows);
}

grpc::Status FaultyServer::GetTable(grpc::ServerContext* context,
                                    const v1::GetTableRequest* request,
                                    v1::GetTableResponse* response) {
  if (grpc::Status s = Begin(context, "GetTable", *request, 0, 0); !s.ok()) return s;
  const CanonicalSpec spec = SpecOf(request->spec());
  *response->mutable_spec() = CanonicalToProto(spec);
  *response->mutable_effective_spec() = EffectiveToProto(spec);
  response->set_fingerprint(spec.fingerprint());
  response->set_row_width(spec.row_width());
  response->set_row_bytes(spec.row_bytes());
  if (tamper_table) tamper_table(response);
  return grpc::Status::OK;
}

grpc::Status FaultyServer::GetFrequencies(grpc::ServerContext* context,
                                          const v1::GetFrequenciesRequest* request,
                                          v1::GetFrequenciesResponse* response) {
  if (grpc::Status s = Begin(context, "GetFrequencies", *request, 0, 0); !s.ok()) return s;
  const CanonicalSpec spec = SpecOf(request->spec());
  const absl::StatusOr<std::vector<double>> frequencies = Frequencies(spec);
  if (!frequencies.ok()) return ToGrpcStatus(frequencies.status());
  response->set_fingerprint(spec.fingerprint());
  response->mutable_frequencies()->Add(frequencies->begin(), frequencies->end());
  if (tamper_frequencies) tamper_frequencies(response);
  return grpc::Status::OK;
}

grpc::Status FaultyServer::GetRows(grpc::ServerContext* context, const v1::GetRowsRequest* request,
                                   v1::GetRowsResponse* response) {
  grpc::Status s =
      Begin(context, "GetRows", *request, request->start_position(), request->row_count());
  if (!s.ok()) return s;
  const CanonicalSpec spec = SpecOf(request->spec());
  v1::Rows* rows = response->mutable_rows();
  SetHead(spec, request->row_count(), rows);
  rows->set_start_position(request->start_position());
  EXPECT_TRUE(
      LocalTable::Create(spec)
          ->ReadInto(request->start_position(), request->row_count(), Bytes(rows->mutable_data()))
          .ok());
  Finish(rows);
  return grpc::Status::OK;
}

grpc::Status FaultyServer::ReadRows(grpc::ServerContext* context,
                                    const v1::ReadRowsRequest* request,
                                    grpc::ServerWriter<v1::ReadRowsResponse>* writer) {
  grpc::Status s =
      Begin(context, "ReadRows", *request, request->start_position(), request->row_count());
  if (s.ok() && before_stream) s = before_stream(context);
  if (!s.ok()) return s;
  const auto table = LocalTable::Create(SpecOf(request->spec()));
  int number = 0;
  v1::ReadRowsResponse response;
  for (std::int64_t done = 0; done < request->row_count();) {
    if (before_message) {
      if (s = before_message(number++); !s.ok()) return s;
    }
    const std::int64_t count = std::min(rows_per_message, request->row_count() - done);
    v1::Rows* rows = response.mutable_rows();
    SetHead(table->spec(), count, rows);
    rows->set_start_position(request->start_position() + done);
    EXPECT_TRUE(
        table->ReadInto(request->start_position() + done, count, Bytes(rows->mutable_data())).ok());
    Finish(rows);
    if (!writer->Write(response)) break;
    done += count;
  }
  for (int i = 0; i < messages_too_many; ++i) writer->Write(response);
  return after_stream ? after_stream() : grpc::Status::OK;
}

grpc::Status FaultyServer::GatherRows(grpc::ServerContext* context,
                                      const v1::GatherRowsRequest* request,
                                      v1::GatherRowsResponse* response) {
  const int count = request->positions_size() + request->real_positions_size();
  if (grpc::Status s = Begin(context, "GatherRows", *request, 0, count); !s.ok()) return s;
  const CanonicalSpec spec = SpecOf(request->spec());
  v1::Rows* rows = response->mutable_rows();
  SetHead(spec, count, rows);
  const auto table = LocalTable::Create(spec);
  const absl::Status status =
      request->real_positions().empty()
          ? table->GatherInto(
                absl::MakeConstSpan(request->positions().data(), request->positions().size()),
                Bytes(rows->mutable_data()))
          : table->GatherInto(absl::MakeConstSpan(request->real_positions().data(),
                                                  request->real_positions().size()),
                              Bytes(rows->mutable_data()));
  Finish(rows);
  return ToGrpcStatus(status);
}

grpc::Status FaultyServer::ShiftRows(grpc::ServerContext* context,
                                     const v1::ShiftRowsRequest* request,
                                     v1::ShiftRowsResponse* response) {
  const CanonicalSpec spec = SpecOf(request->spec());
  const auto count = static_cast<std::int64_t>(request->data().size()) / spec.row_bytes();
  if (grpc::Status s = Begin(context, "ShiftRows", *request, 0, count); !s.ok()) return s;
  v1::Rows* rows = response->mutable_rows();
  SetHead(spec, count, rows);
  *rows->mutable_data() = request->data();
  const ShiftBy by = request->by_case() == v1::ShiftRowsRequest::kSteps
                         ? ShiftBy(request->steps())
                         : ShiftBy(request->fractional_steps());
  const absl::Status status =
      phasor::ShiftRows(spec, by, Bytes(rows->mutable_data()), Bytes(rows->mutable_data()));
  Finish(rows);
  return ToGrpcStatus(status);
}

grpc::Status FaultyServer::GetServerInfo(grpc::ServerContext* context,
                                         const v1::GetServerInfoRequest* request,
                                         v1::GetServerInfoResponse* response) {
  if (grpc::Status s = Begin(context, "GetServerInfo", *request, 0, 0); !s.ok()) return s;
  response->set_version("1.2.3");
  response->set_numerics_version(2);
  response->set_max_message_bytes(max_message_bytes_);
  response->set_max_chunk_bytes(3);
  response->set_cache_bytes(4);
  response->set_cached_bytes(5);
  response->set_max_width(6);
  return grpc::Status::OK;
}

grpc::Status FaultyServer::ListTables(grpc::ServerContext* context,
                                      const v1::ListTablesRequest* request,
                                      v1::ListTablesResponse* response) {
  if (grpc::Status s = Begin(context, "ListTables", *request, 0, 0); !s.ok()) return s;
  EXPECT_GE(request->page_size(), 1);
  EXPECT_LE(request->page_size(), 1000);
  std::size_t begin = 0;
  if (!request->page_token().empty()) begin = std::stoul(request->page_token());
  const std::size_t end = std::min(begin + 2, tables.size());
  for (std::size_t i = begin; i < end; ++i) *response->add_tables() = tables[i];
  if (end < tables.size()) response->set_next_page_token(std::to_string(end));
  return grpc::Status::OK;
}

}  // namespace phasor
