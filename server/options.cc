#include "server/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/number_text.h"
#include "server/version.h"

namespace phasor::server {
namespace {

constexpr absl::string_view kLogLevels[] = {"trace", "debug", "info", "warn", "error", "off"};

// CLI11 splits the line and prints the help. Every value is taken as text, as
// often as it is given, and read here: CLI11 clamps numbers, reads 010 as 8,
// and stops at the first fault.
class FlagReader {
 public:
  explicit FlagReader(CLI::App* app) : app_(*app) {}

  using Read = std::function<absl::Status(const std::string&)>;

  void Add(const std::string& name, const std::string& help, Read read) {
    flags_.push_back({name, {}, false, std::move(read)});
    CLI::Option* option = app_.add_option(name, flags_.back().values, help);
    option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    // Else a word behind the value is one more.
    option->allow_extra_args(false);
  }

  void AddRepeatable(const std::string& name, const std::string& help, Read read) {
    Add(name, help, std::move(read));
    flags_.back().repeatable = true;
  }

  void AddInt64(const std::string& name, const std::string& help, std::int64_t min,
                std::int64_t max, std::int64_t* value) {
    Add(name, absl::StrCat(help, " (", *value, ")"), [=](const std::string& text) {
      absl::StatusOr<std::int64_t> number = ParseInt64(text);
      if (!number.ok()) return number.status();
      if (*number < min || *number > max) {
        return absl::InvalidArgumentError(absl::StrCat("is not in ", min, " ... ", max));
      }
      *value = *number;
      return absl::OkStatus();
    });
  }

  void AddDuration(const std::string& name, const std::string& help, absl::Duration* value) {
    Add(name, absl::StrCat(help, " (", absl::FormatDuration(*value), ")"),
        [=](const std::string& text) {
          absl::Duration duration;
          if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration() ||
              duration > kMaxDrain) {
            return absl::InvalidArgumentError(absl::StrCat(
                "is not a duration from 0 to ", absl::FormatDuration(kMaxDrain), ", like 500ms"));
          }
          *value = duration;
          return absl::OkStatus();
        });
  }

  void AddSwitch(const std::string& name, const std::string& help, bool* value) {
    flags_.push_back({name, {}, false, [=](const std::string& text) {
                        if (text != "true" && text != "false") {
                          return absl::InvalidArgumentError("is neither true nor false");
                        }
                        *value = text == "true";
                        return absl::OkStatus();
                      }});
    app_.add_flag(name, flags_.back().values, help);
  }

  // A line for each fault.
  std::vector<std::string> ReadAll() const {
    std::vector<std::string> faults;
    for (const Flag& flag : flags_) {
      if (flag.values.size() > 1 && !flag.repeatable) {
        faults.push_back(absl::StrCat(flag.name, ": given ", flag.values.size(),
                                      " times: ", absl::StrJoin(flag.values, ", ")));
        continue;
      }
      for (const std::string& value : flag.values) {
        absl::Status status = flag.read(value);
        if (!status.ok()) {
          faults.push_back(
              absl::StrCat(flag.name, "=", value, ": ", std::string(status.message())));
        }
      }
    }
    return faults;
  }

 private:
  struct Flag {
    std::string name;
    std::vector<std::string> values;
    bool repeatable;
    Read read;
  };

  CLI::App& app_;
  std::list<Flag> flags_;  // CLI11 keeps the addresses of the values
};

absl::Status ReadAddresses(const std::string& text, bool* first, std::vector<std::string>* out) {
  if (std::exchange(*first, false)) out->clear();
  for (absl::string_view address : absl::StrSplit(text, ',')) {
    if (address.empty()) return absl::InvalidArgumentError("names an empty address");
    out->emplace_back(address);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine result;
  Options& options = result.options;
  CLI::App app("Serves exact position tables over gRPC.", "phasord");
  app.allow_extras();
  app.set_version_flag("--version", absl::StrCat("phasord ", kVersion));
  FlagReader flags(&app);
  bool first_listen = true;
  flags.AddRepeatable(
      "--listen",
      "Addresses to serve on, separated by commas or repeated: host:port, "
      "[::1]:port (port 0: any), unix:PATH (127.0.0.1:50051)",
      [&](const std::string& text) { return ReadAddresses(text, &first_listen, &options.listen); });
  flags.AddSwitch("--insecure_network", "Serve without TLS on addresses that other machines reach",
                  &options.insecure_network);
  flags.AddInt64("--cache_bytes",
                 "Bound on the rows and tables kept in memory; work in flight may need 32 MiB more",
                 0, kMaxCacheBytes, &options.cache_bytes);
  flags.AddInt64("--max_message_bytes", "Most bytes in one message, head included, either way",
                 kMinMaxMessageBytes, kMaxMaxMessageBytes, &options.max_message_bytes);
  flags.AddInt64("--threads", "Threads that make rows; 0: one for each core", 0, kMaxThreads,
                 &options.threads);
  flags.AddInt64("--max_queued_requests", "Calls that may wait for a thread; more are UNAVAILABLE",
                 1, kMaxQueuedRequests, &options.max_queued_requests);
  flags.AddDuration("--drain_delay",
                    "Time from reporting NOT_SERVING to refusing new calls, at SIGTERM",
                    &options.drain_delay);
  flags.AddDuration("--drain_timeout",
                    "Time that calls in flight then have to end; afterwards they are UNAVAILABLE",
                    &options.drain_timeout);
  flags.AddRepeatable(
      "--table",
      "NAME=PATH[#TENSOR][,row_offset=N]: serve a learned table from a safetensors file; may be "
      "repeated. TENSOR is found by its name's end, N by config.json beside the file, where they "
      "are not given",
      [&](const std::string& text) {
        absl::StatusOr<TableSource> source = ParseTableSource(text);
        if (!source.ok()) return source.status();
        options.tables.tables.push_back(*std::move(source));
        return absl::OkStatus();
      });
  flags.Add("--table_dir",
            "Serve a learned table NAME from each file NAME.safetensors of this directory",
            [&](const std::string& text) {
              if (text.empty()) return absl::InvalidArgumentError("names no directory");
              options.tables.directory = text;
              return absl::OkStatus();
            });
  flags.AddDuration("--table_poll",
                    "How often the tables' files are looked at; those that were replaced are "
                    "loaded, as at SIGHUP. 0: at SIGHUP alone",
                    &options.table_poll);
  flags.Add("--log_level", "One of trace, debug, info, warn, error, off (info)",
            [&](const std::string& text) {
              const auto* end = std::end(kLogLevels);
              if (std::find(std::begin(kLogLevels), end, absl::string_view(text)) == end) {
                return absl::InvalidArgumentError(
                    absl::StrCat("is none of ", absl::StrJoin(kLogLevels, ", ")));
              }
              options.log_level = text;
              return absl::OkStatus();
            });

  try {
    // CLI11 takes the arguments from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    result.text = app.help();
    return result;
  } catch (const CLI::CallForVersion&) {
    result.text = absl::StrCat("phasord ", kVersion, "\n");
    return result;
  } catch (const CLI::ParseError& error) {
    std::vector<std::string> lines = absl::StrSplit(error.what(), '\n', absl::SkipEmpty());
    return absl::InvalidArgumentError(absl::StrJoin(lines, "; "));
  }
  std::vector<std::string> faults = flags.ReadAll();
  for (const std::string& unknown : app.remaining()) {
    faults.push_back(absl::StrCat(unknown, ": no such flag (see --help)"));
  }
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
  return result;
}

}  // namespace phasor::server
