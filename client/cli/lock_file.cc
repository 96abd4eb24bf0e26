#include "client/cli/lock_file.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/model_json.h"
#include "client/cli/spec_from_json.h"
#include "phasor/core/errors.h"

namespace phasor::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLockVersion = 1;
constexpr int kMaxDepth = 8;
// What decides how a configuration is read, by the flags' names.
constexpr absl::string_view kReadingFlags[] = {"transformers", "sequence_length", "layout", "type"};

absl::Status Wrong(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, field.substr(0, 200), what);
}

// Takes the fields of one object one by one; what nobody took is unknown.
class Fields {
 public:
  Fields(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string Path(absl::string_view key) const {
    return path_.empty() ? std::string(key) : absl::StrCat(path_, ".", key);
  }

  absl::StatusOr<const Json*> Take(const std::string& key) {
    if (!json_.is_object()) return Wrong(path_.empty() ? "lock" : path_, "is no JSON object");
    const auto found = json_.find(key);
    if (found == json_.end()) return Wrong(Path(key), "is missing");
    taken_.push_back(key);
    return &*found;
  }
  absl::StatusOr<std::string> Text(const std::string& key) {
    const absl::StatusOr<const Json*> value = Take(key);
    if (!value.ok()) return value.status();
    if (!(*value)->is_string())
      return Wrong(Path(key), absl::StrCat((*value)->dump(), ", no text"));
    return (*value)->get<std::string>();
  }
  absl::StatusOr<std::int64_t> Integer(const std::string& key) {
    const absl::StatusOr<const Json*> value = Take(key);
    if (!value.ok()) return value.status();
    const bool fits =
        (*value)->is_number_integer() &&
        (!(*value)->is_number_unsigned() || (*value)->get<std::uint64_t>() <= INT64_MAX);
    if (!fits) return Wrong(Path(key), absl::StrCat((*value)->dump(), ", no integer"));
    return (*value)->get<std::int64_t>();
  }
  bool Has(const std::string& key) const { return json_.is_object() && json_.contains(key); }

  absl::Status ExpectNoOther() const {
    for (const auto& [key, value] : json_.items()) {
      if (std::find(taken_.begin(), taken_.end(), key) == taken_.end()) {
        return Wrong(Path(key), "is not known; is the lock of a newer version?");
      }
    }
    return absl::OkStatus();
  }

 private:
  const Json& json_;
  std::string path_;
  std::vector<std::string> taken_;
};

absl::StatusOr<LockedRows> ParseRows(const Json& json, const std::string& path,
                                     const CanonicalSpec& spec) {
  Fields fields(json, path);
  const absl::StatusOr<std::int64_t> start = fields.Integer("start");
  if (!start.ok()) return start.status();
  const absl::StatusOr<std::int64_t> count = fields.Integer("count");
  if (!count.ok()) return count.status();
  absl::StatusOr<std::string> digest = fields.Text("sha256");
  if (!digest.ok()) return digest.status();
  absl::Status status = fields.ExpectNoOther();
  if (status.ok()) status = spec.CheckRange(*start, *count);
  if (!status.ok()) return Wrong(path, status.message());
  return LockedRows{*start, *count, *std::move(digest)};
}

absl::StatusOr<LockedTable> ParseTable(const std::string& name, const Json& json) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), absl::ascii_isgraph)) {
    return Wrong("tables", "has a table without a printable name");
  }
  Fields fields(json, absl::StrCat("tables.", name));
  LockedTable table{.name = name, .fields = json};
  const absl::StatusOr<std::string> use = fields.Text("use");
  if (!use.ok()) return use.status();
  if (fields.Has("spec")) {
    absl::StatusOr<CanonicalSpec> spec = SpecFromJson(**fields.Take("spec"));
    if (!spec.ok()) return Wrong(fields.path(), spec.status().message());
    absl::StatusOr<std::string> fingerprint = fields.Text("fingerprint");
    if (!fingerprint.ok()) return fingerprint.status();
    const absl::StatusOr<const Json*> rows = fields.Take("rows");
    if (!rows.ok()) return rows.status();
    absl::StatusOr<LockedRows> locked = ParseRows(**rows, fields.Path("rows"), *spec);
    if (!locked.ok()) return locked.status();
    table.spec = *std::move(spec);
    table.fingerprint = *std::move(fingerprint);
    table.rows = *std::move(locked);
    table.fields.erase("rows");
  }
  for (const char* key : {"checkpoint", "layers", "first_channel", "softmax_factor"}) {
    if (fields.Has(key)) (void)fields.Take(key);
  }
  absl::Status status = fields.ExpectNoOther();
  if (!status.ok()) return status;
  return table;
}

absl::Status ParseReading(const Json& json, std::vector<std::string>* reading) {
  Fields fields(json, "reading");
  for (const absl::string_view flag : kReadingFlags) {
    const std::string key(flag);
    if (!fields.Has(key)) continue;
    const absl::StatusOr<std::string> text =
        key == "sequence_length" ? [&]() -> absl::StatusOr<std::string> {
      const absl::StatusOr<std::int64_t> length = fields.Integer(key);
      if (!length.ok()) return length.status();
      return absl::StrCat(*length);
    }()
        : fields.Text(key);
    if (!text.ok()) return text.status();
    reading->push_back(absl::StrCat("--", flag, "=", *text));
  }
  if (!json.is_object()) return Wrong("reading", "is no JSON object");
  return fields.ExpectNoOther();
}

