#include "phasor/learned_pe.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "checkpoint/position_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/phasor.h"
#include "tests/checkpoint/temporary_folder.h"

namespace phasor {
namespace {

using testing::Each;
using testing::ElementsAreArray;

constexpr std::int64_t kRows = 7;
constexpr std::int64_t kWidth = 5;

LearnedInit Init() { return {.max_positions = kRows, .width = kWidth, .stddev = 0.5, .seed = 3}; }

LearnedPE MakePE() { return *LearnedPE::Create(*Client::Local().Open(Init())); }

std::vector<float> Numbers(std::size_t size, float step) {
  std::vector<float> numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers[i] = step * static_cast<float>(i % 11) - 1;
  return numbers;
}

std::vector<float> RowsOf(absl::Span<const float> all, std::int64_t first, std::int64_t count) {
  const auto rows = all.subspan(static_cast<std::size_t>(first * kWidth),
                                static_cast<std::size_t>(count * kWidth));
  return std::vector<float>(rows.begin(), rows.end());
}

absl::StatusOr<checkpoint::PositionTable> Load(const std::string& path, absl::string_view tensor) {
  return checkpoint::LoadPositionTable(
      path, tensor,
      [](const std::string&, std::int64_t, std::int64_t) -> absl::StatusOr<std::int64_t> {
        return 0;
      });
}

void ExpectError(const absl::Status& status, absl::StatusCode code, const char* field) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(FieldOf(status), field);
}

TEST(LearnedPETest, BeginsWithTheRowsOfItsTable) {
  const LearnedPE pe = MakePE();
  EXPECT_EQ(pe.max_len(), kRows);
  EXPECT_EQ(pe.d(), kWidth);
  const Rows rows = *Client::Local().Open(Init())->Read(0, kRows);
  EXPECT_THAT(pe.weight(), ElementsAreArray(*rows.values<float>()));
  EXPECT_THAT(pe.gradient(), Each(0.0F));
}

// Of 2^14 draws of N(0, 0.5^2) the sample's deviation is within 5 of its own
// standard errors, 0.5 / sqrt(2 * 2^14) = 0.0028.
TEST(LearnedPETest, DrawsHaveTheStandardDeviationAskedFor) {
  const LearnedInit init{.max_positions = 128, .width = 128, .stddev = 0.5};
  const LearnedPE pe = *LearnedPE::Create(*Client::Local().Open(init));
  double squares = 0;
  for (const float w : pe.weight()) squares += double{w} * w;
  EXPECT_NEAR(std::sqrt(squares / (128 * 128)), 0.5, 5 * 0.0028);
}

TEST(LearnedPETest, PositionsAreRowsOfTheWeight) {
  LearnedPE pe = MakePE();
  for (std::int64_t offset = 0; offset < kRows; ++offset) {
    for (std::int64_t count = 0; offset + count <= kRows; ++count) {
      EXPECT_THAT(*pe.Positions(count, offset),
                  ElementsAreArray(RowsOf(pe.weight(), offset, count)));
    }
  }
  pe.weight()[kWidth] = 42;
  EXPECT_EQ((*pe.Positions(1, 1))[0], 42);
  EXPECT_TRUE(pe.Positions(0, kRows)->empty());
}

TEST(LearnedPETest, ForwardAddsTheRowsFromItsOffsetOn) {
  const LearnedPE pe = MakePE();
  for (const std::int64_t offset : {0L, 1L, 4L}) {
    const std::vector<float> before = Numbers(3 * kWidth, 0.37F);
    std::vector<float> x = before;
    ASSERT_TRUE(pe.Forward(absl::MakeSpan(x), offset).ok());
    const std::vector<float> rows = RowsOf(pe.weight(), offset, 3);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], before[i] + rows[i]) << i;
  }
}

TEST(LearnedPETest, EachSequenceOfABatchHasItsOffset) {
  const LearnedPE pe = MakePE();
  const std::vector<std::int64_t> offsets = {5, 0, 5, 2};
  std::vector<float> x(4 * 2 * kWidth, 0);
  ASSERT_TRUE(pe.Forward(absl::MakeSpan(x), offsets).ok());
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    EXPECT_THAT(absl::MakeSpan(x).subspan(b * 2 * kWidth, 2 * kWidth),
                ElementsAreArray(RowsOf(pe.weight(), offsets[b], 2)));
  }
}

TEST(LearnedPETest, BackwardAddsIntoTheRowsUsedAndNoOthers) {
  LearnedPE pe = MakePE();
  const std::vector<float> gradient = Numbers(3 * kWidth, 0.25F);
  ASSERT_TRUE(pe.Backward(gradient, 2).ok());
  EXPECT_THAT(RowsOf(pe.gradient(), 2, 3), ElementsAreArray(gradient));
  EXPECT_THAT(RowsOf(pe.gradient(), 0, 2), Each(0.0F));
  EXPECT_THAT(RowsOf(pe.gradient(), 5, 2), Each(0.0F));
}

TEST(LearnedPETest, GradientsAddUpUntilTheyAreMadeZero) {
  LearnedPE pe = MakePE();
  const std::vector<float> gradient = Numbers(2 * kWidth, 0.25F);  // sums of these are exact
  ASSERT_TRUE(pe.Backward(gradient, 1).ok());
  ASSERT_TRUE(pe.Backward(gradient, 1).ok());
  ASSERT_TRUE(pe.Backward(gradient, 2).ok());
  for (std::size_t c = 0; c < kWidth; ++c) {
    EXPECT_EQ(pe.gradient()[kWidth + c], 2 * gradient[c]);
    EXPECT_EQ(pe.gradient()[2 * kWidth + c], 2 * gradient[kWidth + c] + gradient[c]);
    EXPECT_EQ(pe.gradient()[3 * kWidth + c], gradient[kWidth + c]);
  }
  pe.ZeroGrad();
  EXPECT_THAT(pe.gradient(), Each(0.0F));
}

