#include "client/cli/rotary_flags.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace phasor::cli {
namespace {

struct ScalingInfo {
  absl::string_view word;
  std::vector<absl::string_view> flags;  ///< that mean something with it
};

const std::vector<ScalingInfo>& Scalings() {
  static const auto* const scalings = new std::vector<ScalingInfo>{
      {"none", {}},
      {"linear", {"factor"}},
      {"ntk", {"factor"}},
      {"dynamic_ntk", {"factor", "max_position_embeddings", "sequence_length"}},
      {"yarn",
       {"factor", "original_max_position_embeddings", "beta_fast", "beta_slow", "mscale",
        "mscale_all_dim", "truncate"}},
      {"longrope",
       {"factor", "original_max_position_embeddings", "sequence_length", "short_factor",
        "long_factor"}},
      {"llama3",
       {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"}},
      {"proportional", {"factor", "partial_rotary_factor"}},
      {"explicit", {"frequencies"}},
  };
  return *scalings;
}

// Refuses flags of other scalings than `word`, and words that are none.
void CheckFlags(absl::string_view word, FlagReader& flags) {
  bool known = false;
  for (const ScalingInfo& scaling : Scalings()) known = known || scaling.word == word;
  if (!known) {
    return flags.Fail(
        "scaling", absl::StrCat("unknown word \"", word, "\"; known: ", FindFlag("scaling")->help));
  }
  const auto has = [](const ScalingInfo& scaling, absl::string_view flag) {
    return std::find(scaling.flags.begin(), scaling.flags.end(), flag) != scaling.flags.end();
  };
  for (const ScalingInfo& other : Scalings()) {
    for (const absl::string_view flag : other.flags) {
      if (!flags.Has(flag)) continue;
      std::vector<absl::string_view> with;
      bool meant = false;
      for (const ScalingInfo& scaling : Scalings()) {
        if (!has(scaling, flag)) continue;
        with.push_back(scaling.word);
        meant = meant || scaling.word == word;
      }
      if (meant) continue;
      flags.Fail(flag, absl::StrCat("means something with --scaling=", absl::StrJoin(with, ", "),
                                    " alone"));
    }
  }
}

RotaryScaling ScalingFromFlags(absl::string_view word, FlagReader& flags) {
  if (word == "linear") return LinearScaling{flags.RequiredReal("factor")};
  if (word == "ntk") return NtkScaling{flags.RequiredReal("factor")};
  if (word == "dynamic_ntk") {
    return DynamicNtkScaling{flags.RequiredReal("factor"),
                             flags.RequiredInteger("max_position_embeddings"),
                             flags.RequiredInteger("sequence_length")};
  }
  if (word == "yarn") {
    YarnScaling s;
    s.factor = flags.RequiredReal("factor");
    s.original_max_position_embeddings = flags.RequiredInteger("original_max_position_embeddings");
    s.beta_fast = flags.Real("beta_fast").value_or(s.beta_fast);
    s.beta_slow = flags.Real("beta_slow").value_or(s.beta_slow);
    s.mscale = flags.Real("mscale");
    s.mscale_all_dim = flags.Real("mscale_all_dim");
    s.truncate = flags.Bool("truncate").value_or(s.truncate);
    return s;
  }
  if (word == "longrope") {
    LongRopeScaling s;
    s.short_factor = flags.RequiredReals("short_factor");
    s.long_factor = flags.RequiredReals("long_factor");
    s.original_max_position_embeddings = flags.RequiredInteger("original_max_position_embeddings");
    s.sequence_length = flags.RequiredInteger("sequence_length");
    s.factor = flags.Real("factor");
    return s;
  }
  if (word == "llama3") {
    return Llama3Scaling{flags.RequiredReal("factor"), flags.RequiredReal("low_freq_factor"),
                         flags.RequiredReal("high_freq_factor"),
                         flags.RequiredInteger("original_max_position_embeddings")};
  }
  if (word == "proportional") {
    ProportionalScaling s;
    s.partial_rotary_factor = flags.Real("partial_rotary_factor").value_or(s.partial_rotary_factor);
    s.factor = flags.Real("factor").value_or(s.factor);
    return s;
  }
  if (word == "explicit") return ExplicitLadder{flags.RequiredReals("frequencies")};
  return NoScaling{};
}

absl::StatusOr<std::vector<std::int64_t>> ReadSections(absl::string_view text) {
  absl::StatusOr<Positions> numbers = ParsePositions(text);
  if (!numbers.ok()) return numbers.status();
  auto* sections = std::get_if<std::vector<std::int64_t>>(&*numbers);
  if (sections == nullptr) return absl::InvalidArgumentError("numbers of pairs are integers");
  return std::move(*sections);
}

}  // namespace

Rotary RotaryFromFlags(FlagReader& flags, const Arguments& arguments) {
  Rotary scheme;
  scheme.width = flags.RequiredInteger("width");
  scheme.base = flags.Real("base");
  const absl::string_view word = arguments.Text("scaling").value_or("none");
  CheckFlags(word, flags);
  scheme.scaling = ScalingFromFlags(word, flags);
  scheme.attention_factor = flags.Real("attention_factor");
  scheme.layout = flags.LayoutOr(scheme.layout);
  scheme.mrope_section =
      flags.Take("mrope_section", ReadSections).value_or(std::vector<std::int64_t>());
  scheme.mrope_interleaved = flags.Bool("mrope_interleaved").value_or(scheme.mrope_interleaved);
  return scheme;
}

}  // namespace phasor::cli
