#include "phasor/rotary.h"

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/phasor.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

using testing::ElementsAreArray;

constexpr Pairing kPairings[] = {Pairing::kHalfSplit, Pairing::kInterleaved};

Table Open(const Sinusoidal& spec, ElementType type = ElementType::kFloat32) {
  return *Client::Local().Open({spec, type});
}

std::vector<float> Activations(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(size);
  for (float& value : x) value = normal(random);
  return x;
}

Bfloat16 Rounded(float value) {
  oracle::Number number(24);
  mpfr_set_flt(number.v, value, MPFR_RNDN);
  return {static_cast<std::uint16_t>(oracle::Round(ElementType::kBfloat16, number.v))};
}

std::vector<Bfloat16> Rounded(const std::vector<float>& x) {
  std::vector<Bfloat16> result;
  std::transform(x.begin(), x.end(), std::back_inserter(result),
                 [](float value) { return Rounded(value); });
  return result;
}

// cos and sin of the paper's ladder, as a framework writes them: exact enough to
// be rounded to float32.
struct Angles {
  std::vector<float> cos;
  std::vector<float> sin;
};
Angles AnglesOf(std::int64_t position, std::int64_t width, long double base = 10000) {
  Angles angles;
  for (std::int64_t i = 0; i < width / 2; ++i) {
    const long double angle =
        static_cast<long double>(position) *
        std::pow(base, -2 * static_cast<long double>(i) / static_cast<long double>(width));
    angles.cos.push_back(static_cast<float>(std::cos(angle)));
    angles.sin.push_back(static_cast<float>(std::sin(angle)));
  }
  return angles;
}

// One head by the formulas of the two families, whole vectors as they write
// them: x * cos + rotate(x) * sin.
std::vector<float> Framework(const std::vector<float>& head, std::int64_t width,
                             const Angles& angles, Pairing pairing) {
  const auto w = static_cast<std::size_t>(width);
  std::vector<float> cos(w);
  std::vector<float> sin(w);
  std::vector<float> rotated(w);
  for (std::size_t i = 0; i < w; ++i) {
    if (pairing == Pairing::kHalfSplit) {  // cat(freqs, freqs); cat(-x2, x1)
      cos[i] = angles.cos[i % (w / 2)];
      sin[i] = angles.sin[i % (w / 2)];
      rotated[i] = i < w / 2 ? -head[i + w / 2] : head[i - w / 2];
    } else {  // repeat_interleave(freqs, 2); stack(-x[1::2], x[::2])
      cos[i] = angles.cos[i / 2];
      sin[i] = angles.sin[i / 2];
      rotated[i] = i % 2 == 0 ? -head[i + 1] : head[i - 1];
    }
  }
  std::vector<float> result = head;
  for (std::size_t i = 0; i < w; ++i) {
    const volatile float a = head[i] * cos[i];  // rounded, and not fused with what follows
    const volatile float b = rotated[i] * sin[i];
    result[i] = a + b;
  }
  return result;
}

