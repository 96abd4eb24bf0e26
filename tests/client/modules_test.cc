#include "phasor/modules.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/phasor.h"
#include "tests/client/oracle_rows.h"

namespace phasor {
namespace {

using testing::ElementsAreArray;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

SinusoidalPE MakePE(std::int64_t width) {
  return *SinusoidalPE::Create(*Client::Local().Open(Sinusoidal{.width = width}));
}

// Something that is not zero, and different everywhere.
std::vector<float> Activations(std::size_t size) {
  std::vector<float> x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = 0.37F * static_cast<float>(i) - 11;
  return x;
}

void ExpectError(const absl::Status& status, absl::StatusCode code, const char* field) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(FieldOf(status), field);
}

TEST(SinusoidalPETest, AddsTheRowsFromItsOffsetOn) {
  const SinusoidalPE pe = MakePE(6);
  for (const std::int64_t offset : {0L, 1L, 4093L, -3L, 1048575L}) {
    const std::vector<float> before = Activations(5 * 6);
    const std::vector<float> rows = OracleRows<float>({.width = 6}, offset, 5);
    std::vector<float> x = before;
    ASSERT_TRUE(pe.Forward(absl::MakeSpan(x), offset).ok());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], before[i] + rows[i]) << i;
  }
}

TEST(SinusoidalPETest, OffsetIsZeroWhereNotGiven) {
  std::vector<float> x(8);
  ASSERT_TRUE(MakePE(4).Forward(absl::MakeSpan(x)).ok());
  EXPECT_THAT(x, ElementsAreArray(OracleRows<float>({.width = 4}, 0, 2)));
}

TEST(SinusoidalPETest, EachSequenceOfABatchHasItsOffset) {
  const SinusoidalPE pe = MakePE(6);
  const std::vector<std::int64_t> offsets = {17, 4093, 0, 17, -1};
  for (const std::int64_t length : {1L, 3L}) {
    const auto sequence = static_cast<std::size_t>(length * 6);
    const std::vector<float> before = Activations(offsets.size() * sequence);
    std::vector<float> x = before;
    ASSERT_TRUE(pe.Forward(absl::MakeSpan(x), offsets).ok());
    for (std::size_t b = 0; b < offsets.size(); ++b) {
      const std::vector<float> rows = OracleRows<float>({.width = 6}, offsets[b], length);
      for (std::size_t i = 0; i < sequence; ++i) {
        EXPECT_EQ(x[b * sequence + i], before[b * sequence + i] + rows[i]) << b << " " << i;
      }
    }
  }
}

TEST(SinusoidalPETest, HasNoParametersAndPassesTheGradientOn) {
  const SinusoidalPE pe = MakePE(4);
  EXPECT_TRUE(pe.Parameters().empty());
  const std::vector<float> before = Activations(8);
  std::vector<float> gradient = before;
  const absl::Span<float> through = pe.Backward(absl::MakeSpan(gradient));
  EXPECT_EQ(through.data(), gradient.data());
  EXPECT_THAT(through, ElementsAreArray(before));
}

TEST(SinusoidalPETest, LeavesTheInputAloneWhereItFails) {
  const SinusoidalPE pe = MakePE(4);
  const std::vector<float> before = Activations(8);
  std::vector<float> x = before;
  const absl::Span<float> all = absl::MakeSpan(x);
  ExpectError(pe.Forward(all, {0, kMaxPosition + 1}), absl::StatusCode::kOutOfRange, "offsets[1]");
  ExpectError(pe.Forward(all, kMaxPosition), absl::StatusCode::kOutOfRange, "offsets[0]");
  ExpectError(pe.Forward(all.subspan(1), 0), absl::StatusCode::kInvalidArgument, "x");
  ExpectError(pe.Forward(all, {0, 1, 2}), absl::StatusCode::kInvalidArgument, "x");
  ExpectError(pe.Forward(all, absl::Span<const std::int64_t>()), absl::StatusCode::kInvalidArgument,
              "x");
  EXPECT_EQ(x, before);
  EXPECT_TRUE(pe.Forward(all.subspan(0, 0), 0).ok());
  EXPECT_TRUE(pe.Forward(absl::Span<float>(), absl::Span<const std::int64_t>()).ok());
}

