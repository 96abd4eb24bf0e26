#include "models/config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "phasor/core/errors.h"
#include "phasor/models/model.h"

namespace phasor::models {
namespace {

using Json = nlohmann::json;

constexpr char kField[] = "config_json";
constexpr int kMaxDepth = 32;
constexpr std::size_t kQuotedBytes = 64;
constexpr std::size_t kMaxListed = 200;

absl::Status Wrong(absl::string_view path, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument,
                    path.empty() ? kField : absl::StrCat(kField, ".", path), what);
}

std::string Quoted(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kQuotedBytes) text = absl::StrCat(text.substr(0, kQuotedBytes), "...");
  return text;
}

// What Python's json writes of floats that JSON has no words for.
std::string WithoutPythonFloats(absl::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      result += text[i];
      if (text[i] == '\\' && i + 1 < text.size()) {
        result += text[++i];
      } else if (text[i] == '"') {
        in_string = false;
      }
      continue;
    }
    in_string = text[i] == '"';
    bool replaced = false;
    for (const absl::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (!absl::StartsWith(text.substr(i), word)) continue;
      result += "null";
      i += word.size() - 1;
      replaced = true;
      break;
    }
    if (!replaced) result += text[i];
  }
  return result;
}

bool IsAboutPositions(absl::string_view key) {
  for (const absl::string_view word :
       {"rope", "rotary", "position", "alibi", "relative", "theta", "yarn", "mscale", "head_dim",
        "layer_types", "sliding_window_pattern"}) {
    if (absl::StrContains(key, word)) return true;
  }
  return false;
}

std::optional<double> AsNumber(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> AsInteger(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const std::optional<double> number = AsNumber(value);
  if (!number.has_value() || std::abs(*number) > 0x1p53 || *number != std::trunc(*number)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

std::string IsMissing(absl::string_view for_what) {
  return absl::StrCat("is missing; ", for_what, " needs it");
}

std::optional<std::string> AsText(const Json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

}  // namespace

struct Config::Shared {
  Json root;
  absl::Status status;
  std::set<std::string> used;
  std::vector<std::string> warnings;
};

Config::Config(std::shared_ptr<Shared> shared, const Json* object, std::string path)
    : shared_(std::move(shared)), object_(object), path_(std::move(path)) {}

absl::StatusOr<Config> Config::Parse(absl::string_view text) {
  if (text.size() > kMaxConfigBytes) {
    return Wrong(
        "", absl::StrCat(text.size(), " bytes; a configuration has at most ", kMaxConfigBytes));
  }
  std::vector<std::set<std::string>> keys;
  std::string twice;
  bool deep = false;
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    deep = deep || depth > kMaxDepth;
    return true;
  };
  auto shared = std::make_shared<Shared>();
  shared->root = Json::parse(WithoutPythonFloats(text), check, /*allow_exceptions=*/false);
  if (!shared->root.is_object())
    return Wrong("", "is no JSON object; give the text of config.json");
  if (deep) return Wrong("", absl::StrCat("is nested deeper than ", kMaxDepth));
  if (!twice.empty()) {
    return Wrong("", absl::StrCat("has a key twice in one object: ", Quoted(Json(twice))));
  }
  const Json* root = &shared->root;
  return Config(std::move(shared), root, "");
}

std::string Config::PathOf(absl::string_view key) const {
  if (!key.empty()) return absl::StrCat(path_, key);
  return path_.substr(0, path_.empty() ? 0 : path_.size() - 1);
}

const Json* Config::Find(absl::string_view key) const {
  const auto found = object_->find(std::string(key));
  if (found == object_->end()) return nullptr;
  shared_->used.insert(PathOf(key));
  return found->is_null() ? nullptr : &*found;
}

bool Config::Has(absl::string_view key) const { return Find(key) != nullptr; }

template <typename T, typename Read>
std::optional<T> Config::Get(absl::string_view key, absl::string_view kind, Read read) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  std::optional<T> result = read(*value);
  if (!result.has_value()) Refuse(key, absl::StrCat(Quoted(*value), " is not ", kind));
  return result;
}

template <typename T, typename Read>
std::optional<std::vector<T>> Config::GetList(absl::string_view key, absl::string_view kind,
                                              Read read) const {
  const Json* list = Find(key);
  if (list == nullptr) return std::nullopt;
  std::vector<T> result;
  if (!list->is_array()) {
    Refuse(key, absl::StrCat(Quoted(*list), " is not a list of ", kind));
    return result;
  }
  for (const Json& value : *list) {
    std::optional<T> item = read(value);
    if (!item.has_value()) {
      Refuse(key, absl::StrCat("holds ", Quoted(value), ", not ", kind));
      return result;
    }
    result.push_back(*std::move(item));
  }
  return result;
}

std::optional<double> Config::Number(absl::string_view key) const {
  return Get<double>(key, "a number", AsNumber);
}
std::optional<std::int64_t> Config::Integer(absl::string_view key) const {
  return Get<std::int64_t>(key, "an integer", AsInteger);
}
std::optional<bool> Config::Boolean(absl::string_view key) const {
  return Get<bool>(key, "true or false", [](const Json& value) {
    return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
  });
}
std::optional<std::string> Config::Text(absl::string_view key) const {
  return Get<std::string>(key, "a string", AsText);
}
std::optional<std::vector<double>> Config::Numbers(absl::string_view key) const {
  return GetList<double>(key, "numbers", AsNumber);
}
std::optional<std::vector<std::int64_t>> Config::Integers(absl::string_view key) const {
  return GetList<std::int64_t>(key, "integers", AsInteger);
}
std::optional<std::vector<std::string>> Config::Texts(absl::string_view key) const {
  return GetList<std::string>(key, "strings", AsText);
}

std::optional<Config> Config::Object(absl::string_view key) const {
  return Get<Config>(key, "an object", [&](const Json& value) -> std::optional<Config> {
    if (!value.is_object()) return std::nullopt;
    return Config(shared_, &value, absl::StrCat(PathOf(key), "."));
  });
}

std::optional<Config> Config::ObjectIfAny(absl::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr || !value->is_object() || value->empty()) return std::nullopt;
  return Config(shared_, value, absl::StrCat(PathOf(key), "."));
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> result;
  for (const auto& [key, value] : object_->items()) result.push_back(key);
  return result;
}

