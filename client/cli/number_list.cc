#include "client/cli/number_list.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/text_file.h"
#include "core/number_text.h"

namespace phasor::cli {
namespace {

// Of 2^24 positions, written out.
constexpr std::size_t kMaxListBytes = std::size_t{1} << 30;

bool IsReal(absl::string_view text) { return text.find_first_of(".eE") != absl::string_view::npos; }

absl::Status InEntry(std::size_t index, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat("entry ", index, ": ", status.message()));
}

}  // namespace

absl::StatusOr<Number> ParseNumber(absl::string_view text) {
  if (IsReal(text)) return ParseFloat64(text);
  return ParseInt64(text);
}

absl::StatusOr<std::string> ReadListText(absl::string_view value) {
  if (value.empty()) return absl::InvalidArgumentError("no number given");
  if (value[0] != '@') return std::string(value);
  return ReadTextFile(std::string(value.substr(1)), kMaxListBytes);
}

absl::StatusOr<std::vector<absl::string_view>> SplitList(absl::string_view text) {
  std::vector<absl::string_view> entries;
  const auto skip_space = [&text] { text = absl::StripLeadingAsciiWhitespace(text); };
  for (skip_space(); !text.empty();) {
    std::size_t size = 0;
    while (size < text.size() && text[size] != ',' && !absl::ascii_isspace(text[size])) ++size;
    if (size == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("entry ", entries.size(), ": nothing before a comma"));
    }
    entries.push_back(text.substr(0, size));
    text.remove_prefix(size);
    skip_space();
    if (text.empty() || text[0] != ',') continue;
    text.remove_prefix(1);
    skip_space();
    if (text.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("entry ", entries.size(), ": nothing after the last comma"));
    }
  }
  return entries;
}

absl::StatusOr<Positions> ParsePositions(absl::string_view text) {
  absl::StatusOr<std::vector<absl::string_view>> entries = SplitList(text);
  if (!entries.ok()) return entries.status();
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    absl::StatusOr<Number> number = ParseNumber((*entries)[i]);
    if (!number.ok()) return InEntry(i, number.status());
    if (const auto* integer = std::get_if<std::int64_t>(&*number)) {
      integers.push_back(*integer);
    } else {
      reals.push_back(std::get<double>(*number));
    }
    if (!integers.empty() && !reals.empty()) {
      return InEntry(i, absl::InvalidArgumentError(absl::StrCat(
                            (*entries)[i], reals.size() == 1 ? " is real" : " is an integer",
                            " and the entries before are not; integer and real positions together "
                            "are refused, so write all of them with a '.' or none")));
    }
  }
  if (!reals.empty()) return reals;
  return integers;
}

absl::StatusOr<std::vector<double>> ParseReals(absl::string_view text) {
  absl::StatusOr<std::vector<absl::string_view>> entries = SplitList(text);
  if (!entries.ok()) return entries.status();
  std::vector<double> reals;
  reals.reserve(entries->size());
  for (std::size_t i = 0; i < entries->size(); ++i) {
    absl::StatusOr<double> real = ParseFloat64((*entries)[i]);
    if (!real.ok()) return InEntry(i, real.status());
    reals.push_back(*real);
  }
  return reals;
}

absl::StatusOr<absl::Duration> ParseTimeout(absl::string_view text) {
  absl::Duration timeout;
  if (absl::StatusOr<double> seconds = ParseFloat64(text); seconds.ok()) {
    timeout = absl::Seconds(*seconds);
  } else if (!absl::ParseDuration(text, &timeout)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a length of time; write 10s, 500ms or plain seconds"));
  }
  if (timeout <= absl::ZeroDuration() || timeout == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a timeout has to be positive and finite, not ", text));
  }
  return timeout;
}

}  // namespace phasor::cli
