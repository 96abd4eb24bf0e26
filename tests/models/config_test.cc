#include "models/config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/core/errors.h"
#include "phasor/models/model.h"

namespace phasor::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Config Parsed(const std::string& text) {
  const absl::StatusOr<Config> config = Config::Parse(text);
  EXPECT_TRUE(config.ok()) << config.status();
  return *config;
}

void ExpectRefused(const std::string& text, const std::string& what) {
  const absl::StatusOr<Config> config = Config::Parse(text);
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(config.status()), "config_json");
  EXPECT_THAT(std::string(config.status().message()), HasSubstr(what));
}

TEST(Config, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "3", "\"x\"", "null", "{", "{\"a\": }", "{} {}", "\xff"}) {
    ExpectRefused(text, "no JSON object");
  }
}

TEST(Config, IsBounded) {
  ExpectRefused(std::string(kMaxConfigBytes + 1, ' '), "bytes");
  ExpectRefused("{\"a\": " + std::string(100000, '[') + std::string(100000, ']') + "}", "deeper");
  ExpectRefused(R"({"rope_theta": 1, "rope_theta": 2})", "twice");
  ExpectRefused(R"({"a": {"b": 1, "b": 2}})", "twice");
  EXPECT_TRUE(Config::Parse(R"({"a": {"b": 1}, "b": {"b": 1}})").ok());
}

TEST(Config, ReadsPythonsFloatsAsNull) {
  const Config config =
      Parsed(R"({"a": [0.0, Infinity], "b": -Infinity, "c": NaN, "d": "NaN \" Infinity", "e": 1})");
  EXPECT_EQ(config.Number("b"), std::nullopt);
  EXPECT_EQ(config.Number("c"), std::nullopt);
  EXPECT_EQ(config.Text("d"), "NaN \" Infinity");
  EXPECT_EQ(config.Integer("e"), 1);
  EXPECT_TRUE(config.status().ok());
}

TEST(Config, RemembersTheFirstWrongValue) {
  const Config config = Parsed(R"({"a": "x", "b": {"c": [1, "y"]}, "big": 1e300, "n": 1.5})");
  EXPECT_EQ(config.Number("a"), std::nullopt);
  EXPECT_EQ(FieldOf(config.status()), "config_json.a");
  EXPECT_EQ(config.Object("b")->Integers("c")->size(), 1U);
  EXPECT_EQ(FieldOf(config.status()), "config_json.a");
  const Config other = Parsed(R"({"b": {"c": [1, "y"]}, "big": 1e300, "n": 1.5})");
  EXPECT_EQ(other.Object("b")->Integers("c")->size(), 1U);
  EXPECT_EQ(FieldOf(other.status()), "config_json.b.c");
  EXPECT_EQ(other.Integer("big"), std::nullopt);
  EXPECT_EQ(other.Integer("n"), std::nullopt);
  EXPECT_EQ(Parsed(R"({"n": 8192.0})").Integer("n"), 8192);
  EXPECT_EQ(Parsed(R"({"n": 18446744073709551615})").Integer("n"), std::nullopt);
}

TEST(Config, TellsWhichKeysDecided) {
  const Config config = Parsed(
      R"({"rope_theta": 1, "rope_scaling": {"factor": 2, "odd": 3}, "vocab_size": 4,
          "alibi": false})");
  static_cast<void>(config.Number("rope_theta"));
  static_cast<void>(config.Number("absent"));
  static_cast<void>(config.ObjectIfAny("rope_scaling")->Number("factor"));
  EXPECT_THAT(config.used(), ElementsAre("rope_scaling", "rope_scaling.factor", "rope_theta"));
  EXPECT_THAT(config.ignored(), ElementsAre("alibi", "rope_scaling.odd"));
}

}  // namespace
}  // namespace phasor::models
