#include "phasor/diagnose/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "diagnose/arrangement.h"
#include "diagnose/ladder_guess.h"
#include "diagnose/measurement.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

using diagnose::Arrangement;
using diagnose::ArrangementOf;
using diagnose::ArrangementsOf;
using diagnose::Measure;
using diagnose::Measurement;
using diagnose::Sample;
using diagnose::ShortestWithin;
using diagnose::TakeSample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Rows of float32 in memory.
struct Rows {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> values;

  float& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  ObservedTable table() const {
    return {.rows = rows,
            .columns = columns,
            .type = ElementType::kFloat32,
            .read = [this](std::int64_t first, std::int64_t count, absl::Span<std::byte> out) {
              EXPECT_EQ(static_cast<std::int64_t>(out.size()), 4 * count * columns);
              std::memcpy(out.data(), values.data() + first * columns, out.size());
              return absl::OkStatus();
            }};
  }
};

/// Cosines, then sines, by the C library in long double, each rounded once more.
Rows CosSinHalves(const std::vector<double>& frequencies, std::int64_t rows, double first = 0) {
  const auto pairs = static_cast<std::int64_t>(frequencies.size());
  Rows table{rows, 2 * pairs, std::vector<float>(static_cast<std::size_t>(2 * rows * pairs))};
  for (std::int64_t p = 0; p < rows; ++p) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const long double angle = (static_cast<long double>(first) + p) *
                                static_cast<long double>(frequencies[static_cast<std::size_t>(i)]);
      table.at(p, i) = static_cast<float>(std::cos(angle));
      table.at(p, pairs + i) = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

std::vector<double> Ladder(double base, std::int64_t width) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < width / 2; ++i) {
    frequencies.push_back(std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(width)));
  }
  return frequencies;
}

std::vector<Fault> FaultsOf(const Diagnosis& diagnosis) {
  std::vector<Fault> faults;
  for (const Finding& finding : diagnosis.findings) faults.push_back(finding.fault);
  return faults;
}

CanonicalSpec Spec(const TableSpec& spec) { return *CanonicalSpec::Create(spec); }

TEST(Diagnose, ARightTableIsExact) {
  const Rows rows = CosSinHalves(Ladder(10000, 8), 20);
  const Diagnosis diagnosis = *Diagnose(Spec(Rotary{.width = 8}), rows.table());
  EXPECT_TRUE(diagnosis.exact);
  EXPECT_THAT(diagnosis.findings, IsEmpty());
  EXPECT_EQ(diagnosis.compared, 160);
  EXPECT_EQ(diagnosis.different, 0);
  EXPECT_FALSE(diagnosis.first.has_value());
}

TEST(Diagnose, FindsTheBase) {
  const Rows rows = CosSinHalves(Ladder(123456, 64), 500);
  const Diagnosis diagnosis = *Diagnose(Spec(Rotary{.width = 64}), rows.table());
  EXPECT_FALSE(diagnosis.exact);
  ASSERT_THAT(FaultsOf(diagnosis), ElementsAre(Fault::kBase));
  EXPECT_EQ(diagnosis.findings[0].value, 123456);
  EXPECT_EQ(diagnosis.sureness, Sureness::kCertain);
  EXPECT_EQ(diagnosis.first->position, 1);
  EXPECT_EQ(diagnosis.first->column, 1);
}

TEST(Diagnose, CountsPositionsFromTheStart) {
  const Rows rows = CosSinHalves(Ladder(10000, 64), 100, 5001);
  const Diagnosis diagnosis = *Diagnose(Spec(Rotary{.width = 64}), rows.table(), {.start = 5000});
  ASSERT_THAT(FaultsOf(diagnosis), ElementsAre(Fault::kPositions));
  EXPECT_EQ(diagnosis.findings[0].value, 1);
  EXPECT_EQ(diagnosis.first->position, 5000);
  EXPECT_EQ(diagnosis.first->row, 0);
}

TEST(Diagnose, ThePlaceOfOneWrongBit) {
  Rows rows = CosSinHalves(Ladder(10000, 64), 3000);
  float& element = rows.at(2500, 40);
  element = std::nextafter(element, 2.0F);
  const Diagnosis diagnosis = *Diagnose(Spec(Rotary{.width = 64}), rows.table());
  EXPECT_FALSE(diagnosis.exact);
  EXPECT_EQ(diagnosis.different, 1);
  EXPECT_EQ(diagnosis.first->row, 2500);
  EXPECT_EQ(diagnosis.first->column, 40);
  EXPECT_EQ(diagnosis.first->ulps, 1);
}

