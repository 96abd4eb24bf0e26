#include "phasor/core/timestep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ladder.h"
#include "core/real.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

std::vector<Timestep> Specs() {
  return {
      {.width = 320, .downscale_freq_shift = 0, .flip_sin_to_cos = true},
      {.width = 64, .downscale_freq_shift = 1},
      {.width = 64, .downscale_freq_shift = 1, .scale = 1000},
      {.width = 33, .downscale_freq_shift = 0, .scale = 0x1p-32},
      {.width = 9, .max_period = 0x1p64, .downscale_freq_shift = 3.5, .scale = 0x1p32},
      {.width = 12, .max_period = 4096, .downscale_freq_shift = 2, .scale = 0.75},
      {.width = 8, .max_period = 9, .downscale_freq_shift = 0.1, .scale = 3.7},
      {.width = 2, .downscale_freq_shift = 0.5, .flip_sin_to_cos = true},
      {.width = 3, .downscale_freq_shift = 0, .flip_sin_to_cos = true},
  };
}

CanonicalSpec Checked(const Timestep& spec, ElementType type = ElementType::kFloat32) {
  auto canonical = CanonicalSpec::Create(TableSpec(spec, type));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return *std::move(canonical);
}

TEST(TimestepTest, RowsAgreeWithTheOracle) {
  const std::vector<double> positions = {0, 1, 999, 0.5, -0.25, 23.75, 1e-9, 0x1p53, 1 / 3.0};
  for (const Timestep& spec : Specs()) {
    for (const ElementType type : kTypes) {
      const auto table = LocalTable::Create(Checked(spec, type));
      const oracle::Table oracle(spec, type);
      const std::int64_t row_width = table->spec().row_width();
      ASSERT_EQ(row_width, spec.width);
      std::vector<std::byte> rows(positions.size() * table->spec().row_bytes());
      ASSERT_TRUE(table->GatherInto(positions, absl::MakeSpan(rows)).ok());
      std::vector<std::byte> range(40 * table->spec().row_bytes());
      ASSERT_TRUE(table->ReadInto(-3, 40, absl::MakeSpan(range)).ok());
      const std::int64_t step = spec.width > 40 ? 7 : 1;
      for (std::int64_t column = 0; column < row_width; column += step) {
        for (std::size_t n = 0; n < positions.size(); ++n) {
          const double whole = std::trunc(positions[n]);
          ASSERT_EQ(
              oracle::Element(type, rows.data(), static_cast<std::int64_t>(n) * row_width + column),
              oracle.Column({static_cast<std::int64_t>(whole), positions[n] - whole}, column))
              << "width " << spec.width << " timestep " << positions[n] << " column " << column;
        }
        for (std::int64_t row = 0; row < 40; ++row) {
          ASSERT_EQ(oracle::Element(type, range.data(), row * row_width + column),
                    oracle.Column({row - 3, 0}, column))
              << "width " << spec.width << " timestep " << row - 3 << " column " << column;
        }
      }
    }
  }
}

TEST(TimestepTest, FrequenciesAgreeWithTheOracle) {
  for (const Timestep& spec : Specs()) {
    const oracle::Table oracle(spec);
    const std::vector<double> got = *Frequencies(Checked(spec));
    ASSERT_EQ(static_cast<std::int64_t>(got.size()), spec.width / 2);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], oracle.Frequency(static_cast<std::int64_t>(i))) << spec.width << " " << i;
    }
  }
}

TEST(TimestepTest, FrequenciesThatAreBinaryNumbersAreTold) {
  const MpfrScope scope;
  const auto exact = [](const FrequencyLadder& of, std::int64_t i) {
    Real w(FrequencyLadder::kChainBits);
    of.Frequency(i, w);
    return of.ExactFrequency(i, w);
  };
  // 3 * 9^(-1/2) = 1, and 9^(-3/2) 3 = 1/9.
  const FrequencyLadder thirds(
      Timestep{.width = 8, .max_period = 9, .downscale_freq_shift = 2, .scale = 3});
  EXPECT_EQ(exact(thirds, 0), 3.0);
  EXPECT_EQ(exact(thirds, 1), 1.0);
  EXPECT_EQ(exact(thirds, 2), std::nullopt);
  const FrequencyLadder powers(
      Timestep{.width = 8, .max_period = 4096, .downscale_freq_shift = 1, .scale = 0.75});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(exact(powers, i), std::ldexp(0.75, -4 * i));
  // 4096^(-2/3.9): its root has 2^54 in its denominator.
  const FrequencyLadder none(
      Timestep{.width = 8, .max_period = 4096, .downscale_freq_shift = 0.1, .scale = 0.75});
  EXPECT_EQ(exact(none, 0), 0.75);
  EXPECT_EQ(exact(none, 2), std::nullopt);
}

void ExpectRefused(const Timestep& spec, const std::string& field, const std::string& value) {
  const absl::Status status = CanonicalSpec::Create(spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(FieldOf(status), "spec.timestep." + field) << status;
  EXPECT_NE(std::string(status.message()).find(value), std::string::npos) << status;
}

TEST(TimestepTest, WhatIsRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto spec = [](std::int64_t width, std::optional<double> shift) {
    return Timestep{.width = width, .downscale_freq_shift = shift};
  };
  for (const std::int64_t width : {-2, 0, 1, 65537}) {
    ExpectRefused(spec(width, 0.0), "width", std::to_string(width));
  }
  ExpectRefused(spec(8, std::nullopt), "downscale_freq_shift", "required");
  // One pair and a shift of 1 is 0/0 in diffusers, a NaN.
  for (const std::int64_t width : {2, 3}) {
    ExpectRefused(spec(width, 1.0), "downscale_freq_shift", "1 is not in 0 ... 0.5 (1 pair less");
  }
  ExpectRefused(spec(8, -1.0), "downscale_freq_shift", "-1");
  ExpectRefused(spec(8, 3.75), "downscale_freq_shift", "3.75");
  ExpectRefused(spec(8, kNan), "downscale_freq_shift", "nan");
  for (const double period : {0.0, 1.0, -2.0, 0x1.0000000000001p64, kNan}) {
    ExpectRefused({.width = 8, .max_period = period, .downscale_freq_shift = 0}, "max_period", "");
  }
  for (const double scale : {0.0, -1.0, 0x1.fffffffffffffp-33, 0x1.0000000000001p32, kNan}) {
    ExpectRefused({.width = 8, .downscale_freq_shift = 0, .scale = scale}, "scale", "");
  }
  for (const Timestep& taken : Specs()) EXPECT_TRUE(CanonicalSpec::Create(taken).ok());
}

TEST(TimestepTest, ShapeOfItsRows) {
  const CanonicalSpec spec = Checked({.width = 7, .downscale_freq_shift = 1});
  EXPECT_EQ(spec.row_width(), 7);
  EXPECT_EQ(spec.pairs(), 3);
  EXPECT_EQ(spec.first_position(), -kMaxPosition);
  EXPECT_EQ(spec.last_position(), kMaxPosition);
  EXPECT_FALSE(spec.bounded());
}

}  // namespace
}  // namespace phasor
