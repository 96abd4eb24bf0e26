#ifndef PHASOR_CLIENT_SRC_GRPC_CONNECTION_H_
#define PHASOR_CLIENT_SRC_GRPC_CONNECTION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/src/call.h"
#include "client/src/connection.h"
#include "client/src/counters.h"
#include "client/src/retry.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace phasor::internal {

/// The arguments of channels that the library makes itself.
grpc::ChannelArguments ChannelArgumentsFor();

/// Asks a server over a channel. What it answers is checked against what was
/// asked before any of it is used.
class GrpcConnection final : public Connection {
 public:
  GrpcConnection(std::shared_ptr<grpc::Channel> channel, Backoff backoff, Counters* counters)
      : channel_(std::move(channel)), backoff_(backoff), counters_(counters) {}

  absl::Status Open(const TableHandle& table, CallLimits limits) override;
  absl::Status Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                    absl::Span<std::byte> out, CallLimits limits) override;
  absl::Status Gather(const TableHandle& table, Positions positions, absl::Span<std::byte> out,
                      CallLimits limits) override;
  absl::Status Shift(const TableHandle& table, ShiftBy by, absl::Span<const std::byte> rows,
                     absl::Span<std::byte> out, CallLimits limits) override;
  absl::StatusOr<std::vector<double>> Frequencies(const TableHandle& table,
                                                  CallLimits limits) override;
  absl::StatusOr<std::vector<TableInfo>> ListTables(CallLimits limits) override;
  absl::StatusOr<ServerInfo> GetServerInfo(CallLimits limits) override;
  absl::StatusOr<ServingStatus> CheckHealth(absl::string_view service, CallLimits limits) override;
  bool Reachable() override;

 private:
  // A unary call with its retries.
  absl::Status Call(absl::string_view method, absl::string_view fingerprint,
                    const grpc::ByteBuffer& request, CallLimits limits, OnMessage on_response);
  // The same for a response that is a message.
  absl::Status Ask(absl::string_view method, absl::string_view fingerprint,
                   const google::protobuf::MessageLite& request,
                   google::protobuf::MessageLite* response, CallLimits limits);
  // Whole rows that `request` asked for, all of `out`.
  absl::Status CallForRows(const TableHandle& table, absl::string_view method,
                           const google::protobuf::MessageLite& request,
                           std::optional<std::int64_t> start, absl::Span<std::byte> out,
                           CallLimits limits);
  absl::Status ReadStream(const TableHandle& table, std::int64_t start, std::int64_t count,
                          absl::Span<std::byte> out, CallLimits limits);
  // Of `rows` rows, each `row_bytes` in either direction beside `head_bytes`,
  // as many as fit one message; at least 1.
  absl::StatusOr<std::int64_t> RowsPerMessage(std::int64_t rows, std::int64_t row_bytes,
                                              std::int64_t head_bytes, CallLimits limits);

  const std::shared_ptr<grpc::Channel> channel_;
  const Backoff backoff_;
  Counters* const counters_;

  absl::Mutex mutex_;
  std::int64_t max_message_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: not asked yet
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_GRPC_CONNECTION_H_
