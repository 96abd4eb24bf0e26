#include "client/cli/flags.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace phasor::cli {
namespace {

constexpr VerbInfo kVerbs[] = {
    {Verb::kRows, "rows", true, "", "rows --start ... --start + --count - 1"},
    {Verb::kGather, "gather", true, "", "one row for each of --positions"},
    {Verb::kExport, "export", true, "", "rows of any length to a file"},
    {Verb::kShift, "shift", true, "", "the rows of --input, moved on --by positions"},
    {Verb::kFreqs, "freqs", true, "", "angular frequencies, binary64, radians per position"},
    {Verb::kTable, "table", true, "", "canonical spec, fingerprint and sizes, as JSON"},
    {Verb::kPlot, "plot", true, "", "heat map of rows, and the ladder of frequencies as bars"},
    {Verb::kDescribe, "describe", false, "config",
     "the position tables of a model, from its config.json, as JSON"},
    {Verb::kLock, "lock", false, "config",
     "those tables with digests of their rows, for phasor verify (docs/lock.md)"},
    {Verb::kVerify, "verify", false, "lock",
     "whether tables, here or at --server, are still those of a lock"},
    {Verb::kDiagnose, "diagnose", true, "input",
     "which wrong table these rows are, if they are not the right one"},
    {Verb::kTables, "tables", false, "", "tables that the server holds"},
    {Verb::kHealth, "health", false, "", "whether the server serves: exit status 0 if it does"},
    {Verb::kInfo, "info", false, "", "the server's version and limits"},
};

constexpr SchemeInfo kSchemes[] = {
    {Scheme::kSinusoidal, "sinusoidal"}, {Scheme::kLearnedInit, "learned_init"},
    {Scheme::kRotary, "rotary"},         {Scheme::kLearnedTable, "learned_table"},
    {Scheme::kTimestep, "timestep"},     {Scheme::kNone, "none"},
    {Scheme::kAlibi, "alibi"},           {Scheme::kRelativeBuckets, "relative_buckets"},
};

constexpr SchemeInfo kConfigScheme = {Scheme::kConfig, "--config"};

constexpr unsigned kRange = Bit(Verb::kRows) | Bit(Verb::kExport) | Bit(Verb::kPlot);
constexpr unsigned kArrays = Bit(Verb::kRows) | Bit(Verb::kGather) | Bit(Verb::kExport) |
                             Bit(Verb::kShift) | Bit(Verb::kFreqs);
constexpr unsigned kServed = kArrays | Bit(Verb::kTable) | Bit(Verb::kPlot);
constexpr unsigned kOfTables = kServed | Bit(Verb::kDiagnose);
constexpr unsigned kServerLists = Bit(Verb::kTables) | Bit(Verb::kInfo);
constexpr unsigned kVerify = Bit(Verb::kVerify);
constexpr unsigned kDescribe = Bit(Verb::kDescribe) | Bit(Verb::kLock);
constexpr unsigned kAsking = kServed | kServerLists | Bit(Verb::kHealth) | kVerify;
constexpr unsigned kAllVerbs = kAsking | kDescribe | Bit(Verb::kDiagnose);

constexpr unsigned kSinusoidal = Bit(Scheme::kSinusoidal);
constexpr unsigned kLearnedInit = Bit(Scheme::kLearnedInit);
constexpr unsigned kRotary = Bit(Scheme::kRotary);
constexpr unsigned kLearnedTable = Bit(Scheme::kLearnedTable);
constexpr unsigned kTimestep = Bit(Scheme::kTimestep);
constexpr unsigned kNone = Bit(Scheme::kNone);
constexpr unsigned kAlibi = Bit(Scheme::kAlibi);
constexpr unsigned kWide = kSinusoidal | kLearnedInit | kRotary | kTimestep | kNone;
constexpr unsigned kBuckets = Bit(Scheme::kRelativeBuckets);
constexpr unsigned kEvery = kWide | kLearnedTable | kAlibi | kBuckets;
constexpr unsigned kConfig = Bit(Scheme::kConfig);

constexpr FlagInfo kFlags[] = {
    {"max_positions", "N", kOfTables, kLearnedInit, "spec.*.max_positions", "rows of the table"},
    {"name", "NAME", kOfTables, kLearnedTable,
     "spec.*.name spec.*.content_sha256 spec.*.max_positions spec.*.width",
     "of a table that the server loaded (phasord --table)"},
    {"width", "D", kOfTables, kWide, "spec.*.width",
     "width d, of rotary the rotary width; even but for learned_init, timestep, with "
     "--odd_column and with --additive"},
    {"odd_column", "WORD", kOfTables, kSinusoidal, "spec.*.odd_column",
     "of odd widths: zero (a last column of zeros) or sine (the last pair without its cosine)"},
    {"base", "B", kOfTables, kSinusoidal | kRotary, "spec.*.base", "base of the ladder (10000)"},
    {"ladder", "WORD", kOfTables, kSinusoidal,
     "spec.*.ladder spec.*.paper spec.*.inclusive spec.*.downscaled spec.*.explicit "
     "spec.*.timescales",
     "paper (default), inclusive, downscaled, explicit, timescales"},
    {"downscale_shift", "X", kOfTables, kSinusoidal, "spec.*.downscaled.downscale_shift",
     "of --ladder=downscaled"},
    {"min_timescale", "X", kOfTables, kSinusoidal, "spec.*.timescales.min_timescale",
     "of --ladder=timescales: the first frequency (1)"},
    {"max_timescale", "X", kOfTables, kSinusoidal, "spec.*.timescales.max_timescale",
     "of --ladder=timescales (10000)"},
    {"scaling", "WORD", kOfTables, kRotary, "spec.*.scaling spec.*.none spec.*.linear spec.*.ntk",
     "none (default), linear, ntk, dynamic_ntk, yarn, longrope, llama3, proportional, explicit"},
    {"factor", "S", kOfTables, kRotary,
     "spec.*.linear.factor spec.*.ntk.factor spec.*.dynamic_ntk.factor spec.*.yarn.factor "
     "spec.*.longrope.factor spec.*.llama3.factor spec.*.proportional.factor",
     "of every scaling but none and explicit"},
    {"original_max_position_embeddings", "M", kOfTables, kRotary,
     "spec.*.yarn.original_max_position_embeddings "
     "spec.*.longrope.original_max_position_embeddings "
     "spec.*.llama3.original_max_position_embeddings",
     "of yarn, longrope, llama3"},
    {"max_position_embeddings", "M", kOfTables, kRotary,
     "spec.*.dynamic_ntk.max_position_embeddings", "of dynamic_ntk"},
    {"config", "FILE.json", kOfTables | kDescribe | kVerify, kConfig, "config_json",
     "a model's config.json, - for stdin, instead of a scheme"},
    {"table", "NAME", kOfTables, kConfig, "table",
     "the one of the model's tables, where it has several"},
    {"transformers", "WORD", kOfTables | kDescribe, kConfig, "transformers_version",
     "5.16 (default), 5.0, 4.46: whose reading of the configuration"},
    {"sequence_length", "L", kOfTables | kDescribe, kRotary | kConfig,
     "spec.*.dynamic_ntk.sequence_length spec.*.longrope.sequence_length sequence_length",
     "of dynamic_ntk and longrope: the length that the table is for"},
    {"beta_fast", "X", kOfTables, kRotary, "spec.*.yarn.beta_fast", "of yarn (32)"},
    {"beta_slow", "X", kOfTables, kRotary, "spec.*.yarn.beta_slow", "of yarn (1)"},
    {"mscale", "X", kOfTables, kRotary, "spec.*.yarn.mscale", "of yarn, beside the other"},
    {"mscale_all_dim", "X", kOfTables, kRotary, "spec.*.yarn.mscale_all_dim",
     "of yarn, beside the other"},
    {"truncate", "WORD", kOfTables, kRotary, "spec.*.yarn.truncate",
     "of yarn: true (default), false"},
    {"short_factor", "E,E,...|@FILE", kOfTables, kRotary, "spec.*.longrope.short_factor",
     "of longrope: d/2 of them"},
    {"long_factor", "E,E,...|@FILE", kOfTables, kRotary, "spec.*.longrope.long_factor",
     "of longrope: d/2 of them"},
    {"low_freq_factor", "X", kOfTables, kRotary, "spec.*.llama3.low_freq_factor", "of llama3"},
    {"high_freq_factor", "X", kOfTables, kRotary, "spec.*.llama3.high_freq_factor", "of llama3"},
    {"partial_rotary_factor", "X", kOfTables, kRotary, "spec.*.proportional.partial_rotary_factor",
     "of proportional (1)"},
    {"frequencies", "W,W,...|@FILE", kOfTables, kSinusoidal | kRotary,
     "spec.*.explicit.frequencies", "of --ladder=explicit, --scaling=explicit: d/2 of them"},
    {"attention_factor", "X", kOfTables, kRotary, "spec.*.attention_factor",
     "what sines and cosines are multiplied by (as the scaling says)"},
    {"layout", "WORD", kOfTables | kDescribe, kSinusoidal | kRotary | kNone | kConfig,
     "spec.*.layout rotary_layout",
     "sin_cos_interleaved (default of sinusoidal), sin_cos_halves, cos_sin_halves (default of "
     "rotary and none), cos_sin_interleaved, cos_sin_duplicated_halves, cos_sin_duplicated_pairs, "
     "cos_only, "
     "sin_only"},
    {"mrope_section", "N,N,...", kOfTables, kRotary, "spec.*.mrope_section",
     "pairs of each axis (none)"},
    {"mrope_interleaved", "WORD", kOfTables, kRotary, "spec.*.mrope_interleaved",
     "false (default), true"},
    {"position_offset", "N", kOfTables, kSinusoidal, "spec.*.position_offset",
     "added to every position (0)"},
    {"zero_row", "N", kOfTables, kSinusoidal, "spec.*.zero_row",
     "the row, counted after the offset, that is all zero (none)"},
    {"max_period", "B", kOfTables, kTimestep, "spec.*.max_period", "base of the ladder (10000)"},
    {"downscale_freq_shift", "X", kOfTables, kTimestep, "spec.*.downscale_freq_shift",
     "what the ladder is shorter by, in pairs: 0 or 1 in models; required"},
    {"scale", "X", kOfTables, kTimestep, "spec.*.scale", "what angles are multiplied by (1)"},
    {"flip_sin_to_cos", "WORD", kOfTables, kTimestep, "spec.*.flip_sin_to_cos",
     "false (default), true: cosines before sines"},
    {"additive", "WORD", kOfTables, kNone, "spec.*.additive",
     "false (default), true: zeros to add instead of cosines and sines to turn by"},
    {"head_count", "N", kOfTables, kAlibi, "spec.*.head_count", "heads: elements in a row"},
    {"bias_max", "X", kOfTables, kAlibi, "spec.*.bias_max", "of the slopes (8)"},
    {"form", "WORD", kOfTables, kAlibi, "spec.*.form",
     "distance (default): -slope * |position|; key_position: +slope * position"},
    {"num_buckets", "N", kOfTables, kBuckets, "spec.*.num_buckets", "buckets in all (32)"},
    {"max_distance", "N", kOfTables, kBuckets, "spec.*.max_distance",
     "where the last bucket begins, about (128)"},
    {"bidirectional", "WORD", kOfTables, kBuckets, "spec.*.bidirectional",
     "true (default: encoders), false: keys after the query are all in bucket 0"},
    {"stddev", "X", kOfTables, kLearnedInit, "spec.*.stddev", "standard deviation (0.02)"},
    {"seed", "N", kOfTables, kLearnedInit, "spec.*.seed", "seed of the generator (0)"},
    {"stream", "N", kOfTables, kLearnedInit, "spec.*.stream", "stream of the generator (0)"},
    {"type", "WORD", kOfTables | kDescribe, kEvery | kConfig, "spec.element_type",
     "float32 (default), float64, float16, bfloat16; of relative_buckets int32 (default)"},
    {"numerics", "WORD", kOfTables, kEvery & ~kLearnedInit, "spec.numerics", "exact (default)"},

    {"start", "N", kRange | Bit(Verb::kDiagnose), 0, "start_position", "first position (0)"},
    {"count", "N", kRange | Bit(Verb::kLock), 0, "row_count",
     "number of rows; required, but for plot (256, or those there are) and lock (131072)"},
    {"positions", "P,P,...|@FILE", Bit(Verb::kGather), 0, "positions real_positions",
     "all integers, or all with '.' or 'e': fractional positions; required"},
    {"axes", "N", Bit(Verb::kGather), kRotary, "axes",
     "positions a row: 1 (default), or as many as --mrope_section has"},
    {"by", "K", Bit(Verb::kShift), 0, "by steps fractional_steps",
     "how far, an integer or a real number; required"},
    {"input", "FILE.npy", Bit(Verb::kShift) | Bit(Verb::kDiagnose), 0, "data rows",
     "the rows to shift or diagnose, - for stdin; their element type is the table's; required"},

    {"lock", "FILE", kVerify, 0, "", "what phasor lock wrote, - for stdin (positions.lock)"},

    {"output", "PATH", kServed | kServerLists | kDescribe, 0, "",
     "where the data goes (- for stdout)"},
    {"format", "WORD", kArrays, 0, "",
     "table, csv, npy, raw; by default as the suffix of --output says (.npy .csv .raw .bin), else "
     "table on a terminal, else csv"},
    {"server", "ADDRESS", kAsking, 0, "address", "(PHASOR_SERVER, or 127.0.0.1:50051)"},
    {"local", "", kServed | kServerLists, 0, "", "compute here and ask no server: the same bits"},
    {"timeout", "TIME", kAsking, 0, "timeout", "bound of one call, retries included (10s)"},
    {"help", "", kAllVerbs, 0, "", "print this"},
    {"version", "", kAllVerbs, 0, "", "print the version"},
};

std::string FlagLine(const FlagInfo& flag) {
  std::string left = absl::StrCat("  --", flag.name, flag.hint.empty() ? "" : "=", flag.hint);
  std::string line = absl::StrFormat("%-31s", left);
  // Long help is broken between words, under itself.
  constexpr std::size_t kWidth = 96;
  std::size_t column = line.size();
  for (absl::string_view word : absl::StrSplit(flag.help, ' ')) {
    if (column + 1 + word.size() > kWidth) {
      absl::StrAppend(&line, "\n", std::string(31, ' '));
      column = 31;
    }
    absl::StrAppend(&line, " ", word);
    column += 1 + word.size();
  }
  return line + "\n";
}

std::string OperandHint(const VerbInfo& verb) {
  return absl::StrCat(verb.operand.empty() ? "" : absl::StrCat(" ", FindFlag(verb.operand)->hint),
                      verb.has_scheme ? " SCHEME" : "");
}

std::string ToolHelp() {
  std::string text =
      "Exact position tables, from a phasord server or computed here.\n\n"
      "  phasor VERB SCHEME --flag=value ...\n\n"
      "Verbs:\n";
  for (const VerbInfo& verb : kVerbs) {
    absl::StrAppendFormat(&text, "  %-25s %s\n", absl::StrCat(verb.name, OperandHint(verb)),
                          verb.help);
  }
  absl::StrAppend(&text, "\nSchemes: ", SchemeNames(),
                  ". Flags stand before or after the verb, in "
                  "any order;\n--config=config.json instead of a scheme takes a model's own table. "
                  "Numbers are decimal.\n`phasor VERB --help` lists a verb's flags.\n\n"
                  "  phasor rows sinusoidal --width=4 --count=3 --local\n"
                  "  phasor export sinusoidal --width=512 --count=131072 --type=bfloat16 "
                  "--output=pe.npy\n"
                  "  phasor plot sinusoidal --width=128 --count=200\n\n"
                  "Exit status: 0; 2 for what the request got wrong; 1 for all else.\n");
  return text;
}

}  // namespace