TEST(SinusoidalPETest, NeedsASinusoidalFloat32Table) {
  const Client client = Client::Local();
  ExpectError(
      SinusoidalPE::Create(*client.Open({Sinusoidal{.width = 4}, ElementType::kFloat64})).status(),
      absl::StatusCode::kInvalidArgument, "spec.element_type");
  ExpectError(
      SinusoidalPE::Create(*client.Open(LearnedInit{.max_positions = 2, .width = 4})).status(),
      absl::StatusCode::kInvalidArgument, "spec");
}

TEST(ShiftRowsTest, TurnsRow1OfTheWorkedExampleIntoRow2) {
  std::vector<float> row = {0.841471F, 0.540302F, 0.010000F, 0.999950F};
  ASSERT_TRUE(ShiftRows(absl::MakeSpan(row), 1, TableSpec(Sinusoidal{.width = 4})).ok());
  const float want[] = {0.909297F, -0.416147F, 0.019999F, 0.999800F};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(row[i], want[i], 2e-6F);
}

TEST(ShiftRowsTest, EveryElementIsTheRoundedRotation) {
  const Sinusoidal spec{.width = 6, .base = 700.0};
  const oracle::Table oracle(spec);
  const std::pair<ShiftBy, oracle::Position> shifts[] = {
      {std::int64_t{1}, {1, 0}}, {std::int64_t{-4093}, {-4093, 0}}, {0.5, {0, 0.5}}};
  for (const auto& [by, position] : shifts) {
    const std::vector<float> before = Activations(5 * 6);
    std::vector<float> pe = before;
    ASSERT_TRUE(ShiftRows(absl::MakeSpan(pe), by, TableSpec(spec)).ok());
    for (std::size_t i = 0; i < pe.size(); i += 2) {
      const auto [sine, cosine] =
          oracle.Shifted(static_cast<std::int64_t>(i % 6) / 2, position, before[i], before[i + 1]);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(pe[i]), sine);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(pe[i + 1]), cosine);
    }
  }
}

TEST(ShiftRowsTest, ByNothingGivesTheRowsBack) {
  const std::vector<float> before = Activations(12);
  std::vector<float> pe = before;
  ASSERT_TRUE(ShiftRows(absl::MakeSpan(pe), 0, TableSpec(Sinusoidal{.width = 4})).ok());
  EXPECT_EQ(pe, before);
}

TEST(ShiftRowsTest, RefusesWhatHasNoRotation) {
  const TableSpec spec(Sinusoidal{.width = 4});
  std::vector<float> pe(8);
  std::vector<double> wrong(8);
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectError(ShiftRows(absl::MakeSpan(wrong), 1, spec), kInvalid, "pe");
  ExpectError(ShiftRows(absl::MakeSpan(pe), 1, TableSpec(Sinusoidal{.width = 3})), kInvalid,
              "spec.sinusoidal.width");
  ExpectError(
      ShiftRows(absl::MakeSpan(pe), 1, TableSpec(LearnedInit{.max_positions = 2, .width = 4})),
      kInvalid, "spec");
  ExpectError(ShiftRows(absl::MakeSpan(pe), std::numeric_limits<double>::infinity(), spec),
              kInvalid, "by");
  EXPECT_FALSE(ShiftRows(absl::MakeSpan(pe).subspan(1), 1, spec).ok());
  pe[5] = kNan;
  EXPECT_EQ(ShiftRows(absl::MakeSpan(pe), 1, spec).code(), kInvalid);
}

TEST(RotatePairsTest, EveryElementIsTheRoundedRotation) {
  const std::vector<double> angles = {0, 1, -2.5, 1e10};
  const std::vector<float> before = Activations(8);
  std::vector<float> pairs = before;
  ASSERT_TRUE(RotatePairs(absl::MakeSpan(pairs), angles).ok());
  for (std::size_t j = 0; j < angles.size(); ++j) {
    const auto [x, y] =
        oracle::Turned(ElementType::kFloat32, angles[j], before[2 * j], before[2 * j + 1]);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(pairs[2 * j]), x);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(pairs[2 * j + 1]), y);
  }
}

}  // namespace
}  // namespace phasor
