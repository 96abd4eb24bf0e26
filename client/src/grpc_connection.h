#ifndef PHASOR_CLIENT_SRC_GRPC_CONNECTION_H_
#define PHASOR_CLIENT_SRC_GRPC_CONNECTION_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/src/background_call.h"
#include "client/src/call.h"
#include "client/src/connection.h"
#include "client/src/counters.h"
#include "client/src/retry.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace phasor::internal {

/// The arguments of channels that the library makes itself: of `connections`
/// of them that are used in turn, each with a connection of its own.
grpc::ChannelArguments ChannelArgumentsFor(int connections = 1);

/// Asks a server over channels, used in turn. What it answers is checked
/// against what was asked before any of it is used.
class GrpcConnection final : public Connection {
 public:
  using MakeChannels = std::function<std::vector<std::shared_ptr<grpc::Channel>>()>;

  /// gRPC is not touched before the first call, so that a process may fork
  /// until then.
  GrpcConnection(MakeChannels make, Backoff backoff, Counters* counters)
      : make_(std::move(make)), backoff_(backoff), counters_(counters) {}
  ~GrpcConnection() override;

  absl::StatusOr<CanonicalSpec> Resolve(const LearnedTable& table, ElementType type,
                                        CallLimits limits) override;
  absl::Status Open(const TableHandle& table, CallLimits limits) override;
  absl::Status Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                    absl::Span<std::byte> out, CallLimits limits) override;
  bool ReadsAhead() override;
  void StartRead(std::shared_ptr<const TableHandle> table, std::int64_t start, std::int64_t count,
                 Parts parts, absl::Time deadline, std::function<void(absl::Status)> done) override;
  absl::Status Gather(absl::Span<const GatherJob> jobs, CallLimits limits) override;
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
  // A part of a gather that one message takes.
  struct GatherCall {
    const TableHandle* table;
    grpc::ByteBuffer request;
    absl::Span<std::byte> out;
    std::int64_t first_row;  // of the gather
  };
  absl::Status CutGather(const GatherJob& job, CallLimits limits, std::vector<GatherCall>& calls);
  // Of `rows` rows, each `row_bytes` in either direction beside `head_bytes`,
  // as many as fit one message; at least 1.
  absl::StatusOr<std::int64_t> RowsPerMessage(std::int64_t rows, std::int64_t row_bytes,
                                              std::int64_t head_bytes, CallLimits limits);

  // The channels, made when first asked for; the next one in turn.
  std::vector<std::shared_ptr<grpc::Channel>>& Channels();
  const std::shared_ptr<grpc::Channel>& NextChannel();
  absl::Status Retry(CallLimits limits, absl::FunctionRef<Attempt(absl::Time deadline)> attempt);

  const MakeChannels make_;
  const Backoff backoff_;
  Counters* const counters_;

  absl::once_flag channels_once_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::atomic<unsigned> turn_{0};
  std::atomic<std::int64_t> no_background_until_{0};  // Unix time in ns

  absl::Mutex mutex_;
  std::int64_t max_message_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: not asked yet
  // Ends before the channels do.
  std::unique_ptr<BackgroundCalls> background_ = std::make_unique<BackgroundCalls>();
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_GRPC_CONNECTION_H_
