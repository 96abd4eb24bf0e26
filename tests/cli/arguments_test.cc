#include "client/cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/spec_flags.h"
#include "phasor/core/errors.h"

namespace phasor::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

void ExpectRefused(const std::vector<std::string>& words, absl::string_view what) {
  const absl::Status status = Arguments::Parse(words).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << testing::PrintToString(words);
  EXPECT_THAT(Arguments().Explain(status), HasSubstr(std::string(what)));
}

TEST(Arguments, FlagsStandAnywhere) {
  const std::vector<std::string> flags = {"--width=4", "--count=3", "--local"};
  for (std::size_t verb = 0; verb <= flags.size(); ++verb) {
    for (std::size_t scheme = verb; scheme <= flags.size(); ++scheme) {
      std::vector<std::string> words = flags;
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(scheme), "sinusoidal");
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(verb), "rows");
      const auto arguments = Arguments::Parse(words);
      ASSERT_TRUE(arguments.ok()) << arguments.status();
      EXPECT_EQ(arguments->verb(), Verb::kRows);
      EXPECT_EQ(arguments->scheme(), Scheme::kSinusoidal);
      EXPECT_EQ(arguments->Text("width"), "4");
      EXPECT_TRUE(arguments->Switch("local"));
    }
  }
}

TEST(Arguments, SwitchesTakeTrueAndFalse) {
  EXPECT_TRUE(Arguments::Parse({"table", "sinusoidal", "--local=true"})->Switch("local"));
  EXPECT_FALSE(Arguments::Parse({"table", "sinusoidal", "--local=false"})->Switch("local"));
  ExpectRefused({"table", "sinusoidal", "--local=1"}, "--local=1");
  ExpectRefused({"table", "sinusoidal", "--local="}, "--local=");
}

TEST(Arguments, RefusesWhatItDoesNotKnow) {
  ExpectRefused({}, "no verb");
  ExpectRefused({"row"}, "\"row\": unknown verb");
  ExpectRefused({"rows"}, "spec: no scheme");
  ExpectRefused({"rows", "sinus"}, "spec: unknown scheme \"sinus\"");
  ExpectRefused({"rows", "sinusoidal", "more"}, "\"more\": one word too many");
  ExpectRefused({"health", "sinusoidal"}, "one word too many");
  ExpectRefused({"rows", "sinusoidal", "--widht=4"}, "--widht: unknown flag");
  ExpectRefused({"rows", "sinusoidal", "-w=4"}, "-w: unknown flag");
  ExpectRefused({"rows", "sinusoidal", "--"}, "--: unknown flag");
  ExpectRefused({"rows", "sinusoidal", "--Width=4"}, "--Width: unknown flag");
}

TEST(Arguments, RefusesRepeatedFlags) {
  ExpectRefused({"rows", "sinusoidal", "--width=4", "--width=4"}, "--width: given twice");
  ExpectRefused({"--local", "rows", "sinusoidal", "--local=true"}, "--local: given twice");
}

TEST(Arguments, RefusesFlagsWithoutAValue) {
  ExpectRefused({"rows", "sinusoidal", "--width", "4"}, "--width: needs a value");
}

TEST(Arguments, RefusesFlagsWithoutMeaning) {
  ExpectRefused({"rows", "sinusoidal", "--seed=1"}, "--seed: has no meaning for rows sinusoidal");
  ExpectRefused({"rows", "learned_init", "--base=2"}, "--base: has no meaning");
  ExpectRefused({"rows", "learned_init", "--layout=cos_only"}, "--layout: has no meaning");
  ExpectRefused({"rows", "sinusoidal", "--positions=1"}, "--positions: has no meaning for rows");
  ExpectRefused({"gather", "sinusoidal", "--count=1"}, "--count: has no meaning for gather");
  ExpectRefused({"table", "sinusoidal", "--format=csv"}, "--format: has no meaning for table");
  ExpectRefused({"health", "--width=4"}, "--width: has no meaning for health");
  ExpectRefused({"health", "--local"}, "--local: has no meaning for health");
}

