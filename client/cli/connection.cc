#include "client/cli/connection.h"

#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/number_list.h"
#include "client/cli/spec_flags.h"

namespace phasor::cli {
namespace {

constexpr char kDefaultServer[] = "127.0.0.1:50051";

constexpr absl::string_view kNoPhasord = "what answers there is no phasord";
constexpr absl::string_view kEnded = "the connection was ended from there";

// What gRPC says of a connection, and what it means to people.
struct ConnectionFault {
  absl::string_view sign;
  absl::string_view meaning;
};
constexpr ConnectionFault kConnectionFaults[] = {
    {"Connection refused", "nothing listens there"},
    {"No such file or directory", "there is no such socket"},
    {"Permission denied", "this user may not connect there"},
    {"DNS resolution failed", "the name does not resolve"},
    {"http1.x server", kNoPhasord},
    {"http2 header with status", kNoPhasord},
    {"Connection reset", kEnded},
    {"Broken pipe", kEnded},
    {"Socket closed", kEnded},
    {"handshaker shutdown", "no connection came about"},
    {"Deadline Exceeded", "nothing came back in the time of --timeout"},
};

absl::string_view MeaningOf(const absl::Status& status) {
  if (absl::IsUnimplemented(status)) return kNoPhasord;
  for (const auto& [sign, meaning] : kConnectionFaults) {
    if (absl::StrContains(status.message(), sign)) return meaning;
  }
  return "";
}

}  // namespace

std::string ServerAddress(const Arguments& arguments) {
  if (const std::optional<absl::string_view> text = arguments.Text("server")) {
    return std::string(*text);
  }
  const char* environment = std::getenv("PHASOR_SERVER");
  return environment != nullptr && *environment != '\0' ? environment : kDefaultServer;
}

std::string ExplainNoAnswer(const Arguments& arguments, const absl::Status& status,
                            absl::string_view message) {
  // An error of this machine may sound the same.
  const bool of_connection = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
                             absl::IsUnimplemented(status) ||
                             absl::StartsWith(status.message(), "Received http2 header");
  if (!of_connection) return "";
  const absl::string_view meaning = MeaningOf(status);
  return absl::StrCat(
      "no answer from ", ServerAddress(arguments), ": ", meaning.empty() ? message : meaning, "; ",
      meaning.empty() ? "" : "start phasord there, or ", "name another server with --server",
      InfoOf(*arguments.verb()).has_scheme ? ", or compute here with --local" : "");
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
