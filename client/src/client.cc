#include "phasor/client.h"

#include <variant>

#include "client/src/connect.h"
#include "client/src/local_connection.h"
#include "client/src/open_table.h"
#include "client/src/session.h"
#include "grpcpp/security/credentials.h"

namespace phasor {

absl::StatusOr<Client> Client::Connect(absl::string_view address, const ClientOptions& options) {
  return internal::ConnectWith(
      address, [] { return grpc::InsecureChannelCredentials(); }, options);
}

Client Client::Local(const ClientOptions& options) {
  return internal::Session::MakeClient(
      options, [](internal::Counters*) { return std::make_unique<internal::LocalConnection>(); });
}

absl::StatusOr<Table> Client::Open(const TableSpec& spec) const {
  const internal::CallLimits limits = session_->Limits();
  const auto* learned = std::get_if<LearnedTable>(&spec.scheme);
  const bool resolve = learned != nullptr && !learned->resolved();
  absl::StatusOr<CanonicalSpec> canonical =
      resolve ? session_->connection().Resolve(*learned, spec.element_type, limits)
              : CanonicalSpec::Create(spec);
  if (!canonical.ok()) return canonical.status();
  auto table = std::make_shared<internal::OpenTable>(
      session_, std::make_shared<internal::TableHandle>(*std::move(canonical)));
  // What was resolved is the server's own.
  if (resolve) return Table(std::move(table));
  absl::Status status = session_->connection().Open(table->handle(), limits);
  if (!status.ok()) return status;
  return Table(std::move(table));
}

absl::StatusOr<Table> Client::OpenModel(absl::string_view config_json, absl::string_view table,
                                        const ModelOptions& options) const {
  const absl::StatusOr<ModelDescription> model = DescribeModel(config_json, options);
  if (!model.ok()) return model.status();
  const absl::StatusOr<TableSpec> spec = model->SpecOf(table);
  if (!spec.ok()) return spec.status();
  return Open(*spec);
}

absl::StatusOr<std::vector<TableInfo>> Client::ListTables() const {
  return session_->connection().ListTables(session_->Limits());
}

absl::StatusOr<ServerInfo> Client::GetServerInfo() const {
  return session_->connection().GetServerInfo(session_->Limits());
}

absl::StatusOr<ServingStatus> Client::CheckHealth(absl::string_view service) const {
  return session_->connection().CheckHealth(service, session_->Limits());
}

ClientCounters Client::counters() const {
  const internal::Counters& counters = session_->counters();
  ClientCounters result;
  result.rpcs = counters.rpcs;
  result.retries = counters.retries;
  result.local_fallbacks = counters.local_fallbacks;
  result.block_hits = counters.block_hits;
  result.block_misses = counters.block_misses;
  result.blocks_ahead = counters.blocks_ahead;
  result.stalls = counters.stalls;
  return result;
}

}  // namespace phasor