TEST(Arguments, HelpAndVersionNeedNothingElse) {
  EXPECT_TRUE(Arguments::Parse({"--help"})->Switch("help"));
  EXPECT_TRUE(Arguments::Parse({"rows", "--help"})->Switch("help"));
  EXPECT_TRUE(Arguments::Parse({"--version"})->Switch("version"));
}

TEST(Arguments, HelpOfAVerbListsItsFlagsAndNoOthers) {
  const std::string help = HelpText(Verb::kShift);
  for (const char* flag : {"--by=", "--input=", "--width=", "--type=", "--local", "--timeout="}) {
    EXPECT_THAT(help, HasSubstr(flag));
  }
  EXPECT_THAT(help, Not(HasSubstr("--positions")));
  EXPECT_THAT(HelpText(std::nullopt), HasSubstr("learned_init"));
}

TEST(Arguments, ExplainNamesTheFlagBehindAField) {
  const auto arguments = Arguments::Parse({"gather", "sinusoidal", "--width=7", "--positions=1,2",
                                           "--ladder=explicit", "--frequencies=1"});
  ASSERT_TRUE(arguments.ok());
  const auto explain = [&](absl::string_view field) {
    return arguments->Explain(FieldError(absl::StatusCode::kInvalidArgument, field, "is\nwrong"));
  };
  EXPECT_EQ(explain("spec.sinusoidal.width"), "--width=7: spec.sinusoidal.width: is wrong");
  EXPECT_EQ(explain("positions[1]"), "--positions=1,2: positions[1]: is wrong");
  EXPECT_EQ(explain("real_positions[0]"), "--positions=1,2: real_positions[0]: is wrong");
  EXPECT_EQ(explain("spec.sinusoidal.explicit.frequencies[0]"),
            "--frequencies=1: spec.sinusoidal.explicit.frequencies[0]: is wrong");
  EXPECT_EQ(explain("spec.element_type"), "--type: spec.element_type: is wrong");
  EXPECT_EQ(explain("spec"), "gather sinusoidal: spec: is wrong");
}

TEST(Arguments, ExplainShortensLongTexts) {
  const auto arguments =
      Arguments::Parse({"rows", "sinusoidal", "--width=" + std::string(10000, '1')});
  EXPECT_LT(arguments->Explain(arguments->Wrong("width", "too long")).size(), 200U);
}

absl::StatusOr<TableSpec> Spec(std::vector<std::string> flags) {
  const bool learned = flags[0].substr(0, 3) == "--m";
  flags.insert(flags.begin(), {"table", learned ? "learned_init" : "sinusoidal"});
  const auto arguments = Arguments::Parse(flags);
  if (!arguments.ok()) return arguments.status();
  return SpecFromFlags(*arguments);
}

void ExpectFieldRefused(const std::vector<std::string>& flags, absl::string_view field) {
  const auto spec = Spec(flags);
  EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument)
      << testing::PrintToString(flags);
  EXPECT_EQ(FieldOf(spec.status()), field) << spec.status();
}

TEST(SpecFromFlags, FillsEveryField) {
  EXPECT_EQ(*Spec({"--width=4"}), TableSpec(Sinusoidal{.width = 4}));
  EXPECT_EQ(*Spec({"--width=6", "--base=500000", "--ladder=downscaled", "--downscale_shift=1",
                   "--layout=cos_sin_duplicated_pairs", "--position_offset=-2", "--zero_row=1",
                   "--type=bfloat16", "--numerics=exact"}),
            TableSpec(Sinusoidal{.width = 6,
                                 .base = 500000.0,
                                 .ladder = DownscaledLadder{1.0},
                                 .layout = Layout::kCosSinDuplicatedPairs,
                                 .position_offset = -2,
                                 .zero_row = 1},
                      ElementType::kBfloat16));
  EXPECT_EQ(*Spec({"--width=4", "--ladder=explicit", "--frequencies=1,0.01"}),
            TableSpec(Sinusoidal{.width = 4, .ladder = ExplicitLadder{{1, 0.01}}}));
  EXPECT_EQ(*Spec({"--width=4", "--ladder=inclusive"}),
            TableSpec(Sinusoidal{.width = 4, .ladder = InclusiveLadder{}}));
  EXPECT_EQ(
      *Spec({"--max_positions=10", "--width=3", "--stddev=1e-2", "--seed=-1", "--stream=54",
             "--type=float64"}),
      TableSpec(
          LearnedInit{.max_positions = 10, .width = 3, .stddev = 0.01, .seed = -1, .stream = 54},
          ElementType::kFloat64));
}