Json ReadingJson(const std::vector<std::string>& reading) {
  Json json = Json::object();
  for (const std::string& word : reading) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(2, equals - 2);
    const std::string text = word.substr(equals + 1);
    json[key] = key == "sequence_length" ? Json::parse(text) : Json(text);
  }
  return json;
}

// Every leaf with its path, "tables.rotary.spec.rotary.width"; lists are leaves.
void Flatten(const Json& json, const std::string& path,
             std::map<std::string, std::string>* leaves) {
  if (!json.is_object() || json.empty()) {
    (*leaves)[path] = json.dump();
    return;
  }
  for (const auto& [key, value] : json.items()) {
    Flatten(value, absl::StrCat(path, ".", key), leaves);
  }
}

std::map<std::string, std::string> Leaves(const Lock& lock) {
  std::map<std::string, std::string> leaves;
  leaves["model_type"] = lock.model_type;
  for (const LockedTable& table : lock.tables) {
    Flatten(table.fields, absl::StrCat("tables.", table.name), &leaves);
  }
  return leaves;
}

}  // namespace

LockedRows RowsToLock(const CanonicalSpec& spec, std::int64_t count) {
  const std::int64_t rows = std::min(count, spec.last_position() + 1);
  if (!std::holds_alternative<RelativeBuckets>(spec.spec().scheme)) return {.count = rows};
  return {.start = 1 - rows, .count = 2 * rows - 1};
}

Lock LockOf(const ModelDescription& model, const Arguments& arguments, std::int64_t count) {
  Lock lock{.model_type = model.model_type};
  // The default may be another one in the next version.
  lock.reading.push_back(absl::StrCat(
      "--transformers=",
      arguments.Text("transformers").value_or(TransformersVersionName(ModelOptions().version))));
  for (const absl::string_view flag : kReadingFlags) {
    const auto text = arguments.Text(flag);
    if (flag == "transformers" || !text.has_value()) continue;
    lock.reading.push_back(absl::StrCat("--", flag, "=", *text));
  }
  const Json described = ModelJson(model);
  for (std::size_t i = 0; i < model.tables.size(); ++i) {
    LockedTable table{.name = model.tables[i].name, .fields = described["tables"][i]};
    // Words for people, which may change.
    table.fields.erase("name");
    table.fields.erase("description");
    if (model.tables[i].spec.has_value()) {
      table.spec = *CanonicalSpec::Create(*model.tables[i].spec);
      table.fingerprint = table.spec->fingerprint();
      table.rows = RowsToLock(*table.spec, count);
    }
    lock.tables.push_back(std::move(table));
  }
  return lock;
}

std::string LockText(const Lock& lock) {
  Json json;
  json["phasor_lock"] = kLockVersion;
  json["reading"] = ReadingJson(lock.reading);
  json["model_type"] = lock.model_type;
  json["tables"] = Json::object();
  for (const LockedTable& table : lock.tables) {
    Json& fields = json["tables"][table.name];
    fields = table.fields;
    if (!table.spec.has_value()) continue;
    fields["rows"] = {
        {"start", table.rows.start}, {"count", table.rows.count}, {"sha256", table.rows.sha256}};
  }
  return json.dump(2) + "\n";
}

absl::StatusOr<Lock> ParseLock(absl::string_view text) {
  bool deep = false;
  const auto check = [&deep](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > kMaxDepth;
    return !deep;
  };
  const Json json = Json::parse(text.begin(), text.end(), check, /*allow_exceptions=*/false);
  if (deep) return Wrong("lock", absl::StrCat("is nested deeper than ", kMaxDepth));
  if (json.is_discarded()) return Wrong("lock", "is no JSON");

  Fields fields(json, "");
  const absl::StatusOr<std::int64_t> version = fields.Integer("phasor_lock");
  if (!version.ok()) return version.status();
  if (*version != kLockVersion) {
    return Wrong("phasor_lock",
                 absl::StrCat(*version, " is a version that is not known; ", kLockVersion, " is"));
  }
  Lock lock;
  const absl::StatusOr<const Json*> reading = fields.Take("reading");
  if (!reading.ok()) return reading.status();
  absl::Status status = ParseReading(**reading, &lock.reading);
  if (!status.ok()) return status;
  absl::StatusOr<std::string> model_type = fields.Text("model_type");
  if (!model_type.ok()) return model_type.status();
  lock.model_type = *std::move(model_type);
  const absl::StatusOr<const Json*> tables = fields.Take("tables");
  if (!tables.ok()) return tables.status();
  if (!(*tables)->is_object()) return Wrong("tables", "is no JSON object");
  for (const auto& [name, table] : (*tables)->items()) {
    absl::StatusOr<LockedTable> parsed = ParseTable(name, table);
    if (!parsed.ok()) return parsed.status();
    lock.tables.push_back(*std::move(parsed));
  }
  status = fields.ExpectNoOther();
  if (!status.ok()) return status;
  return lock;
}

std::vector<LockDifference> CompareLocks(const Lock& locked, const Lock& found) {
  std::map<std::string, std::string> now = Leaves(found);
  std::vector<LockDifference> differences;
  for (const auto& [field, value] : Leaves(locked)) {
    const auto same = now.find(field);
    const std::string other = same == now.end() ? "" : same->second;
    if (same != now.end()) now.erase(same);
    if (value != other) differences.push_back({field, value, other});
  }
  for (const auto& [field, value] : now) differences.push_back({field, "", value});
  return differences;
}

}  // namespace phasor::cli
