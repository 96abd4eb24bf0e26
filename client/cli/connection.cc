#include "client/cli/connection.h"

#include <cstdlib>
#include <string>

#include "client/cli/number_list.h"
#include "client/cli/spec_flags.h"

namespace phasor::cli {
namespace {

constexpr absl::string_view kDefaultServer = "127.0.0.1:50051";

}  // namespace

absl::StatusOr<Client> ClientFromFlags(const Arguments& arguments) {
  ClientOptions options;
  if (const std::optional<absl::string_view> text = arguments.Text("timeout")) {
    absl::StatusOr<absl::Duration> timeout = ParseTimeout(*text);
    if (!timeout.ok()) return arguments.Wrong("timeout", timeout.status());
    options.timeout = *timeout;
  }
  if (arguments.Switch("local")) return Client::Local(options);
  absl::string_view server = kDefaultServer;
  const char* environment = std::getenv("PHASOR_SERVER");
  if (environment != nullptr && *environment != '\0') server = environment;
  if (const std::optional<absl::string_view> text = arguments.Text("server")) {
    if (text->empty()) return arguments.Wrong("server", "no address given");
    server = *text;
  }
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