TEST(SpecFromFlags, EveryLayoutHasItsWord) {
  for (int i = 0; i < 8; ++i) {
    const auto layout = static_cast<Layout>(i);
    std::string word(LayoutName(layout));
    for (char& c : word) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(*Spec({"--width=4", "--layout=" + word}),
              TableSpec(Sinusoidal{.width = 4, .layout = layout}));
  }
}

TEST(SpecFromFlags, NamesTheFieldOfAWrongText) {
  ExpectFieldRefused({"--base=2"}, "spec.sinusoidal.width");
  ExpectFieldRefused({"--width=4.0"}, "spec.sinusoidal.width");
  ExpectFieldRefused({"--width=0x4"}, "spec.sinusoidal.width");
  ExpectFieldRefused({"--width="}, "spec.sinusoidal.width");
  ExpectFieldRefused({"--width=99999999999999999999"}, "spec.sinusoidal.width");
  ExpectFieldRefused({"--width=4", "--base=1e400"}, "spec.sinusoidal.base");
  ExpectFieldRefused({"--width=4", "--base=inf"}, "spec.sinusoidal.base");
  ExpectFieldRefused({"--width=4", "--layout=SIN_ONLY"}, "spec.sinusoidal.layout");
  ExpectFieldRefused({"--width=4", "--ladder=slow"}, "spec.sinusoidal.ladder");
  ExpectFieldRefused({"--width=4", "--zero_row=none"}, "spec.sinusoidal.zero_row");
  ExpectFieldRefused({"--width=4", "--position_offset=1.5"}, "spec.sinusoidal.position_offset");
  ExpectFieldRefused({"--width=4", "--type=float8"}, "spec.element_type");
  ExpectFieldRefused({"--width=4", "--type=unspecified"}, "spec.element_type");
  ExpectFieldRefused({"--width=4", "--numerics=torch_float32"}, "spec.numerics");
  ExpectFieldRefused({"--width=4", "--numerics=fast"}, "spec.numerics");
  ExpectFieldRefused({"--max_positions=4"}, "spec.learned_init.width");
  ExpectFieldRefused({"--max_positions=4", "--width=4", "--seed=x"}, "spec.learned_init.seed");
  ExpectFieldRefused({"--max_positions=4", "--width=4", "--stream=1e3"},
                     "spec.learned_init.stream");
  ExpectFieldRefused({"--max_positions=4", "--width=4", "--stddev=nan"},
                     "spec.learned_init.stddev");
}

TEST(SpecFromFlags, RefusesFlagsOfAnotherLadder) {
  ExpectFieldRefused({"--width=4", "--downscale_shift=1"},
                     "spec.sinusoidal.downscaled.downscale_shift");
  ExpectFieldRefused({"--width=4", "--ladder=inclusive", "--downscale_shift=1"},
                     "spec.sinusoidal.downscaled.downscale_shift");
  ExpectFieldRefused({"--width=4", "--frequencies=1,0.01"}, "spec.sinusoidal.explicit.frequencies");
  ExpectFieldRefused({"--width=4", "--ladder=explicit"}, "spec.sinusoidal.explicit.frequencies");
  ExpectFieldRefused({"--width=4", "--ladder=explicit", "--frequencies=1,x"},
                     "spec.sinusoidal.explicit.frequencies");
}

}  // namespace
}  // namespace phasor::cli
