#include "server/learned_tables.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_file.h"
#include "core/number_text.h"
#include "models/row_offset.h"
#include "phasor/core/errors.h"
#include "phasor/core/stored_table.h"
#include "phasor/models/model.h"

namespace phasor::server {
namespace {

constexpr absl::string_view kRowOffset = ",row_offset=";
constexpr absl::string_view kSuffix = ".safetensors";

using checkpoint::Quoted;

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::Status NotHeld(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kFailedPrecondition,
                    absl::StrCat("spec.learned_table.", field), what);
}

absl::Status CheckName(absl::string_view name) {
  const absl::Status status = CheckTableName(name);
  if (status.ok()) return absl::OkStatus();
  // On a command line there is no spec.
  absl::string_view what = status.message();
  what.remove_prefix(absl::string_view("spec.learned_table.name: ").size());
  return Invalid(absl::StrCat("the name ", what));
}

// The file beside a checkpoint that describes its model.
std::string ConfigPathOf(const std::string& checkpoint_path) {
  return checkpoint_path.substr(0, checkpoint_path.rfind('/') + 1) + "config.json";
}

absl::StatusOr<std::int64_t> RowOffsetFor(const TableSource& source, absl::string_view tensor,
                                          std::int64_t rows, std::int64_t width) {
  if (source.row_offset.has_value()) return *source.row_offset;
  const std::string config = ConfigPathOf(source.path);
  const absl::StatusOr<std::string> json = checkpoint::ReadSmallFile(config, kMaxConfigBytes);
  if (absl::IsNotFound(json.status())) return 0;
  if (!json.ok()) return json.status();
  absl::StatusOr<std::int64_t> offset = models::RowOffsetOf(*json, tensor, rows, width);
  if (offset.ok()) return offset;
  return Invalid(absl::StrCat(config, ": tensor ", Quoted(tensor), ": ", offset.status().message(),
                              "; or serve the file by --table with row_offset"));
}

// Whether all numbers of a table have a place in `type`.
absl::Status CheckType(const LoadedTable& table, ElementType type) {
  // That rows are no integers is CanonicalSpec::Create's to say.
  if (type == ElementType::kInt32) return absl::OkStatus();
  const ElementSurvey& survey = table.rows.survey;
  if (!RoundsToInfinity(type, survey.largest)) return absl::OkStatus();
  return FieldError(
      absl::StatusCode::kOutOfRange, "spec.element_type",
      absl::StrCat("row ", survey.largest_index / table.rows.width, " column ",
                   survey.largest_index % table.rows.width, " of ", Quoted(table.source.name),
                   " holds ", survey.largest, ", which rounds to an infinity in ",
                   ElementTypeName(type), "; use a wider type"));
}

absl::Status CheckSame(const LearnedTable& held, const LearnedTable& asked) {
  if (asked.content_sha256 != held.content_sha256) {
    return NotHeld("content_sha256",
                   absl::StrCat("table ", Quoted(asked.name), " holds ", held.content_sha256,
                                " here, not ", Quoted(asked.content_sha256),
                                ": its file was replaced, or another server has another one; open "
                                "it again by its name"));
  }
  // A hash is of one shape.
  if (asked.max_positions != held.max_positions) {
    return NotHeld("max_positions",
                   absl::StrCat(asked.max_positions, "; the rows are ", held.max_positions));
  }
  if (asked.width != held.width) {
    return NotHeld("width", absl::StrCat(asked.width, "; the rows have ", held.width));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TableSource> ParseTableSource(absl::string_view text) {
  TableSource source;
  const std::size_t equals = text.find('=');
  if (equals == absl::string_view::npos) {
    return Invalid("has no '=': give NAME=PATH[#TENSOR][,row_offset=N]");
  }
  source.name = std::string(text.substr(0, equals));
  if (absl::Status status = CheckName(source.name); !status.ok()) return status;
  text.remove_prefix(equals + 1);
  if (const std::size_t comma = text.rfind(kRowOffset); comma != absl::string_view::npos) {
    const absl::StatusOr<std::int64_t> offset = ParseInt64(text.substr(comma + kRowOffset.size()));
    if (!offset.ok() || *offset < 0) {
      return Invalid(absl::StrCat("row_offset ", Quoted(text.substr(comma + kRowOffset.size())),
                                  " is no number of rows"));
    }
    source.row_offset = *offset;
    text = text.substr(0, comma);
  }
  if (const std::size_t hash = text.find('#'); hash != absl::string_view::npos) {
    source.tensor = std::string(text.substr(hash + 1));
    if (source.tensor.empty()) return Invalid("names no tensor after '#'");
    text = text.substr(0, hash);
  }
  if (text.empty()) return Invalid("names no file");
  source.path = std::string(text);
  return source;
}

absl::StatusOr<std::vector<TableSource>> LearnedTables::ListSources() const {
  std::vector<TableSource> sources = sources_.tables;
  if (!sources_.directory.empty()) {
    const std::size_t before = sources.size();
    std::error_code error;
    for (std::filesystem::directory_iterator item(sources_.directory, error), end;
         !error && item != end; item.increment(error)) {
      const std::string file = item->path().filename().string();
      if (!absl::EndsWith(file, kSuffix)) continue;
      TableSource source;
      source.name = file.substr(0, file.size() - kSuffix.size());
      source.path = item->path().string();
      if (absl::Status status = CheckName(source.name); !status.ok()) {
        return Invalid(absl::StrCat(source.path, ": ", status.message()));
      }
      sources.push_back(std::move(source));
    }
    if (error) {
      return absl::UnavailableError(
          absl::StrCat(sources_.directory, ": cannot be listed: ", error.message()));
    }
    if (sources.size() == before) {
      return absl::NotFoundError(absl::StrCat(sources_.directory, ": holds no file NAME", kSuffix));
    }
  }
  std::sort(sources.begin(), sources.end(),
            [](const TableSource& a, const TableSource& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(sources.begin(), sources.end(),
                         [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice == sources.end()) return sources;
  return Invalid(absl::StrCat("the name ", Quoted(twice->name), " comes twice: ", twice->path,
                              " and ", std::next(twice)->path));
}

LearnedTables::Versions LearnedTables::LookAt(
    const absl::StatusOr<std::vector<TableSource>>& sources) const {
  Versions versions;
  if (!sources.ok()) return versions;
  for (const TableSource& source : *sources) {
    for (const std::string& path : {source.path, ConfigPathOf(source.path)}) {
      versions.emplace(path, checkpoint::VersionOf(path));
    }
  }
  return versions;
}

absl::StatusOr<LearnedTables::Reloaded> LearnedTables::Reload() {
  const absl::StatusOr<std::vector<TableSource>> sources = ListSources();
  // Before they are read: what changes from here on is another version.
  loaded_versions_ = seen_versions_ = LookAt(sources);
  if (!sources.ok()) return sources.status();
  ByName next;
  for (const TableSource& source : *sources) {
    absl::StatusOr<checkpoint::PositionTable> rows = checkpoint::LoadPositionTable(
        source.path, source.tensor,
        [&source](const std::string& tensor, std::int64_t rows, std::int64_t width) {
          return RowOffsetFor(source, tensor, rows, width);
        });
    if (!rows.ok()) {
      return absl::Status(rows.status().code(), absl::StrCat("table ", Quoted(source.name), ": ",
                                                             rows.status().message()));
    }
    auto table = std::make_shared<const LoadedTable>(LoadedTable{source, *std::move(rows)});
    const std::shared_ptr<const LoadedTable> before = Find(source.name);
    const bool same = before != nullptr && before->scheme() == table->scheme();
    next.emplace(source.name, same ? before : table);
  }
  Reloaded reloaded;
  absl::MutexLock lock(&mutex_);
  const auto add_missing = [](const ByName& from, const ByName& in,
                              std::vector<std::shared_ptr<const LoadedTable>>* out) {
    for (const auto& [name, table] : from) {
      const auto found = in.find(name);
      if (found == in.end() || found->second != table) out->push_back(table);
    }
  };
  add_missing(tables_, next, &reloaded.gone);
  add_missing(next, tables_, &reloaded.come);
  tables_ = std::move(next);
  return reloaded;
}

bool LearnedTables::ShouldReload() {
  Versions versions = LookAt(ListSources());
  const bool settled = versions == seen_versions_;
  const bool changed = versions != loaded_versions_;
  seen_versions_ = std::move(versions);
  return changed && settled;
}

std::shared_ptr<const LoadedTable> LearnedTables::Find(absl::string_view name) const {
  absl::MutexLock lock(&mutex_);
  const auto found = tables_.find(std::string(name));
  return found == tables_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const LoadedTable>> LearnedTables::All() const {
  std::vector<std::shared_ptr<const LoadedTable>> all;
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, table] : tables_) all.push_back(table);
  return all;
}

absl::Status LearnedTables::Resolve(ElementType type, LearnedTable* table) const {
  if (absl::Status status = CheckTableName(table->name); !status.ok()) return status;
  const std::shared_ptr<const LoadedTable> held = Find(table->name);
  if (held == nullptr) {
    return FieldError(absl::StatusCode::kNotFound, "spec.learned_table.name",
                      absl::StrCat("no table ", Quoted(table->name),
                                   " is loaded here; ListTables gives those that are"));
  }
  const LearnedTable scheme = held->scheme();
  if (table->resolved()) {
    if (absl::Status status = CheckSame(scheme, *table); !status.ok()) return status;
  }
  *table = scheme;
  return CheckType(*held, type);
}

absl::StatusOr<std::shared_ptr<const LocalTable>> LearnedTables::Open(CanonicalSpec spec) const {
  const auto& asked = std::get<LearnedTable>(spec.spec().scheme);
  const std::shared_ptr<const LoadedTable> held = Find(asked.name);
  if (held == nullptr || held->scheme() != asked) {
    return NotHeld("content_sha256", absl::StrCat("table ", Quoted(asked.name),
                                                  " was replaced meanwhile; open it "
                                                  "again by its name"));
  }
  return MakeStoredTable(std::move(spec), held->rows.type, held->rows.elements, held->rows.bytes);
}

}  // namespace phasor::server
