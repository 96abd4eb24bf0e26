#include "client/cli/connection.h"

#include <cstdlib>
#include <string>

#include "client/cli/number_list.h"
#include "client/cli/spec_flags.h"

namespace phasor::cli {
namespace {

constexpr char kDefaultServer[] = "127.0.0.1:50051";

}  // namespace

std::string ServerAddress(const Arguments& arguments) {
  if (const std::optional<absl::string_view> text = arguments.Text("server")) {
    return std::string(*text);
  }
  const char* environment = std::getenv("PHASOR_SERVER");
  return environment != nullptr && *environment != '\0' ? environment : kDefaultServer;
}

absl::StatusOr<Client> ClientFromFlags(const Arguments& arguments) {
  ClientOptions options;
  if (const std::optional<absl::string_view> text = arguments.Text("timeout")) {
    absl::StatusOr<absl::Duration> timeout = ParseTimeout(*text);
    if (!timeout.ok()) return arguments.Wrong("timeout", timeout.status());
    options.timeout = *timeout;
  }
  if (arguments.Switch("local")) return Client::Local(options);
  const std::string server = ServerAddress(arguments);
  if (server.empty()) return arguments.Wrong("server", "no address given");
  return Client::Connect(server, options);
}

absl::StatusOr<Table> OpenTable(const Arguments& arguments, const TableSpec& spec) {
  absl::StatusOr<Client> client = ClientFromFlags(arguments);
  if (!client.ok()) return client.status();
  return client->Open(spec);
}

absl::StatusOr<Table> OpenTable(const Arguments& arguments) {
  absl::StatusOr<TableSpec> spec = SpecFromFlags(arguments);
  if (!spec.ok()) return spec.status();
  return OpenTable(arguments, *spec);
}

}  // namespace phasor::cli
