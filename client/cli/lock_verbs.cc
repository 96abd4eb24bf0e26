#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/array_writer.h"
#include "client/cli/connection.h"
#include "client/cli/lock_file.h"
#include "client/cli/model_flags.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"
#include "client/cli/rows_digest.h"
#include "client/cli/spec_flags.h"
#include "client/cli/text_file.h"
#include "client/cli/verbs.h"

namespace phasor::cli {
namespace {

constexpr char kDefaultLock[] = "positions.lock";
/// As many as the longest of docs/certified-tables.md.
constexpr std::int64_t kDefaultCount = 131072;

std::int64_t RowsOf(const Lock& lock) {
  std::int64_t rows = 0;
  for (const LockedTable& table : lock.tables) {
    if (table.spec.has_value()) rows += table.rows.count;
  }
  return rows;
}

// An error about the lock's own text names the file.
absl::Status InFile(absl::string_view path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

absl::StatusOr<Lock> ReadLock(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadTextFile(path, kMaxLockBytes);
  if (!text.ok()) return text.status();
  absl::StatusOr<Lock> lock = ParseLock(*text);
  if (!lock.ok()) return InFile(path, lock.status());
  return lock;
}

/// The model's lock by its configuration as it is now, read as it was then.
absl::StatusOr<Lock> LockNow(const Lock& locked, absl::string_view config) {
  std::vector<std::string> words = {"describe", absl::StrCat("--config=", config)};
  words.insert(words.end(), locked.reading.begin(), locked.reading.end());
  const absl::StatusOr<Arguments> arguments = Arguments::Parse(words);
  if (!arguments.ok()) return arguments.status();
  const absl::StatusOr<ModelDescription> model = ModelFromFlags(*arguments);
  if (!model.ok()) return model.status();
  return LockOf(*model, *arguments, kDefaultCount);
}

// Compares what is computed or served now with what is locked.
class Verification {
 public:
  Verification(Client client, std::string what, std::int64_t rows)
      : client_(std::move(client)), what_(std::move(what)), progress_(rows, "rows") {}

  absl::Status Check(const LockedTable& locked) {
    if (!locked.spec.has_value()) {
      report_ += absl::StrCat(locked.name, ": in the checkpoint, no rows\n");
      return absl::OkStatus();
    }
    const absl::StatusOr<Table> table = client_.Open(locked.spec->spec());
    if (!table.ok()) return table.status();
    const absl::StatusOr<std::string> digest =
        RowsDigest(*table, locked.rows.start, locked.rows.count, progress_);
    if (!digest.ok()) return digest.status();
    const std::size_t before = differences_;
    const std::string name = absl::StrCat("tables.", locked.name);
    if (table->fingerprint() != locked.fingerprint) {
      Differs({absl::StrCat(name, ".fingerprint"), locked.fingerprint, table->fingerprint()},
              what_);
    }
    if (*digest != locked.rows.sha256) {
      Differs({absl::StrCat(name, ".rows.sha256"), locked.rows.sha256, *digest}, what_);
    }
    if (differences_ == before) {
      absl::StrAppend(&report_, locked.name, ": ok, ", locked.rows.count, " rows\n");
    }
    return absl::OkStatus();
  }

  void Differs(const LockDifference& difference, absl::string_view what) {
    const auto shown = [](const std::string& value) { return value.empty() ? "nothing" : value; };
    const std::string line = absl::StrCat(difference.field, ": locked ", shown(difference.locked),
                                          ", ", what, " ", shown(difference.found));
    if (differences_++ == 0) first_ = line;
    absl::StrAppend(&report_, line, "\n");
  }

  const std::string& report() const { return report_; }
  absl::Status Verdict(absl::string_view path) const {
    if (differences_ == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": ", first_,
                     differences_ == 1 ? "" : absl::StrCat("; and ", differences_ - 1, " more"),
                     "; if that is meant, lock again"));
  }

 private:
  Client client_;
  std::string what_;
  Progress progress_;
  std::string report_;
  std::string first_;
  std::size_t differences_ = 0;
};

}  // namespace

absl::Status RunLock(const Arguments& arguments) {
  absl::StatusOr<std::string> path = OutputFlag(arguments);
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::int64_t> count = IntegerFlag(arguments, "count", kDefaultCount);
  if (!count.ok()) return count.status();
  if (*count < 1) return arguments.Wrong("count", "less than one row");
  const absl::StatusOr<ModelDescription> model = ModelFromFlags(arguments);
  if (!model.ok()) return model.status();
  Lock lock = LockOf(*model, arguments, *count);
  const Client client = Client::Local();
  Progress progress(RowsOf(lock), "rows");
  for (LockedTable& locked : lock.tables) {
    if (!locked.spec.has_value()) continue;
    const absl::StatusOr<Table> table = client.Open(locked.spec->spec());
    if (!table.ok()) return table.status();
    absl::StatusOr<std::string> digest =
        RowsDigest(*table, locked.rows.start, locked.rows.count, progress);
    if (!digest.ok()) return digest.status();
    locked.rows.sha256 = *std::move(digest);
  }
  absl::StatusOr<Output> output = Output::Open(*path);
  if (!output.ok()) return output.status();
  absl::Status status = output->Write(LockText(lock));
  return status.ok() ? output->Commit() : status;
}

absl::Status RunVerify(const Arguments& arguments) {
  const std::string path(arguments.Text("lock").value_or(kDefaultLock));
  const bool asks_server = arguments.Text("server").has_value();
  absl::StatusOr<Client> client =
      asks_server ? ClientFromFlags(arguments) : absl::StatusOr<Client>(Client::Local());
  if (!client.ok()) return client.status();
  const absl::StatusOr<Lock> locked = ReadLock(path);
  if (!locked.ok()) return locked.status();

  Verification verification(*std::move(client), asks_server ? "the server has" : "computed",
                            RowsOf(*locked));
  if (const auto config = arguments.Text("config"); config.has_value()) {
    const absl::StatusOr<Lock> now = LockNow(*locked, *config);
    if (!now.ok()) return now.status();
    for (const LockDifference& difference : CompareLocks(*locked, *now)) {
      verification.Differs(difference, "the configuration means");
    }
  }
  for (const LockedTable& table : locked->tables) {
    absl::Status status = verification.Check(table);
    if (!status.ok()) return status;
  }
  absl::StatusOr<Output> output = Output::Open("-");
  if (!output.ok()) return output.status();
  absl::Status status = output->Write(verification.report());
  if (status.ok()) status = output->Commit();
  return status.ok() ? verification.Verdict(path) : status;
}

}  // namespace phasor::cli