// With every kind of vector that the machine has.
template <typename Test>
void ForEachKindOfVector(const Test& test) {
  hwy::SetSupportedTargetsForTest(0);
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    SCOPED_TRACE(hwy::TargetName(left & -left));
    hwy::SetSupportedTargetsForTest(left & -left);
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(ApplyRotaryTest, OneNewTokenEachOfABatch) {
  constexpr std::int64_t kWidth = 8;
  constexpr std::size_t kHeads = 3;
  const Table table = Open({.width = kWidth});
  const std::vector<std::int64_t> positions = {17, 0, 4093, 17, 131071};
  for (const Pairing pairing : kPairings) {
    std::vector<float> x = Activations(positions.size() * kHeads * kWidth);
    const std::vector<float> before = x;
    ASSERT_TRUE(ApplyRotary(absl::MakeSpan(x), positions, table, pairing).ok());
    for (std::size_t b = 0; b < positions.size(); ++b) {
      for (std::size_t h = 0; h < kHeads; ++h) {
        const auto begin = static_cast<std::ptrdiff_t>((b * kHeads + h) * kWidth);
        const std::vector<float> head(before.begin() + begin, before.begin() + begin + kWidth);
        const std::vector<float> want =
            Framework(head, kWidth, AnglesOf(positions[b], kWidth), pairing);
        EXPECT_THAT(std::vector<float>(x.begin() + begin, x.begin() + begin + kWidth),
                    ElementsAreArray(want))
            << b << " " << h;
      }
    }
  }
}

TEST(ApplyRotaryTest, EveryWidthAndVectorGivesTheBitsOfTheFrameworksFormula) {
  ForEachKindOfVector([] {
    for (std::int64_t width = 2; width <= 70; width += 2) {
      const Table table = Open({.width = width});
      const Angles angles = AnglesOf(1234, width);
      for (const Pairing pairing : kPairings) {
        // Not aligned, a head that is wider, and something behind that stays.
        const std::int64_t head_width = width + 3;
        std::vector<float> memory = Activations(static_cast<std::size_t>(2 * head_width + 2));
        const std::vector<float> before = memory;
        const absl::Span<float> x = absl::MakeSpan(memory).subspan(1, 2 * head_width);
        ASSERT_TRUE(ApplyRotary(x, {1234}, table, pairing, head_width).ok());
        std::vector<float> want = before;
        for (const std::int64_t begin : {std::int64_t{1}, 1 + head_width}) {
          const std::vector<float> head(before.begin() + begin,
                                        before.begin() + begin + head_width);
          const std::vector<float> turned = Framework(head, width, angles, pairing);
          std::copy(turned.begin(), turned.end(), want.begin() + begin);
        }
        ASSERT_THAT(memory, ElementsAreArray(want)) << width;

        std::vector<Bfloat16> narrow = Rounded(before);
        std::vector<Bfloat16> want_narrow = narrow;
        for (const std::int64_t begin : {std::int64_t{1}, 1 + head_width}) {
          std::vector<float> head;
          for (std::int64_t i = 0; i < width; ++i) head.push_back(ToFloat(narrow[begin + i]));
          const std::vector<Bfloat16> turned = Rounded(Framework(head, width, angles, pairing));
          std::copy(turned.begin(), turned.end(), want_narrow.begin() + begin);
        }
        ASSERT_TRUE(ApplyRotary(absl::MakeSpan(narrow).subspan(1, 2 * head_width), {1234}, table,
                                pairing, head_width)
                        .ok());
        ASSERT_TRUE(narrow == want_narrow) << width;
      }
    }
  });
}

TEST(ApplyRotaryTest, IsWithinItsBoundOfTheRealRotation) {
  constexpr std::int64_t kWidth = 64;
  const Table table = Open({.width = kWidth, .base = 500000.0});
  for (const std::int64_t position : {1L, 8191L, 131071L, 1048575L, -77L}) {
    std::vector<float> x = Activations(kWidth);
    const std::vector<float> before = x;
    ASSERT_TRUE(ApplyRotary(absl::MakeSpan(x), {position}, table, Pairing::kInterleaved).ok());
    for (std::size_t i = 0; i < kWidth; i += 2) {
      const long double angle =
          static_cast<long double>(position) *
          std::pow(500000.0L, -static_cast<long double>(i) / static_cast<long double>(kWidth));
      const long double a = before[i];
      const long double b = before[i + 1];
      const long double bound = 3 * 0x1p-24L * (std::fabs(a) + std::fabs(b));
      EXPECT_LE(std::fabs(x[i] - (a * std::cos(angle) - b * std::sin(angle))), bound);
      EXPECT_LE(std::fabs(x[i + 1] - (a * std::sin(angle) + b * std::cos(angle))), bound);
    }
  }
}

TEST(ApplyRotaryTest, Bfloat16KeepsWhatHasNoNumber) {
  const Table table = Open({.width = 2});
  const float inf = std::numeric_limits<float>::infinity();
  ForEachKindOfVector([&] {
    for (const Pairing pairing : kPairings) {
      // The least NaN: its payload is in the bits that rounding drops.
      std::vector<Bfloat16> x = {{0x7F81}, {0x3F80}, {0x7F80}, {0x3F80}};
      ASSERT_TRUE(ApplyRotary(absl::MakeSpan(x), {0}, table, pairing).ok());
      EXPECT_TRUE(std::isnan(ToFloat(x[0])));
      EXPECT_EQ(ToFloat(x[2]), inf);
    }
  });
}

TEST(ApplyRotaryTest, Bfloat16TiesGoToEven) {
  constexpr std::int64_t kWidth = 70;
  const Table table =
      *Client::Local().Open(TableSpec(Rotary{.width = kWidth, .attention_factor = 1.5}));
  ForEachKindOfVector([&] {
    for (const Pairing pairing : kPairings) {
      // 129 * 1.5 = 193.5 and 131 * 1.5 = 196.5, in units of 2^-7.
      for (const std::uint16_t sign : {0x0000, 0x8000}) {
        const auto all = [&](int bits) {
          return std::vector<Bfloat16>(kWidth, {static_cast<std::uint16_t>(sign | bits)});
        };
        std::vector<Bfloat16> up = all(0x3F81);
        std::vector<Bfloat16> down = all(0x3F83);
        ASSERT_TRUE(ApplyRotary(absl::MakeSpan(up), {0}, table, pairing).ok());
        ASSERT_TRUE(ApplyRotary(absl::MakeSpan(down), {0}, table, pairing).ok());
        EXPECT_TRUE(up == all(0x3FC2));
        EXPECT_TRUE(down == all(0x3FC4));
      }
    }
  });
}

TEST(ApplyRotaryTest, EveryLayoutWithBothHalvesTurnsAlike) {
  const std::vector<float> before = Activations(12);
  std::vector<float> first;
  for (const Layout layout : {Layout::kSinCosInterleaved, Layout::kSinCosHalves,
                              Layout::kCosSinHalves, Layout::kCosSinInterleaved,
                              Layout::kCosSinDuplicatedHalves, Layout::kCosSinDuplicatedPairs}) {
    std::vector<float> x = before;
    ASSERT_TRUE(ApplyRotary(absl::MakeSpan(x), {77}, Open({.width = 6, .layout = layout}),
                            Pairing::kHalfSplit)
                    .ok());
    if (first.empty()) first = x;
    EXPECT_THAT(x, ElementsAreArray(first)) << LayoutName(layout);
  }
}

TEST(ApplyRotaryTest, NarrowTablesTurnByTheirNumbers) {
  for (const ElementType type : {ElementType::kBfloat16, ElementType::kFloat16}) {
    const Table table = Open({.width = 2}, type);
    const oracle::Table oracle(Sinusoidal{.width = 2}, type);
    const auto cos = static_cast<float>(oracle::Value(type, oracle.Cosine(0, {3, 0})));
    const auto sin = static_cast<float>(oracle::Value(type, oracle.Sine(0, {3, 0})));
    std::vector<float> x = {1, 0};
    ASSERT_TRUE(ApplyRotary(absl::MakeSpan(x), {3}, table, Pairing::kInterleaved).ok());
    EXPECT_THAT(x, testing::ElementsAre(cos, sin));
  }
}

TEST(ApplyRotaryTest, ScoresDependOnTheDistanceAlone) {
  constexpr std::int64_t kWidth = 128;
  const Table table = Open({.width = kWidth});
  const std::vector<float> query = Activations(kWidth, 2);
  const std::vector<float> key = Activations(kWidth, 3);
  const auto score = [&](std::int64_t p, std::int64_t q, Pairing pairing) {
    std::vector<float> a = query;
    std::vector<float> b = key;
    EXPECT_TRUE(ApplyRotary(absl::MakeSpan(a), {p}, table, pairing).ok());
    EXPECT_TRUE(ApplyRotary(absl::MakeSpan(b), {q}, table, pairing).ok());
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
  };
  for (const Pairing pairing : kPairings) {
    for (const std::int64_t distance : {0L, 1L, 63L, 5000L}) {
      const double near = score(distance, 0, pairing);
      for (const std::int64_t q : {1L, 1000L, 131072L, 1000000L}) {
        EXPECT_NEAR(score(q + distance, q, pairing), near, 5e-5) << distance << " " << q;
      }
      EXPECT_GT(std::fabs(score(distance + 1, 0, pairing) - near), 1e-2);
    }
  }
}

TEST(ShiftRotaryTest, TakesKeysFromTheirPositionToAnother) {
  constexpr std::int64_t kWidth = 32;
  // With an offset, which positions have and distances do not.
  for (const std::int64_t offset : {0L, 2L}) {
    const Table table = Open({.width = kWidth, .position_offset = offset});
    for (const Pairing pairing : kPairings) {
      const std::vector<float> before = Activations(3 * 40);
      std::vector<float> moved = before;
      std::vector<float> there = before;
      ASSERT_TRUE(ApplyRotary(absl::MakeSpan(moved), {5000, 5001, 7}, table, pairing, 40).ok());
      ASSERT_TRUE(ShiftRotary(absl::MakeSpan(moved), {-4096, -4096, 93}, table, pairing, 40).ok());
      ASSERT_TRUE(ApplyRotary(absl::MakeSpan(there), {904, 905, 100}, table, pairing, 40).ok());
      for (std::size_t i = 0; i < there.size(); ++i) EXPECT_NEAR(moved[i], there[i], 2e-6F) << i;
    }
  }
}

TEST(ShiftRotaryTest, KeepsTheLengthOverManyShifts) {
  const Table table = Open({.width = 64, .position_offset = 3});
  std::vector<float> x = Activations(64);
  const auto length = [&] {
    double sum = 0;
    for (const float value : x) sum += static_cast<double>(value) * value;
    return std::sqrt(sum);
  };
  const double before = length();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(ShiftRotary(absl::MakeSpan(x), {-1}, table, Pairing::kHalfSplit).ok());
  }
  EXPECT_NEAR(length() / before, 1, 2e-5);
}

