#ifndef PHASOR_TESTS_SERVER_RUNNING_SERVER_H_
#define PHASOR_TESTS_SERVER_RUNNING_SERVER_H_

// A server in this process, on a free port, and the generated client for it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "phasor/v1/position_table_service.grpc.pb.h"
#include "proto/spec_codec.h"
#include "proto/status_codec.h"
#include "server/options.h"
#include "server/request.h"
#include "server/server.h"

namespace phasor::server {

inline Options TestOptions() {
  Options options;
  options.listen = {"127.0.0.1:0"};
  return options;
}

class RunningServer {
 public:
  explicit RunningServer(const Options& options = TestOptions(),
                         BlockCache::Opener opener = &LocalTable::Open)
      : server_(Server::Start(options, std::move(opener)).value()) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    // A connection of its own, not one that another test left open.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(address(), grpc::InsecureChannelCredentials(), arguments);
    stub_ = v1::PositionTableService::NewStub(channel_);
  }

  const std::string& address() const { return server_->addresses()[0]; }
  Server& server() { return *server_; }
  v1::PositionTableService::Stub& stub() { return *stub_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  v1::PositionTableService::Stub* operator->() { return stub_.get(); }

 private:
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::PositionTableService::Stub> stub_;
};

inline v1::TableSpec SinusoidalProto(std::int64_t width) {
  v1::TableSpec spec;
  spec.mutable_sinusoidal()->set_width(width);
  return spec;
}

inline v1::TableSpec LearnedProto(std::int64_t max_positions, std::int64_t width) {
  v1::TableSpec spec;
  spec.mutable_learned_init()->set_max_positions(max_positions);
  spec.mutable_learned_init()->set_width(width);
  return spec;
}

inline CanonicalSpec SpecOf(const v1::TableSpec& spec) {
  return CanonicalSpec::Create(SpecFromProto(spec).value()).value();
}

/// The rows by core, whose own tests hold them against MPFR.
inline std::string LocalRows(const v1::TableSpec& spec, std::int64_t start, std::int64_t count) {
  const auto table = LocalTable::Create(SpecOf(spec));
  std::string rows(static_cast<std::size_t>(count * table->spec().row_bytes()), '\0');
  const absl::Status status = table->ReadInto(
      start, count, absl::MakeSpan(reinterpret_cast<std::byte*>(rows.data()), rows.size()));
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

/// Compares rows, and tells the first byte that differs: gtest's own comparison
/// of long texts takes more memory than there is.
inline void ExpectSameRows(const std::string& rows, const std::string& expected) {
  EXPECT_EQ(rows.size(), expected.size());
  const auto differing =
      std::mismatch(rows.begin(), rows.end(), expected.begin(), expected.end()).first;
  if (differing != rows.end()) {
    ADD_FAILURE() << "the rows differ at byte " << differing - rows.begin();
  }
}

template <typename Request>
Request RangeRequest(const v1::TableSpec& spec, std::int64_t start, std::int64_t count) {
  Request request;
  *request.mutable_spec() = spec;
  request.set_start_position(start);
  request.set_row_count(count);
  return request;
}

inline grpc::Status GetRows(RunningServer* server, const v1::GetRowsRequest& request,
                            v1::Rows* rows) {
  grpc::ClientContext context;
  v1::GetRowsResponse response;
  grpc::Status status = (*server)->GetRows(&context, request, &response);
  *rows = std::move(*response.mutable_rows());
  return status;
}

/// Reads a range to its end, message by message.
inline grpc::Status ReadRows(RunningServer* server, const v1::ReadRowsRequest& request,
                             std::vector<v1::Rows>* messages) {
  grpc::ClientContext context;
  auto reader = (*server)->ReadRows(&context, request);
  v1::ReadRowsResponse response;
  while (reader->Read(&response)) messages->push_back(std::move(*response.mutable_rows()));
  return reader->Finish();
}

/// An error's code, the field that its details name, and its message.
inline void ExpectError(const grpc::Status& status, grpc::StatusCode code,
                        const std::string& field) {
  EXPECT_EQ(status.error_code(), code) << status.error_message();
  EXPECT_EQ(FieldOf(FromGrpcStatus(status)), field) << status.error_message();
}

}  // namespace phasor::server

#endif  // PHASOR_TESTS_SERVER_RUNNING_SERVER_H_