TEST(LearnedPETest, SequencesThatShareRowsGiveTheirSum) {
  LearnedPE pe = MakePE();
  const std::vector<std::int64_t> offsets = {3, 3, 4};
  const std::vector<float> gradient = Numbers(3 * kWidth, 0.25F);
  ASSERT_TRUE(pe.Backward(gradient, offsets).ok());
  for (std::size_t c = 0; c < kWidth; ++c) {
    EXPECT_EQ(pe.gradient()[3 * kWidth + c], gradient[c] + gradient[kWidth + c]);
    EXPECT_EQ(pe.gradient()[4 * kWidth + c], gradient[2 * kWidth + c]);
  }
}

// Central differences of L = sum_i a_i y_i^2 / 2, y = Forward(x), at every weight.
TEST(LearnedPETest, GradientIsThatOfFiniteDifferences) {
  LearnedPE pe = MakePE();
  const std::vector<std::int64_t> offsets = {1, 4, 2};
  const std::vector<float> x = Numbers(offsets.size() * 2 * kWidth, 0.31F);
  const std::vector<float> a = Numbers(x.size(), 0.17F);
  const auto outputs = [&] {
    std::vector<float> y = x;
    EXPECT_TRUE(pe.Forward(absl::MakeSpan(y), offsets).ok());
    return y;
  };
  const auto loss = [&] {
    const std::vector<float> y = outputs();
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += double{a[i]} * y[i] * y[i] / 2;
    return sum;
  };
  std::vector<float> grad_output = outputs();
  for (std::size_t i = 0; i < a.size(); ++i) grad_output[i] *= a[i];
  ASSERT_TRUE(pe.Backward(grad_output, offsets).ok());

  constexpr float kStep = 1.0F / 64;
  for (std::size_t i = 0; i < pe.weight().size(); ++i) {
    const float before = pe.weight()[i];
    pe.weight()[i] = before + kStep;
    const double above = loss();
    pe.weight()[i] = before - kStep;
    const double below = loss();
    pe.weight()[i] = before;
    // L is a parabola in each weight: what is left are float32 roundings.
    EXPECT_NEAR(pe.gradient()[i], (above - below) / (2 * kStep), 2e-4) << i;
  }
}

TEST(LearnedPETest, PastTheEndNothingIsChanged) {
  LearnedPE pe = MakePE();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t offset : {6L, 7L, -1L, kMost, -kMost - 1}) {
    std::vector<float> x = Numbers(2 * kWidth, 0.3F);
    const std::vector<float> before = x;
    ExpectError(pe.Forward(absl::MakeSpan(x), offset), absl::StatusCode::kOutOfRange, "offsets[0]");
    EXPECT_THAT(x, ElementsAreArray(before));
    ExpectError(pe.Backward(x, offset), absl::StatusCode::kOutOfRange, "offsets[0]");
  }
  std::vector<float> batch = Numbers(4 * kWidth, 0.3F);
  const std::vector<float> before = batch;
  const std::vector<std::int64_t> offsets = {0, 6};
  ExpectError(pe.Forward(absl::MakeSpan(batch), offsets), absl::StatusCode::kOutOfRange,
              "offsets[1]");
  EXPECT_THAT(batch, ElementsAreArray(before));
  ExpectError(pe.Backward(batch, offsets), absl::StatusCode::kOutOfRange, "offsets[1]");
  EXPECT_THAT(pe.gradient(), Each(0.0F));
  ExpectError(pe.Positions(2, 6).status(), absl::StatusCode::kOutOfRange, "row_count");
  ExpectError(pe.Positions(-1, 0).status(), absl::StatusCode::kInvalidArgument, "row_count");
}

TEST(LearnedPETest, ArraysThatAreNotWholeRowsAreRefused) {
  LearnedPE pe = MakePE();
  std::vector<float> x(kWidth + 1);
  ExpectError(pe.Forward(absl::MakeSpan(x)), absl::StatusCode::kInvalidArgument, "x");
  ExpectError(pe.Backward(x), absl::StatusCode::kInvalidArgument, "grad_output");
}

TEST(LearnedPETest, TablesWithoutAnEndAndOtherTypesAreRefused) {
  const Client client = Client::Local();
  ExpectError(LearnedPE::Create(*client.Open(Sinusoidal{.width = 4})).status(),
              absl::StatusCode::kInvalidArgument, "spec");
  ExpectError(LearnedPE::Create(*client.Open({Init(), ElementType::kFloat16})).status(),
              absl::StatusCode::kInvalidArgument, "spec.element_type");
}

TEST(LearnedPETest, IsSavedAsATableThatServersLoad) {
  const TemporaryFolder folder;
  LearnedPE pe = MakePE();
  pe.weight()[0] = 42;
  ASSERT_TRUE(pe.Save(folder / "a").ok());
  const auto loaded = Load(folder / "a", "");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->tensor, "weight");
  EXPECT_EQ(loaded->max_positions, kRows);
  EXPECT_EQ(loaded->width, kWidth);
  EXPECT_EQ(absl::MakeConstSpan(loaded->elements.get(), loaded->bytes),
            AsBytes(std::as_const(pe).weight()));
  ASSERT_TRUE(pe.Save(folder / "a", "transformer.wpe.weight").ok());
  EXPECT_EQ(Load(folder / "a", "wpe.weight")->tensor, "transformer.wpe.weight");
  ExpectError(pe.Save(folder / "absent/a"), absl::StatusCode::kUnavailable, "path");
}

}  // namespace
}  // namespace phasor
