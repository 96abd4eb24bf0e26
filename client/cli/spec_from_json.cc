#include "client/cli/spec_from_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/flags.h"
#include "client/cli/spec_flags.h"
#include "client/cli/spec_json.h"
#include "phasor/core/errors.h"

namespace phasor::cli {
namespace {

using Json = nlohmann::ordered_json;

// Every field of a spec has its flag, so a spec is read as the command line that
// would say the same.
class FlagWriter {
 public:
  explicit FlagWriter(const SchemeInfo& scheme) : scheme_(scheme) {
    words_ = {"table", std::string(scheme.name)};
  }

  absl::Status AddFields(const Json& json, const std::string& path) {
    for (const auto& [key, value] : json.items()) {
      const std::string field = absl::StrCat(path, ".", key);
      absl::Status status =
          value.is_object() ? AddMessage(key, value, path, field) : AddValue(value, field);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status AddValue(const Json& value, const std::string& field) {
    const FlagInfo* flag = FlagOfField(field, Verb::kTable, scheme_.scheme);
    if (flag == nullptr) return Refused(field, "no field of this table");
    std::optional<std::string> text = Text(value);
    if (!text.has_value()) return Refused(field, absl::StrCat("its value is ", value.dump()));
    words_.push_back(absl::StrCat("--", flag->name, "=", *std::move(text)));
    return absl::OkStatus();
  }

  const std::vector<std::string>& words() const { return words_; }

 private:
  static absl::Status Refused(const std::string& field, absl::string_view why) {
    return FieldError(absl::StatusCode::kInvalidArgument, field.substr(0, 200), why);
  }

  // A ladder or a scaling, whose word is its field's name.
  absl::Status AddMessage(const std::string& key, const Json& value, const std::string& path,
                          const std::string& field) {
    const bool outer = path == absl::StrCat("spec.", scheme_.name);
    const absl::string_view flag = scheme_.scheme == Scheme::kSinusoidal ? "ladder" : "scaling";
    if (!outer || !Applies(*FindFlag(flag), Verb::kTable, scheme_.scheme)) {
      return Refused(field, "no field of this table");
    }
    words_.push_back(absl::StrCat("--", flag, "=", key));
    return AddFields(value, field);
  }

  static std::optional<std::string> Text(const Json& value) {
    if (value.is_number() || value.is_boolean()) return value.dump();
    if (value.is_string()) return EnumWord(value.get<std::string>());
    if (!value.is_array()) return std::nullopt;
    std::vector<std::string> numbers;
    for (const Json& number : value) {
      if (!number.is_number()) return std::nullopt;
      numbers.push_back(number.dump());
    }
    return absl::StrJoin(numbers, ",");
  }

  // "LAYOUT_SIN_COS_HALVES" is --layout=sin_cos_halves.
  static std::optional<std::string> EnumWord(absl::string_view name) {
    for (const absl::string_view prefix :
         {"LAYOUT_", "ODD_COLUMN_", "ALIBI_FORM_", "ELEMENT_TYPE_", "NUMERICS_"}) {
      if (name.substr(0, prefix.size()) == prefix) {
        return absl::AsciiStrToLower(name.substr(prefix.size()));
      }
    }
    return std::nullopt;
  }

  const SchemeInfo& scheme_;
  std::vector<std::string> words_;
};

}  // namespace

absl::StatusOr<CanonicalSpec> SpecFromJson(const Json& json) {
  const auto refused = [](absl::string_view why) {
    return FieldError(absl::StatusCode::kInvalidArgument, "spec", why);
  };
  if (!json.is_object()) return refused("is no JSON object");
  const SchemeInfo* scheme = nullptr;
  for (const auto& [key, value] : json.items()) {
    if (value.is_object() && FindScheme(key) != nullptr && scheme == nullptr) {
      scheme = FindScheme(key);
    } else if (key != "element_type" && key != "numerics") {
      return refused(absl::StrCat("\"", key.substr(0, 60), "\" is no field of it"));
    }
  }
  if (scheme == nullptr) return refused(absl::StrCat("has no scheme; one of ", SchemeNames()));

  FlagWriter flags(*scheme);
  absl::Status status =
      flags.AddFields(json.at(std::string(scheme->name)), absl::StrCat("spec.", scheme->name));
  for (const absl::string_view field : {"element_type", "numerics"}) {
    const auto found = json.find(std::string(field));
    if (status.ok() && found != json.end()) {
      status = flags.AddValue(*found, absl::StrCat("spec.", field));
    }
  }
  if (!status.ok()) return status;
  const absl::StatusOr<Arguments> arguments = Arguments::Parse(flags.words());
  if (!arguments.ok()) return arguments.status();
  absl::StatusOr<TableSpec> spec = SpecFromFlags(*arguments);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(*std::move(spec));
  if (!canonical.ok()) return canonical.status();
  // In whatever order its fields stand.
  if (nlohmann::json(CanonicalSpecJson(*canonical)) != nlohmann::json(json)) {
    return refused(
        absl::StrCat("is not canonical; that is ", CanonicalSpecJson(*canonical).dump()));
  }
  return canonical;
}

}  // namespace phasor::cli