void Config::Refuse(absl::string_view key, absl::string_view what) const {
  if (shared_->status.ok()) shared_->status = Wrong(PathOf(key), what);
}

double Config::RequiredNumber(absl::string_view key, absl::string_view for_what) const {
  const std::optional<double> value = Number(key);
  if (!value.has_value()) Refuse(key, IsMissing(for_what));
  return value.value_or(0);
}
std::int64_t Config::RequiredInteger(absl::string_view key, absl::string_view for_what) const {
  const std::optional<std::int64_t> value = Integer(key);
  if (!value.has_value()) Refuse(key, IsMissing(for_what));
  return value.value_or(0);
}
std::vector<double> Config::RequiredNumbers(absl::string_view key,
                                            absl::string_view for_what) const {
  const std::optional<std::vector<double>> value = Numbers(key);
  if (!value.has_value()) Refuse(key, IsMissing(for_what));
  return value.value_or(std::vector<double>());
}

const absl::Status& Config::status() const { return shared_->status; }

std::vector<std::string> Config::used() const {
  return {shared_->used.begin(), shared_->used.end()};
}

std::vector<std::string> Config::ignored() const {
  std::vector<std::string> result;
  const auto visit = [&](const Json& object, const std::string& path, bool all,
                         const auto& self) -> void {
    for (const auto& [key, value] : object.items()) {
      const bool about = all || IsAboutPositions(key);
      if (about && !shared_->used.contains(path + key) && result.size() < kMaxListed) {
        result.push_back(path + key);
      } else if (value.is_object() && (about || key == "text_config")) {
        self(value, path + key + ".", about, self);
      }
    }
  };
  visit(shared_->root, "", false, visit);
  std::sort(result.begin(), result.end());
  return result;
}

void Config::Warn(std::string warning) const { shared_->warnings.push_back(std::move(warning)); }
const std::vector<std::string>& Config::warnings() const { return shared_->warnings; }

}  // namespace phasor::models
