#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/array_writer.h"
#include "client/cli/connection.h"
#include "client/cli/model_flags.h"
#include "client/cli/model_json.h"
#include "client/cli/output.h"
#include "client/cli/spec_json.h"
#include "client/cli/verbs.h"

namespace phasor::cli {
namespace {

using Json = nlohmann::ordered_json;

absl::Status WriteText(const std::string& path, absl::string_view text) {
  absl::StatusOr<Output> output = Output::Open(path);
  if (!output.ok()) return output.status();
  absl::Status status = output->Write(text);
  return status.ok() ? output->Commit() : status;
}

/// The fields of the wire message GetTableResponse.
Json TableJson(const Table& table) {
  const CanonicalSpec& spec = table.spec();
  Json json;
  json["spec"] = CanonicalSpecJson(spec);
  json["effective_spec"] = EffectiveSpecJson(spec);
  json["fingerprint"] = table.fingerprint();
  json["row_width"] = table.row_width();
  json["row_bytes"] = table.row_bytes();
  if (spec.bounded()) json["row_count"] = spec.last_position() - spec.first_position() + 1;
  json["first_position"] = spec.first_position();
  json["last_position"] = spec.last_position();
  if (const auto factor = spec.attention_factor()) json["attention_factor"] = *factor;
  return json;
}

/// A spec on one line; a table whose spec the server left out, or that is of a
/// scheme unknown here, has none.
std::string SpecLine(const std::optional<TableSpec>& spec) {
  if (!spec.has_value()) return "-";
  const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(*spec);
  return canonical.ok() ? CanonicalSpecJson(*canonical).dump() : "-";
}

absl::string_view HealthWord(ServingStatus status) {
  switch (status) {
    case ServingStatus::kUnknown: return "UNKNOWN";
    case ServingStatus::kServing: return "SERVING";
    case ServingStatus::kNotServing: return "NOT_SERVING";
  }
  return "UNKNOWN";
}

}  // namespace

absl::Status RunTable(const Arguments& arguments) {
  absl::StatusOr<std::string> path = OutputFlag(arguments);
  if (!path.ok()) return path.status();
  absl::StatusOr<Table> table = OpenTable(arguments);
  if (!table.ok()) return table.status();
  return WriteText(*path, TableJson(*table).dump(2) + "\n");
}

absl::Status RunDescribe(const Arguments& arguments) {
  absl::StatusOr<std::string> path = OutputFlag(arguments);
  if (!path.ok()) return path.status();
  const absl::StatusOr<ModelDescription> model = ModelFromFlags(arguments);
  if (!model.ok()) return model.status();
  return WriteText(*path, ModelJson(*model).dump(2) + "\n");
}

absl::Status RunTables(const Arguments& arguments) {
  absl::StatusOr<std::string> path = OutputFlag(arguments);
  if (!path.ok()) return path.status();
  absl::StatusOr<Client> client = ClientFromFlags(arguments);
  if (!client.ok()) return client.status();
  absl::StatusOr<std::vector<TableInfo>> tables = client->ListTables();
  if (!tables.ok()) return tables.status();
  std::string text = absl::StrFormat("%-32s %14s %8s %10s %10s  %s\n", "fingerprint",
                                     "cached_bytes", "blocks", "hits", "misses", "spec");
  for (const TableInfo& table : *tables) {
    absl::StrAppendFormat(&text, "%-32s %14d %8d %10d %10d  %s\n", table.fingerprint,
                          table.cached_bytes, table.cached_blocks, table.hits, table.misses,
                          SpecLine(table.spec));
  }
  return WriteText(*path, text);
}

absl::Status RunInfo(const Arguments& arguments) {
  absl::StatusOr<std::string> path = OutputFlag(arguments);
  if (!path.ok()) return path.status();
  absl::StatusOr<Client> client = ClientFromFlags(arguments);
  if (!client.ok()) return client.status();
  absl::StatusOr<ServerInfo> info = client->GetServerInfo();
  if (!info.ok()) return info.status();
  std::string text;
  const auto line = [&text](absl::string_view name, const auto& value) {
    absl::StrAppendFormat(&text, "%-18s %s\n", name, absl::StrCat(value));
  };
  line("version", info->version);
  line("numerics_version", info->numerics_version);
  if (!arguments.Switch("local")) {  // where there are neither messages nor a cache
    line("max_message_bytes", info->max_message_bytes);
    line("max_chunk_bytes", info->max_chunk_bytes);
    line("cache_bytes", info->cache_bytes);
    line("cached_bytes", info->cached_bytes);
    line("settled_elements", info->settled_elements);
    line("costly_elements", info->costly_elements);
  }
  line("max_width", info->max_width);
  return WriteText(*path, text);
}

absl::Status RunHealth(const Arguments& arguments) {
  absl::StatusOr<Client> client = ClientFromFlags(arguments);
  if (!client.ok()) return client.status();
  absl::StatusOr<ServingStatus> health = client->CheckHealth();
  if (!health.ok()) return health.status();
  const absl::string_view word = HealthWord(*health);
  absl::Status status = WriteText("-", absl::StrCat(word, "\n"));
  if (status.ok() && *health != ServingStatus::kServing) {
    status = absl::UnknownError(absl::StrCat("the server's health is ", word));
  }
  return status;
}

}  // namespace phasor::cli
