#include "core/number_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace phasor {
namespace {

using ::testing::HasSubstr;

void ExpectRefused(const absl::Status& status, const std::string& text) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text.substr(0, 40)));
}

TEST(ParseInt64, ReadsDecimalsToBothEnds) {
  EXPECT_EQ(ParseInt64("0").value(), 0);
  EXPECT_EQ(ParseInt64("-0").value(), 0);
  EXPECT_EQ(ParseInt64("010").value(), 10);
  EXPECT_EQ(ParseInt64("9223372036854775807").value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(ParseInt64("-9223372036854775808").value(), std::numeric_limits<std::int64_t>::min());
}

TEST(ParseInt64, RefusesEverythingElse) {
  for (const std::string text :
       {"", " ", "1 ", " 1", "+1", "-", "--1", "0x10", "1e3", "1.0", "1_000", "ten",
        "9223372036854775808", "-9223372036854775809", "99999999999999999999"}) {
    ExpectRefused(ParseInt64(text).status(), text);
  }
}

TEST(ParseInt64, SaysThatALargeNumberDoesNotFit) {
  EXPECT_THAT(std::string(ParseInt64("99999999999999999999").status().message()),
              HasSubstr("does not fit"));
}

TEST(ParseFloat64, ReadsTheNearestNumber) {
  EXPECT_EQ(ParseFloat64("10000").value(), 10000.0);
  EXPECT_EQ(ParseFloat64("-.5").value(), -0.5);
  EXPECT_EQ(ParseFloat64("5.").value(), 5.0);
  EXPECT_EQ(ParseFloat64("1e-3").value(), 0x1.0624dd2f1a9fcp-10);
  EXPECT_EQ(ParseFloat64("1E+3").value(), 1000.0);
  EXPECT_EQ(ParseFloat64("1.7976931348623157e308").value(), std::numeric_limits<double>::max());
  EXPECT_EQ(ParseFloat64("5e-324").value(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(ParseFloat64("0e999").value(), 0.0);
  EXPECT_TRUE(std::signbit(ParseFloat64("-0.0").value()));
}

TEST(ParseFloat64, RefusesEverythingElse) {
  for (const std::string text :
       {"",         " 1",    "1 ",     "+1",     ".",           "-",    "-.",  "e5",
        "1e",       "1e+",   "1..2",   "0x1p3",  "inf",         "-inf", "nan", "-nan",
        "infinity", "1e400", "-1e400", "1e-400", "-0.001e-400", "1,5"}) {
    ExpectRefused(ParseFloat64(text).status(), text);
  }
}

// The message has to stay one readable line, and to say what was refused.
TEST(NumberText, QuotesAShortTextWhole) {
  const std::string text(40, '7');
  EXPECT_EQ(ParseInt64(text).status().message(), "\"" + text + "\" does not fit a 64-bit integer");
  EXPECT_EQ(ParseInt64("12x").status().message(), "\"12x\" is not a decimal integer");
  EXPECT_EQ(ParseFloat64("1,5").status().message(), "\"1,5\" is not a decimal number");
}

TEST(NumberText, CutsALongText) {
  const std::string text = std::string(30, '1') + std::string(100'000, 'x');
  for (const absl::Status& status : {ParseInt64(text).status(), ParseFloat64(text).status()}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr("\"" + std::string(30, '1') + "x"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("x...\" is not a decimal"));
    EXPECT_LT(status.message().size(), 100u);
  }
}

}  // namespace
}  // namespace phasor