TEST(ShiftRotaryTest, ByNothingGivesTheKeysBack) {
  const Table table = Open({.width = 64, .position_offset = 3});
  const std::vector<float> before = Activations(2 * 64);
  std::vector<float> x = before;
  ASSERT_TRUE(ShiftRotary(absl::MakeSpan(x), {0, 0}, table, Pairing::kHalfSplit).ok());
  EXPECT_THAT(x, ElementsAreArray(before));
}

TEST(ApplyRotaryTest, RotaryTablesTurnToo) {
  const Table sinusoidal = Open({.width = 32});
  const Table rotary = *Client::Local().Open(Rotary{.width = 32});
  // Twice the factor is twice the result: a power of two rounds nothing.
  const Table twice = *Client::Local().Open(Rotary{.width = 32, .attention_factor = 2.0});
  for (const Pairing pairing : kPairings) {
    const std::vector<float> before = Activations(3 * 40);
    std::vector<float> want = before;
    std::vector<float> got = before;
    std::vector<float> doubled = before;
    ASSERT_TRUE(ApplyRotary(absl::MakeSpan(want), {5000, 5001, 7}, sinusoidal, pairing, 40).ok());
    ASSERT_TRUE(ApplyRotary(absl::MakeSpan(got), {5000, 5001, 7}, rotary, pairing, 40).ok());
    ASSERT_TRUE(ApplyRotary(absl::MakeSpan(doubled), {5000, 5001, 7}, twice, pairing, 40).ok());
    EXPECT_THAT(got, ElementsAreArray(want));
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(doubled[i], i % 40 < 32 ? 2 * want[i] : before[i]) << i;
    }
    // The factor is in the keys already.
    const absl::Status status = ShiftRotary(absl::MakeSpan(doubled), {1, 1, 1}, twice, pairing, 40);
    EXPECT_EQ(FieldOf(status), "table") << status;
    EXPECT_TRUE(ShiftRotary(absl::MakeSpan(doubled), {1, 1, 1}, rotary, pairing, 40).ok());
  }
}