TEST(Diagnose, SignsOfZeroAreADifferenceOfNoUnits) {
  Rows rows = CosSinHalves(Ladder(10000, 8), 20);
  rows.at(0, 4) = -0.0F;
  const Diagnosis diagnosis = *Diagnose(Spec(Rotary{.width = 8}), rows.table());
  EXPECT_FALSE(diagnosis.exact);
  EXPECT_EQ(diagnosis.different, 1);
  EXPECT_EQ(diagnosis.first->ulps, 0);
}

TEST(Diagnose, ElementsThatAreNoNumbers) {
  Rows rows = CosSinHalves(Ladder(10000, 8), 20);
  rows.at(3, 1) = std::numeric_limits<float>::quiet_NaN();
  rows.at(4, 0) = -std::numeric_limits<float>::infinity();
  const Diagnosis diagnosis = *Diagnose(Spec(Rotary{.width = 8}), rows.table());
  EXPECT_THAT(FaultsOf(diagnosis), ElementsAre(Fault::kNotFinite));
  EXPECT_THAT(diagnosis.findings[0].words, HasSubstr("2 elements"));
  EXPECT_TRUE(std::isnan(diagnosis.first->found));
  EXPECT_TRUE(std::isinf(diagnosis.largest->ulps));
}

TEST(Diagnose, TakesOtherTablesIntoAccount) {
  const Rows rows = CosSinHalves(Ladder(777, 64), 100);
  const Diagnosis diagnosis =
      *Diagnose(Spec(Rotary{.width = 64}), rows.table(),
                {.others = {{"it is the local table", Rotary{.width = 64, .base = 777.0}}}});
  ASSERT_THAT(FaultsOf(diagnosis), ElementsAre(Fault::kOtherTable));
  EXPECT_EQ(diagnosis.findings[0].words, "it is the local table");
}

TEST(Diagnose, WidthsOfEverySizeAndShape) {
  // No table that it is asked about may bring it down.
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-2, 2);
  const std::vector<TableSpec> specs = {
      Sinusoidal{.width = 2},
      Sinusoidal{.width = 7, .odd_column = OddColumn::kSine},
      Sinusoidal{.width = 7, .layout = Layout::kCosSinHalves, .odd_column = OddColumn::kSine},
      Sinusoidal{.width = 7, .odd_column = OddColumn::kZero},
      Sinusoidal{.width = 4, .ladder = ExplicitLadder{{0, -3}}},
      Rotary{.width = 8, .scaling = ProportionalScaling{0.25, 1}},
      Rotary{.width = 8, .scaling = DynamicNtkScaling{2, 2048, 8192}},
      Rotary{.width = 8, .layout = Layout::kSinOnly},
      Timestep{.width = 3, .downscale_freq_shift = 0},
      NoPosition{.width = 8},
      NoPosition{.width = 5, .additive = true},
      Alibi{.head_count = 3},
      LearnedInit{.max_positions = 64, .width = 3},
  };
  for (const TableSpec& spec : specs) {
    for (std::int64_t columns = 1; columns <= 17; ++columns) {
      for (const std::int64_t rows : {1, 2, 3, 40}) {
        Rows table{rows, columns, {}};
        for (std::int64_t n = 0; n < rows * columns; ++n) table.values.push_back(uniform(random));
        const absl::StatusOr<Diagnosis> diagnosis = Diagnose(Spec(spec), table.table());
        ASSERT_TRUE(diagnosis.ok()) << diagnosis.status();
        EXPECT_FALSE(diagnosis->exact);
        for (float& value : table.values) value = 0;
        EXPECT_TRUE(Diagnose(Spec(spec), table.table()).ok());
        for (float& value : table.values) value = std::numeric_limits<float>::max();
        EXPECT_TRUE(Diagnose(Spec(spec), table.table()).ok());
      }
    }
  }
}

TEST(Diagnose, RefusesWhatIsNoTable) {
  const Rows rows = CosSinHalves(Ladder(10000, 8), 4);
  const auto field = [](const absl::StatusOr<Diagnosis>& diagnosis) {
    return FieldOf(diagnosis.status());
  };
  ObservedTable table = rows.table();
  table.rows = 0;
  EXPECT_EQ(field(Diagnose(Spec(Rotary{.width = 8}), table)), "rows");
  table = rows.table();
  table.columns = 0;
  EXPECT_EQ(field(Diagnose(Spec(Rotary{.width = 8}), table)), "columns");
  table.columns = 2 * kMaxWidth + 1;
  EXPECT_EQ(field(Diagnose(Spec(Rotary{.width = 8}), table)), "columns");
  table = rows.table();
  EXPECT_EQ(field(Diagnose(Spec(RelativeBuckets{}), table)), "element_type");
  table.type = ElementType::kInt32;
  EXPECT_EQ(field(Diagnose(Spec(Rotary{.width = 8}), table)), "element_type");
  EXPECT_EQ(
      Diagnose(Spec(Rotary{.width = 8}), rows.table(), {.start = kMaxPosition}).status().code(),
      absl::StatusCode::kOutOfRange);
  table = rows.table();
  table.read = [](std::int64_t, std::int64_t, absl::Span<std::byte>) {
    return absl::DataLossError("gone");
  };
  EXPECT_EQ(Diagnose(Spec(Rotary{.width = 8}), table).status(), absl::DataLossError("gone"));
}

