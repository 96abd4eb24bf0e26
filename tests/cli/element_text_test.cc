#include "client/cli/element_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

namespace phasor::cli {
namespace {

template <typename T>
std::string Text(ElementType type, T bits) {
  std::string text;
  AppendElement(type, reinterpret_cast<const std::byte*>(&bits), text);
  return text;
}

/// A 16-bit format by its definition in IEEE 754.
struct Format {
  ElementType type;
  int fraction_bits;
  int bias;

  int infinity() const { return 0x7fff >> fraction_bits << fraction_bits; }
  long double Value(int magnitude) const {
    const int exponent = magnitude >> fraction_bits;
    const int fraction = magnitude & ((1 << fraction_bits) - 1);
    const long double hidden = exponent == 0 ? 0 : 1;
    return std::ldexp(hidden + std::ldexp(static_cast<long double>(fraction), -fraction_bits),
                      std::max(exponent, 1) - bias);
  }
  /// The magnitude that a non-negative number rounds to, by bisection.
  int Round(long double number) const {
    int low = 0, high = infinity();
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (Value(middle) <= number ? low : high) = middle;
    }
    const long double midpoint = (Value(low) + Value(high)) / 2;
    if (number != midpoint) return number < midpoint ? low : high;
    return low % 2 == 0 ? low : high;
  }
  /// Whether some decimal of `digits` significant digits reads back.
  bool HasDecimal(int magnitude, int digits) const {
    const long double value = Value(magnitude);
    char text[64];
    std::snprintf(text, sizeof text, "%.*Le", digits - 1, value);
    const int exponent = std::atoi(std::strchr(text, 'e') + 1) - digits + 1;
    std::string significand;
    for (const char* at = text; *at != 'e'; ++at) {
      if (*at != '.') significand += *at;
    }
    const long nearest = std::stol(significand);
    for (long candidate = nearest - 1; candidate <= nearest + 1; ++candidate) {
      const std::string decimal = std::to_string(candidate) + "e" + std::to_string(exponent);
      if (Round(std::strtold(decimal.c_str(), nullptr)) == magnitude) return true;
    }
    return false;
  }
};

int SignificantDigits(const std::string& text) {
  std::string digits;
  for (char c : text.substr(0, text.find('e'))) {
    if (std::isdigit(c) && (c != '0' || !digits.empty())) digits += c;
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  return static_cast<int>(digits.size());
}

class HalfTypes : public testing::TestWithParam<Format> {};

TEST_P(HalfTypes, EveryPatternReadsBack) {
  const Format format = GetParam();
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const std::string text = Text(format.type, static_cast<std::uint16_t>(pattern));
    const int magnitude = pattern & 0x7fff;
    if (magnitude >= format.infinity()) {
      ASSERT_EQ(text, magnitude > format.infinity() ? "nan" : pattern < 0x8000 ? "inf" : "-inf");
      continue;
    }
    ASSERT_EQ(text[0] == '-', pattern >= 0x8000) << text;
    const std::string absolute = text.substr(text[0] == '-');
    ASSERT_EQ(format.Round(std::strtold(absolute.c_str(), nullptr)), magnitude) << text;
    ASSERT_EQ(format.Round(std::strtod(absolute.c_str(), nullptr)), magnitude) << text;
    ASSERT_EQ(format.Round(std::strtof(absolute.c_str(), nullptr)), magnitude) << text;
  }
}

TEST_P(HalfTypes, NoShorterDecimalReadsBack) {
  const Format format = GetParam();
  int longer = 0;
  for (int magnitude = 1; magnitude < format.infinity(); ++magnitude) {
    const std::string text = Text(format.type, static_cast<std::uint16_t>(magnitude));
    const int digits = SignificantDigits(text);
    ASSERT_LE(digits, 5) << text;
    if (digits > 1 && format.HasDecimal(magnitude, digits - 1)) ++longer;
  }
  // A decimal that binary32 moves across a midpoint is passed over.
  EXPECT_LE(longer, 2);
}

INSTANTIATE_TEST_SUITE_P(All, HalfTypes,
                         testing::Values(Format{ElementType::kFloat16, 10, 15},
                                         Format{ElementType::kBfloat16, 7, 127}),
                         [](const auto& tested) {
                           return tested.param.fraction_bits == 10 ? "Float16" : "Bfloat16";
                         });

TEST(ElementText, KnownHalves) {
  EXPECT_EQ(Text<std::uint16_t>(ElementType::kFloat16, 0x3c00), "1");
  EXPECT_EQ(Text<std::uint16_t>(ElementType::kFloat16, 0x2e66), "0.1");
  EXPECT_EQ(Text<std::uint16_t>(ElementType::kFloat16, 0x8001), "-6e-08");
  EXPECT_EQ(Text<std::uint16_t>(ElementType::kFloat16, 0x8000), "-0");
  EXPECT_EQ(Text<std::uint16_t>(ElementType::kBfloat16, 0x3dcd), "0.1");
  EXPECT_EQ(Text<std::uint16_t>(ElementType::kBfloat16, 0x0000), "0");
  EXPECT_EQ(Text<std::uint16_t>(ElementType::kBfloat16, 0xbf80), "-1");
}

TEST(ElementText, WideTypesReadBack) {
  std::uint32_t bits = 1;
  for (int i = 0; i < 100000; ++i, bits = bits * 1664525 + 1013904223) {
    const float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    const std::string text = Text(ElementType::kFloat32, value);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(std::strtof(text.c_str(), nullptr)), bits) << text;
    ASSERT_LE(text.size(), std::string("-1.23456789e-38").size()) << text;
  }
  EXPECT_EQ(Text(ElementType::kFloat32, 0.1F), "0.1");
  EXPECT_EQ(Text(ElementType::kFloat32, -0.0F), "-0");
  EXPECT_EQ(Text(ElementType::kFloat64, 0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(Text(ElementType::kFloat64, -0.0), "-0");
  EXPECT_EQ(Text(ElementType::kFloat64, static_cast<double>(NAN)), "nan");
}

TEST(ElementValue, KnowsEveryType) {
  const float one = 1.5F;
  EXPECT_EQ(ElementValue(ElementType::kFloat32, reinterpret_cast<const std::byte*>(&one)), 1.5);
  const std::uint16_t half = 0xc000;
  EXPECT_EQ(ElementValue(ElementType::kFloat16, reinterpret_cast<const std::byte*>(&half)), -2);
  EXPECT_EQ(ElementValue(ElementType::kBfloat16, reinterpret_cast<const std::byte*>(&half)), -2);
}

}  // namespace
}  // namespace phasor::cli
