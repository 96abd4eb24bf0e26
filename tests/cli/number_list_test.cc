#include "client/cli/number_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/cli/temporary_directory.h"

namespace phasor::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
void ExpectRefused(const absl::StatusOr<T>& result, absl::string_view why) {
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(std::string(why)));
}

TEST(ParseNumber, SyntaxDecidesTheType) {
  EXPECT_EQ(*ParseNumber("-3"), Number(std::int64_t{-3}));
  EXPECT_EQ(*ParseNumber("9007199254740993"), Number(std::int64_t{9007199254740993}));
  EXPECT_EQ(*ParseNumber("-3.0"), Number(-3.0));
  EXPECT_EQ(*ParseNumber("1e3"), Number(1000.0));
  EXPECT_EQ(*ParseNumber("1E3"), Number(1000.0));
  EXPECT_EQ(*ParseNumber(".5"), Number(0.5));
}

TEST(ParseNumber, NeverClamps) {
  ExpectRefused(ParseNumber("9223372036854775808"), "64-bit");
  ExpectRefused(ParseNumber("1e400"), "binary64");
  for (absl::string_view text : {"", "-", "+1", "0x10", "1x", " 1", "inf", "nan", "-inf", "1_0"}) {
    ExpectRefused(ParseNumber(text), "");
  }
}

TEST(SplitList, SeparatesByCommasOrWhiteSpace) {
  EXPECT_THAT(*SplitList("5,5,1048575"), ElementsAre("5", "5", "1048575"));
  EXPECT_THAT(*SplitList(" 1\n2\t3 , 4\r\n,5\n"), ElementsAre("1", "2", "3", "4", "5"));
  EXPECT_TRUE(SplitList("")->empty());
  EXPECT_TRUE(SplitList(" \n ")->empty());
}

TEST(SplitList, RefusesMissingEntries) {
  ExpectRefused(SplitList("1,,2"), "entry 1");
  ExpectRefused(SplitList("1, ,2"), "entry 1");
  ExpectRefused(SplitList(",1"), "entry 0");
  ExpectRefused(SplitList("1,\n"), "entry 1");
}

TEST(ParsePositions, AreAllIntegersOrAllReals) {
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(*ParsePositions("5,-5,9007199254740992")),
              ElementsAre(5, -5, 9007199254740992));
  EXPECT_THAT(std::get<std::vector<double>>(*ParsePositions("0.5 1e0")), ElementsAre(0.5, 1.0));
  EXPECT_TRUE(std::get<std::vector<std::int64_t>>(*ParsePositions(" ")).empty());
  ExpectRefused(ParsePositions("1,0.5"), "entry 1: 0.5 is real");
  ExpectRefused(ParsePositions("0.5,1.0,1"), "entry 2: 1 is an integer");
  ExpectRefused(ParsePositions("1,2,x"), "entry 2: \"x\"");
}

TEST(ParseReals, TakeIntegersToo) {
  EXPECT_THAT(*ParseReals("1,0.01"), ElementsAre(1.0, 0.01));
  ExpectRefused(ParseReals("1,1e400"), "entry 1");
}

TEST(ReadListText, ReadsFiles) {
  TemporaryDirectory directory;
  EXPECT_EQ(*ReadListText("1,2"), "1,2");
  EXPECT_EQ(*ReadListText(absl::StrCat("@", directory.Write("list", "1 2\n"))), "1 2\n");
  ExpectRefused(ReadListText(""), "no number");
  EXPECT_EQ(ReadListText(absl::StrCat("@", directory.Path("missing"))).status().code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(ReadListText(absl::StrCat("@", directory.Path("."))).status().code(),
            absl::StatusCode::kInternal);
}

TEST(ParseTimeout, TakesUnitsAndPlainSeconds) {
  EXPECT_EQ(*ParseTimeout("10s"), absl::Seconds(10));
  EXPECT_EQ(*ParseTimeout("500ms"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseTimeout("1m30s"), absl::Seconds(90));
  EXPECT_EQ(*ParseTimeout("2"), absl::Seconds(2));
  EXPECT_EQ(*ParseTimeout("0.5"), absl::Milliseconds(500));
  for (absl::string_view text :
       {"", "0", "-1", "0s", "-1s", "inf", "-inf", "10 s", "10x", "s", "0x10s", "1e400"}) {
    EXPECT_EQ(ParseTimeout(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace phasor::cli
