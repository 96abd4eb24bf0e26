#include "server/server.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "checkpoint/safetensors.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "server/failure.h"

namespace phasor::server {
namespace {

constexpr int kMaxStreamsOfAConnection = 1000;
constexpr int kMaxMetadataBytes = 8192;
constexpr int kKeepaliveMilliseconds = 60'000;
constexpr int kKeepaliveTimeoutMilliseconds = 20'000;
// Clients may ping as often as ours does when it is idle.
constexpr int kMinPingMilliseconds = 10'000;
constexpr int kHandshakeMilliseconds = 10'000;
// At the end of a drain: what clients have to read what was sent to them, and
// what calls have that are out of time to end and to say so.
constexpr absl::Duration kUnreadTime = absl::Seconds(3);
constexpr absl::Duration kEndTime = absl::Seconds(1);
// What clients have to read the end of a stream before their connection ends.
constexpr absl::Duration kReadingTime = absl::Milliseconds(500);
// What gRPC may hold for messages on their way; in units of the largest one,
// and at least.
constexpr std::int64_t kQuotaMessages = 64;
constexpr std::int64_t kMinQuotaBytes = std::int64_t{256} << 20;
// What calls at work may hold beyond the cache, likewise: a message's rows, its
// request, and both at once.
constexpr std::int64_t kWorkingMessages = 8;
constexpr std::int64_t kMinWorkingBytes = std::int64_t{32} << 20;

int ThreadsOf(const Options& options) {
  if (options.threads != 0) return static_cast<int>(options.threads);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

BlockCache::Limits LimitsOf(const Options& options) {
  return {
      .cache_bytes = options.cache_bytes,
      .working_bytes = std::max(kMinWorkingBytes, kWorkingMessages * options.max_message_bytes)};
}

void SetArguments(const Options& options, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsOfAConnection);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMilliseconds);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              kMinPingMilliseconds);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMilliseconds);
  grpc::ResourceQuota quota("phasord");
  quota.Resize(static_cast<std::size_t>(
      std::max(kMinQuotaBytes, kQuotaMessages * options.max_message_bytes)));
  builder->SetResourceQuota(quota);
}

// Both are switched on for servers that are built later, once for all.
void EnablePlugins() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  // gRPC serves health without the messages' descriptors, and reflection could
  // not describe it. Using one links them.
  grpc::health::v1::HealthCheckRequest::descriptor();
}

}  // namespace

Server::Server(const Options& options, BlockCache::Opener opener)
    : backend_(options.tables, LimitsOf(options), std::move(opener), ThreadsOf(options),
               options.max_queued_requests, options.max_message_bytes),
      service_(&backend_) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options,
                                                      BlockCache::Opener opener) {
  static const bool enabled = (EnablePlugins(), true);
  (void)enabled;
  absl::StatusOr<std::unique_ptr<Listener>> listener =
      Listener::Open(options.listen, options.insecure_network);
  if (!listener.ok()) return listener.status();

  auto server = std::unique_ptr<Server>(new Server(options, std::move(opener)));
  if (!options.tables.empty()) {
    absl::Status loaded = server->ReloadTables();
    if (!loaded.ok()) return loaded;
  }
  server->listener_ = *std::move(listener);
  grpc::ServerBuilder builder;
  SetArguments(options, &builder);
  builder.RegisterService(&server->service_);
  server->acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  server->grpc_ = builder.BuildAndStart();
  if (server->grpc_ == nullptr) return absl::InternalError("gRPC does not start");
  // gRPC itself sets "" alone.
  server->grpc_->GetHealthCheckService()->SetServingStatus(kServiceName, true);
  server->listener_->Start(
      [acceptor = server->acceptor_.get()](int listening_fd, int connection_fd) {
        grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
        connection.listener_fd = listening_fd;
        connection.fd = connection_fd;
        acceptor->HandleNewConnection(&connection);
      });
  return server;
}

absl::Status Server::ReloadTables() {
  LearnedTables& tables = backend_.learned_tables;
  absl::StatusOr<LearnedTables::Reloaded> reloaded;
  try {
    reloaded = tables.Reload();
  } catch (...) {
    reloaded = CurrentExceptionStatus();
  }
  if (!reloaded.ok()) {
    if (!tables.All().empty()) {
      spdlog::error("learned tables stay as they are: {}",
                    std::string(reloaded.status().message()));
    }
    return reloaded.status();
  }
  // In this order: what was found good may be in the cache, and what is in the
  // cache holds the rows.
  backend_.known_specs.Forget();
  for (const auto& table : reloaded->gone) {
    for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                   ElementType::kFloat16, ElementType::kBfloat16}) {
      const auto spec = CanonicalSpec::Create(TableSpec(table->scheme(), type));
      if (spec.ok()) backend_.cache.Forget(*spec);
    }
    if (tables.Find(table->source.name) == nullptr) {
      spdlog::info("table {}: removed", table->source.name);
    }
  }
  for (const auto& table : reloaded->come) {
    const checkpoint::PositionTable& rows = table->rows;
    spdlog::info("table {}: {} tensor {}, {} rows of {} {} from its row {} on, content {}",
                 table->source.name, table->source.path, checkpoint::Quoted(rows.tensor),
                 rows.max_positions, rows.width, std::string(ElementTypeName(rows.type)),
                 rows.row_offset, rows.content_sha256);
    if (rows.survey.nans + rows.survey.infinities > 0) {
      spdlog::warn("table {}: {} elements are NaN, {} are infinities", table->source.name,
                   rows.survey.nans, rows.survey.infinities);
    }
  }
  return absl::OkStatus();
}

absl::Status Server::PollTables() {
  return backend_.learned_tables.ShouldReload() ? ReloadTables() : absl::OkStatus();
}

Server::~Server() {
  if (grpc_ != nullptr) Drain(absl::ZeroDuration(), absl::ZeroDuration());
}

void Server::Drain(absl::Duration delay, absl::Duration timeout) {
  grpc_->GetHealthCheckService()->SetServingStatus(false);
  absl::SleepFor(delay);
  listener_->Stop();
  const absl::Time deadline = absl::Now() + timeout;
  // gRPC's Shutdown closes a connection right behind the last byte of its last
  // call. What a client sends that still reads (it opens its window) then resets
  // the connection, and it loses the rows that it had not read. So streams come
  // to their end first.
  if (!backend_.streams.WaitForNone(absl::InfinitePast()) &&
      backend_.streams.WaitForNone(deadline - timeout / 2)) {
    absl::SleepFor(std::min(kReadingTime, timeout / 2));
  }
  absl::Notification ended;
  std::thread ending([&] {
    // gRPC's own end of a call is one without details: it comes too late.
    grpc_->Shutdown(absl::ToChronoTime(deadline + kEndTime + kUnreadTime));
    ended.Notify();
  });
  // gRPC waits for connections too. A client that is idle may take ten seconds
  // to close its own, one that does not read never ends: so when no call is
  // left, or no time, connections have a moment and are ended.
  do {
    if (!backend_.calls.WaitForNone(deadline)) {
      backend_.ending = true;
      ended.WaitForNotificationWithTimeout(kEndTime);
      break;
    }
    if (ended.WaitForNotificationWithTimeout(kUnreadTime)) break;
  } while (!backend_.calls.WaitForNone(absl::InfinitePast()));
  listener_->EndConnections();
  ending.join();
}

}  // namespace phasor::server