TEST(FaultName, IsOneEach) {
  std::set<absl::string_view> names;
  for (int fault = 0; fault <= static_cast<int>(Fault::kVariant); ++fault) {
    EXPECT_NE(FaultName(static_cast<Fault>(fault)), "");
    EXPECT_TRUE(names.insert(FaultName(static_cast<Fault>(fault))).second);
  }
}

TEST(Arrangement, ColumnsAreThoseOfTheLayouts) {
  // A row in which element n is n, as the layouts' documentation lays it out.
  const struct {
    Layout layout;
    std::vector<std::int64_t> sines;    // of pairs 0 and 1
    std::vector<std::int64_t> cosines;  // of pairs 0 and 1
  } kCases[] = {
      {Layout::kSinCosInterleaved, {0, 2}, {1, 3}},
      {Layout::kSinCosHalves, {0, 1}, {2, 3}},
      {Layout::kCosSinHalves, {2, 3}, {0, 1}},
      {Layout::kCosSinInterleaved, {1, 3}, {0, 2}},
      {Layout::kCosSinDuplicatedHalves, {4, 5}, {0, 1}},
      {Layout::kCosSinDuplicatedPairs, {4, 6}, {0, 2}},
      {Layout::kCosOnly, {-1, -1}, {0, 1}},
      {Layout::kSinOnly, {0, 1}, {-1, -1}},
  };
  for (const auto& [layout, sines, cosines] : kCases) {
    const Arrangement arrangement = ArrangementOf(Spec(Rotary{.width = 4, .layout = layout}));
    EXPECT_EQ(arrangement.layout(), layout);
    for (const std::int64_t i : {0, 1}) {
      EXPECT_EQ(arrangement.Columns(i, true)[0], sines[static_cast<std::size_t>(i)])
          << LayoutName(layout);
      EXPECT_EQ(arrangement.Columns(i, false)[0], cosines[static_cast<std::size_t>(i)])
          << LayoutName(layout);
    }
  }
}

TEST(Arrangement, CopiesAreColumnsToo) {
  for (const auto& [layout, distance] : {std::pair(Layout::kCosSinDuplicatedHalves, 2),
                                         std::pair(Layout::kCosSinDuplicatedPairs, 1)}) {
    const Arrangement arrangement = ArrangementOf(Spec(Rotary{.width = 4, .layout = layout}));
    const auto columns = arrangement.Columns(1, true);
    EXPECT_EQ(columns[1], columns[0] + distance);
  }
}

TEST(Arrangement, AsManyColumns) {
  EXPECT_EQ(ArrangementsOf(4, 4).size(), 2U);
  EXPECT_EQ(ArrangementsOf(4, 8).size(), 8U);
  EXPECT_EQ(ArrangementsOf(4, 16).size(), 4U);
  EXPECT_TRUE(ArrangementsOf(4, 7).empty());
}

TEST(Measure, FrequenciesAndPosition) {
  const std::vector<double> ladder = Ladder(10000, 32);
  const Rows rows = CosSinHalves(ladder, 2000, 37);
  const Sample sample = *TakeSample(rows.table(), 0);
  const Arrangement halves{.form = Arrangement::Form::kHalves, .sine_first = false, .pairs = 16};
  const std::optional<Measurement> measured = Measure(sample, halves);
  ASSERT_TRUE(measured.has_value());
  EXPECT_NEAR(measured->factor, 1, 1e-6);
  EXPECT_EQ(measured->direction, 1);
  EXPECT_NEAR(*measured->first_position, 37, 1e-3);
  for (std::size_t i = 0; i < ladder.size(); ++i) {
    EXPECT_NEAR(measured->frequencies[i], ladder[i], measured->errors[i]) << i;
  }
  // Nothing turns evenly in another order.
  const Arrangement interleaved{
      .form = Arrangement::Form::kInterleaved, .sine_first = false, .pairs = 16};
  EXPECT_FALSE(Measure(sample, interleaved).has_value());
}

TEST(ShortestWithin, HasAsFewDigitsAsItMay) {
  EXPECT_EQ(ShortestWithin(499999.7, 1e-5), 500000);
  EXPECT_EQ(ShortestWithin(123456.4, 1e-5), 123456);
  EXPECT_EQ(ShortestWithin(0.8750001, 1e-6), 0.875);
  EXPECT_EQ(ShortestWithin(1.0 / 3, 0), 1.0 / 3);
}

}  // namespace
}  // namespace phasor