TEST(RotaryErrorsTest, NameTheirFieldAndLeaveTheArrayAlone) {
  const auto expect = [](const absl::Status& status, absl::StatusCode code, const char* field) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(FieldOf(status), field) << status;
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  const auto kRange = absl::StatusCode::kOutOfRange;
  const Pairing pairing = Pairing::kHalfSplit;
  const std::vector<float> before = Activations(16);
  std::vector<float> memory = before;
  const absl::Span<float> x = absl::MakeSpan(memory);
  const Table table = Open({.width = 4, .position_offset = 1});

  expect(ApplyRotary(x, {0, 0, 0}, table, pairing), kInvalid, "x");
  expect(ApplyRotary(x.subspan(1), {0}, table, pairing), kInvalid, "x");
  expect(ApplyRotary(x, absl::Span<const std::int64_t>(), table, pairing), kInvalid, "x");
  expect(ApplyRotary(x, {0}, table, pairing, 3), kInvalid, "head_width");
  expect(ApplyRotary(x, {0}, table, pairing, -4), kInvalid, "head_width");
  expect(ApplyRotary(x, {0}, table, static_cast<Pairing>(9)), kInvalid, "pairing");
  expect(ApplyRotary(x, {0, kMaxPosition}, table, pairing), kRange, "positions[1]");
  expect(ShiftRotary(x, {0, kMaxPosition + 1}, table, pairing), kRange, "shifts[1]");
  expect(ShiftRotary(x, {std::numeric_limits<std::int64_t>::min()}, table, pairing), kRange,
         "shifts[0]");
  expect(ApplyRotary(x, {0}, Open({.width = 4}, ElementType::kFloat64), pairing), kInvalid,
         "table");
  expect(ApplyRotary(x, {0}, Open({.width = 4, .layout = Layout::kCosOnly}), pairing), kInvalid,
         "table");
  expect(ApplyRotary(x, {0}, Open({.width = 4, .zero_row = 1}), pairing), kInvalid, "table");
  for (const Sinusoidal& odd : {Sinusoidal{.width = 3, .odd_column = OddColumn::kZero},
                                Sinusoidal{.width = 3, .odd_column = OddColumn::kSine}}) {
    expect(ApplyRotary(x, {0}, Open(odd), pairing), kInvalid, "table");
  }
  expect(ApplyRotary(x, {0}, *Client::Local().Open(LearnedInit{.max_positions = 9, .width = 4}),
                     pairing),
         kInvalid, "table");
  for (const TableSpec& spec : {TableSpec(NoPosition{.width = 4, .additive = true}),
                                TableSpec(Timestep{.width = 4, .downscale_freq_shift = 0})}) {
    expect(ApplyRotary(x, {0}, *Client::Local().Open(spec), pairing), kInvalid, "table");
  }
  // A layer without positions turns nothing.
  EXPECT_TRUE(ApplyRotary(x, {7}, *Client::Local().Open(NoPosition{.width = 4}), pairing).ok());
  EXPECT_EQ(memory, before);
  EXPECT_TRUE(ShiftRotary(x, {kMaxPosition}, table, pairing).ok());
  EXPECT_TRUE(
      ApplyRotary(absl::Span<float>(), absl::Span<const std::int64_t>(), table, pairing).ok());
}

}  // namespace
}  // namespace phasor
