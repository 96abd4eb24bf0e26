#include "client/cli/arguments.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "phasor/core/errors.h"

namespace phasor::cli {
namespace {

/// As much of a text as an error line may carry, on one line.
std::string Shorten(absl::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string shown = absl::Utf8SafeCHexEscape(text.substr(0, kMost));
  return text.size() > kMost ? shown + "..." : shown;
}

}  // namespace

absl::StatusOr<Arguments> Arguments::Parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (const std::string& word : words) {
    absl::Status status = absl::StartsWith(word, "-") && word != "-" ? arguments.TakeFlag(word)
                                                                     : arguments.TakeWord(word);
    if (!status.ok()) return status;
  }
  if (arguments.Switch("help") || arguments.Switch("version")) return arguments;
  if (!arguments.verb_.has_value()) {
    return absl::InvalidArgumentError("no verb given; see phasor --help");
  }
  const VerbInfo& verb = InfoOf(*arguments.verb_);
  if (arguments.Text("config").has_value() && arguments.scheme_.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--config: the table of a model, beside the scheme ",
                     InfoOf(*arguments.scheme_).name, "; give one of both"));
  }
  if (arguments.Text("config").has_value() || verb.operand == "config") {
    arguments.scheme_ = Scheme::kConfig;
  }
  if (verb.has_scheme && !arguments.scheme_.has_value()) {
    return FieldError(
        absl::StatusCode::kInvalidArgument, "spec",
        absl::StrCat("no scheme given; write phasor ", verb.name, " SCHEME, which is one of ",
                     SchemeNames(), ", or --config=config.json"));
  }
  absl::Status status = arguments.CheckMeaning();
  if (!status.ok()) return status;
  return arguments;
}

absl::Status Arguments::TakeFlag(absl::string_view word) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(word, absl::MaxSplits('=', 1));
  const FlagInfo* flag = absl::StartsWith(word, "--") ? FindFlag(parts.first.substr(2)) : nullptr;
  if (flag == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(Shorten(parts.first), ": unknown flag; see phasor --help"));
  }
  const bool has_value = absl::StrContains(word, "=");
  absl::string_view value = parts.second;
  if (flag->hint.empty()) {
    if (!has_value) value = "true";
    if (value != "true" && value != "false") {
      return absl::InvalidArgumentError(absl::StrCat(Shorten(word), ": a switch is --", flag->name,
                                                     " or --", flag->name, "=true"));
    }
  } else if (!has_value) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag->name, ": needs a value, --", flag->name, "=", flag->hint));
  }
  if (!flags_.emplace(flag->name, value).second) {
    return absl::InvalidArgumentError(absl::StrCat("--", flag->name, ": given twice"));
  }
  return absl::OkStatus();
}

absl::Status Arguments::TakeWord(absl::string_view word) {
  if (!verb_.has_value()) {
    const VerbInfo* verb = FindVerb(word);
    if (verb == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", Shorten(word), "\": unknown verb; see phasor --help"));
    }
    verb_ = verb->verb;
    return absl::OkStatus();
  }
  const absl::string_view operand = InfoOf(*verb_).operand;
  if (!operand.empty() && flags_.emplace(operand, word).second) return absl::OkStatus();
  if (!InfoOf(*verb_).has_scheme || scheme_.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", Shorten(word), "\": one word too many; flags are --name=value"));
  }
  const SchemeInfo* scheme = FindScheme(word);
  if (scheme == nullptr) {
    return FieldError(
        absl::StatusCode::kInvalidArgument, "spec",
        absl::StrCat("unknown scheme \"", Shorten(word), "\"; known: ", SchemeNames()));
  }
  scheme_ = scheme->scheme;
  return absl::OkStatus();
}

absl::Status Arguments::CheckMeaning() const {
  for (const FlagInfo& flag : Flags()) {
    if (!Text(flag.name).has_value() || Applies(flag, *verb_, scheme_)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag.name, ": has no meaning for ", InfoOf(*verb_).name,
        (flag.verbs & Bit(*verb_)) != 0 && scheme_ ? absl::StrCat(" ", InfoOf(*scheme_).name)
                                                   : ""));
  }
  return absl::OkStatus();
}

std::optional<absl::string_view> Arguments::Text(absl::string_view flag) const {
  const auto found = flags_.find(flag);
  if (found == flags_.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<absl::string_view> Arguments::Required(absl::string_view flag) const {
  if (const std::optional<absl::string_view> text = Text(flag)) return *text;
  return Wrong(flag, "required");
}

std::string Arguments::Shown(absl::string_view flag) const {
  const std::optional<absl::string_view> text = Text(flag);
  if (!text.has_value()) return absl::StrCat("--", flag);
  return absl::StrCat("--", flag, "=", Shorten(*text));
}

absl::Status Arguments::Wrong(absl::string_view flag, absl::string_view what) const {
  return Wrong(flag, absl::InvalidArgumentError(what));
}

absl::Status Arguments::Wrong(absl::string_view flag, const absl::Status& status) const {
  const absl::string_view fields = FindFlag(flag)->fields;
  if (fields.empty()) {
    return absl::Status(status.code(), absl::StrCat(Shown(flag), ": ", status.message()));
  }
  // Where several scalings have the field, that of the one given.
  const std::string scaling = absl::StrCat("*.", Text("scaling").value_or(" "), ".");
  const std::size_t begin =
      absl::StrContains(fields, scaling) ? fields.rfind(' ', fields.find(scaling)) + 1 : 0;
  const std::string field =
      absl::StrReplaceAll(fields.substr(begin, fields.find(' ', begin) - begin),
                          {{"*", scheme_ ? InfoOf(*scheme_).name : ""}});
  return FieldError(status.code(), field, status.message());
}

std::string Arguments::Explain(const absl::Status& status) const {
  std::string message(status.message());
  const std::string field = FieldOf(status);
  const FlagInfo* flag =
      field.empty() || !verb_.has_value() ? nullptr : FlagOfField(field, *verb_, scheme_);
  if (flag != nullptr) {
    message = absl::StrCat(Shown(flag->name), ": ", message);
  } else if (absl::StartsWith(field, "spec") && scheme_.has_value()) {
    message = absl::StrCat(InfoOf(*verb_).name, " ", InfoOf(*scheme_).name, ": ", message);
  }
  for (char& c : message) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return message;
}

}  // namespace phasor::cli