absl::Span<const VerbInfo> Verbs() { return kVerbs; }
absl::Span<const SchemeInfo> Schemes() { return kSchemes; }
absl::Span<const FlagInfo> Flags() { return kFlags; }

std::string SchemeNames() {
  return absl::StrJoin(kSchemes, ", ", [](std::string* out, const SchemeInfo& scheme) {
    absl::StrAppend(out, scheme.name);
  });
}

const VerbInfo* FindVerb(absl::string_view name) {
  const auto* found = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                   [name](const VerbInfo& info) { return info.name == name; });
  return found == std::end(kVerbs) ? nullptr : found;
}

const VerbInfo& InfoOf(Verb verb) { return kVerbs[static_cast<std::size_t>(verb)]; }

const SchemeInfo* FindScheme(absl::string_view name) {
  const auto* found = std::find_if(std::begin(kSchemes), std::end(kSchemes),
                                   [name](const SchemeInfo& info) { return info.name == name; });
  return found == std::end(kSchemes) ? nullptr : found;
}

const SchemeInfo& InfoOf(Scheme scheme) {
  return scheme == Scheme::kConfig ? kConfigScheme : kSchemes[static_cast<std::size_t>(scheme)];
}

const FlagInfo* FindFlag(absl::string_view name) {
  const auto* found = std::find_if(std::begin(kFlags), std::end(kFlags),
                                   [name](const FlagInfo& info) { return info.name == name; });
  return found == std::end(kFlags) ? nullptr : found;
}

bool Applies(const FlagInfo& flag, Verb verb, std::optional<Scheme> scheme) {
  if ((flag.verbs & Bit(verb)) == 0) return false;
  return flag.schemes == 0 || (scheme.has_value() && (flag.schemes & Bit(*scheme)) != 0);
}

const FlagInfo* FlagOfField(absl::string_view path, Verb verb, std::optional<Scheme> scheme) {
  path = path.substr(0, path.find('['));
  for (const FlagInfo& flag : kFlags) {
    if (!Applies(flag, verb, scheme)) continue;
    const std::string fields =
        absl::StrReplaceAll(flag.fields, {{"*", scheme ? InfoOf(*scheme).name : ""}});
    for (absl::string_view field : absl::StrSplit(fields, ' ', absl::SkipEmpty())) {
      if (field == path) return &flag;
    }
  }
  return nullptr;
}

std::string HelpText(std::optional<Verb> verb) {
  if (!verb.has_value()) return ToolHelp();
  const VerbInfo& info = InfoOf(*verb);
  std::string text =
      absl::StrCat("phasor ", info.name, OperandHint(info), " --flag=value ...: ", info.help, "\n");
  const auto flags_of = [&](const SchemeInfo& scheme) {
    absl::StrAppend(&text, "\n", scheme.name, ":\n");
    for (const FlagInfo& flag : kFlags) {
      if (flag.schemes != 0 && Applies(flag, *verb, scheme.scheme)) text += FlagLine(flag);
    }
  };
  for (const SchemeInfo& scheme : kSchemes) {
    if (info.has_scheme) flags_of(scheme);
  }
  if (info.has_scheme || !info.operand.empty()) flags_of(kConfigScheme);
  text += "\n";
  for (const FlagInfo& flag : kFlags) {
    if (flag.schemes == 0 && Applies(flag, *verb, std::nullopt)) text += FlagLine(flag);
  }
  return text;
}

}  // namespace phasor::cli
