#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/sinusoidal_table.h"
#include "core/stop_check.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "tests/oracle/rotary.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};
constexpr std::int64_t kMost = std::int64_t{1} << 53;

std::shared_ptr<const LocalTable> Open(const Rotary& spec, ElementType type) {
  auto canonical = CanonicalSpec::Create({spec, type});
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return LocalTable::Create(*std::move(canonical));
}

std::vector<std::byte> Read(const LocalTable& table, std::int64_t start, std::int64_t count) {
  std::vector<std::byte> rows(static_cast<std::size_t>(count * table.spec().row_bytes()));
  const absl::Status status = table.ReadInto(start, count, absl::MakeSpan(rows));
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

void ExpectRow(const LocalTable& table, const oracle::RotaryTable& want, oracle::Position position,
               const std::byte* row) {
  const ElementType type = table.spec().element_type();
  for (std::int64_t column = 0; column < table.spec().row_width(); ++column) {
    ASSERT_EQ(oracle::Element(type, row, column), want.Column(position, column))
        << "position " << position.integer << " + " << position.fraction << " column " << column
        << "\n"
        << table.spec().text();
  }
}

YarnScaling Yarn(double factor) {
  return {.factor = factor, .original_max_position_embeddings = 300};
}

// One of each scaling, with factors that are 1, given, derived, and midway
// between elements. As ties those go up, times the cosine of a small angle down.
std::vector<Rotary> Specs() {
  YarnScaling untruncated = Yarn(32);
  untruncated.truncate = false;
  YarnScaling deepseek = Yarn(40);
  deepseek.mscale = 0.707;
  deepseek.mscale_all_dim = 1;
  const LongRopeScaling longrope{{1, 1.5, 2, 3}, {2, 4, 8, 16}, 4096, 5000, 0x1p15};
  return {
      {.width = 8},
      {.width = 8, .base = 16.0, .attention_factor = 1.5},
      {.width = 8, .base = 0x1p52, .attention_factor = 1 + 0x3p-8},   // a tie of BFLOAT16
      {.width = 8, .base = 0x1p64, .attention_factor = 1 + 0x3p-11},  // a tie of FLOAT16
      {.width = 8, .attention_factor = 1 + 0x3p-24},                  // a tie of FLOAT32
      {.width = 8, .attention_factor = 0x1p-64},
      {.width = 8, .attention_factor = 60000.0},
      {.width = 8, .attention_factor = 1 - 0x1p-53},
      {.width = 8, .scaling = LinearScaling{8}},
      {.width = 8, .scaling = NtkScaling{4}, .attention_factor = 0.3},
      {.width = 8, .scaling = DynamicNtkScaling{2, 100, 300}},
      {.width = 8, .scaling = Yarn(32)},
      {.width = 8, .scaling = untruncated},
      {.width = 8, .scaling = deepseek},
      {.width = 8, .scaling = longrope},
      {.width = 8, .scaling = Llama3Scaling{8, 1, 4, 100}},
      {.width = 8, .scaling = ProportionalScaling{0.5, 2}},
      {.width = 8, .scaling = ProportionalScaling{0.5, 1}, .attention_factor = 1 + 0x1p-8},
      {.width = 8,
       .scaling = ExplicitLadder{{1, -0.3, 0, 0x1p-64}},
       .attention_factor = 1 + 0x3p-8},
  };
}

TEST(RotaryTableTest, RowsAreCorrectlyRounded) {
  for (const Rotary& spec : Specs()) {
    for (const ElementType type : kTypes) {
      const auto table = Open(spec, type);
      const oracle::RotaryTable want(spec, type);
      for (const std::int64_t start : {std::int64_t{-3}, std::int64_t{8190}, kMost - 2, -kMost}) {
        const std::vector<std::byte> rows = Read(*table, start, 3);
        for (std::int64_t r = 0; r < 3; ++r) {
          ExpectRow(*table, want, {start + r, 0}, rows.data() + r * table->spec().row_bytes());
          if (HasFatalFailure()) return;
        }
      }
      const std::vector<std::byte> zero = Read(*table, 0, 1);
      ExpectRow(*table, want, {0, 0}, zero.data());
    }
  }
}

template <ElementType kType>
void ExpectDoubtChangesNothing(const Rotary& spec) {
  const auto plain = Open(spec, kType);
  StopCheck never(NeverStop);
  const SinusoidalTable<kType> doubtful(plain->spec(), never,
                                        std::numeric_limits<double>::infinity());
  for (const std::int64_t start : {std::int64_t{-20}, kMost - 39}) {
    ASSERT_EQ(Read(doubtful, start, 40), Read(*plain, start, 40)) << plain->spec().text();
  }
  const std::vector<double> positions = {0.5, -1.25, 1e-9, 0x1p-1074, -0x1p-600, 12345.678};
  std::vector<std::byte> want(positions.size() * plain->spec().row_bytes());
  std::vector<std::byte> got(want.size());
  ASSERT_TRUE(plain->GatherInto(absl::MakeConstSpan(positions), absl::MakeSpan(want)).ok());
  ASSERT_TRUE(doubtful.GatherInto(absl::MakeConstSpan(positions), absl::MakeSpan(got)).ok());
  ASSERT_EQ(got, want) << plain->spec().text();
  // All but the exact row.
  EXPECT_GE(doubtful.settled_elements(), (79 + 6) * plain->spec().row_width());
  EXPECT_EQ(doubtful.costly_elements(), 0) << plain->spec().text();
}

TEST(RotaryTableTest, DoubtOfEveryElementChangesNothing) {
  for (const Rotary& spec : Specs()) {
    ExpectDoubtChangesNothing<ElementType::kFloat32>(spec);
    ExpectDoubtChangesNothing<ElementType::kFloat64>(spec);
    ExpectDoubtChangesNothing<ElementType::kFloat16>(spec);
    ExpectDoubtChangesNothing<ElementType::kBfloat16>(spec);
  }
}

TEST(RotaryTableTest, LongRangesAgreeWithSingleRows) {
  for (const Rotary& spec : Specs()) {
    for (const ElementType type : kTypes) {
      const auto table = Open(spec, type);
      const std::int64_t row_bytes = table->spec().row_bytes();
      const std::vector<std::byte> rows = Read(*table, -700, 1400);
      std::vector<std::byte> row(static_cast<std::size_t>(row_bytes));
      for (std::int64_t r = 0; r < 1400; ++r) {
        const std::int64_t position = r - 700;
        ASSERT_TRUE(table->GatherInto(absl::MakeConstSpan(&position, 1), absl::MakeSpan(row)).ok());
        ASSERT_TRUE(std::equal(row.begin(), row.end(), rows.begin() + r * row_bytes))
            << position << "\n"
            << table->spec().text();
      }
    }
  }
}

TEST(RotaryTableTest, FractionalPositionsAreCorrectlyRounded) {
  const std::vector<double> positions = {0.5,       -1.25,     1e-9,   0x1p-1074,
                                         -0x1p-600, 12345.678, 0x1p53, 0.1};
  for (const Rotary& spec : Specs()) {
    for (const ElementType type : kTypes) {
      const auto table = Open(spec, type);
      const oracle::RotaryTable want(spec, type);
      std::vector<std::byte> rows(positions.size() *
                                  static_cast<std::size_t>(table->spec().row_bytes()));
      ASSERT_TRUE(table->GatherInto(absl::MakeConstSpan(positions), absl::MakeSpan(rows)).ok());
      for (std::size_t k = 0; k < positions.size(); ++k) {
        const double whole = std::trunc(positions[k]);
        ExpectRow(*table, want, {static_cast<std::int64_t>(whole), positions[k] - whole},
                  rows.data() + k * static_cast<std::size_t>(table->spec().row_bytes()));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(RotaryTableTest, EveryLayout) {
  for (int layout = 0; layout < 8; ++layout) {
    Rotary spec{.width = 6, .scaling = Yarn(8), .layout = static_cast<Layout>(layout)};
    const auto table = Open(spec, ElementType::kFloat32);
    const std::vector<std::byte> rows = Read(*table, 7, 2);
    for (std::int64_t r = 0; r < 2; ++r) {
      ExpectRow(*table, oracle::RotaryTable(spec), {7 + r, 0},
                rows.data() + r * table->spec().row_bytes());
    }
  }
}

TEST(RotaryTableTest, WideRowsAreCorrectlyRounded) {
  for (const ElementType type : kTypes) {
    const Rotary spec{.width = 128, .base = 150000.0, .scaling = Yarn(32)};
    const auto table = Open(spec, type);
    const oracle::RotaryTable want(spec, type);
    const std::vector<std::byte> rows = Read(*table, 131000, 300);
    for (std::int64_t r = 0; r < 300; r += 37) {
      ExpectRow(*table, want, {131000 + r, 0}, rows.data() + r * table->spec().row_bytes());
      if (HasFatalFailure()) return;
    }
  }
}

// Sections of Qwen2-VL and Qwen3-VL, cut to a small width.
std::vector<std::int64_t> AxesOf(const Rotary& spec) {
  // As the functions apply_multimodal_rotary_pos_emb (chunks) and
  // apply_interleaved_mrope (slices by three) of transformers put it.
  const std::int64_t pairs = spec.width / 2;
  std::vector<std::int64_t> axes;
  if (spec.mrope_interleaved) {
    axes.assign(pairs, 0);
    for (const std::int64_t axis : {1, 2}) {
      for (std::int64_t i = axis; i < 3 * spec.mrope_section[axis]; i += 3) axes[i] = axis;
    }
  } else {
    for (std::size_t axis = 0; axis < spec.mrope_section.size(); ++axis) {
      for (std::int64_t k = 0; k < spec.mrope_section[axis]; ++k) {
        axes.push_back(static_cast<std::int64_t>(axis));
      }
    }
  }
  return axes;
}

TEST(RotaryTableTest, EachPairTakesItsAxis) {
  for (const Rotary& spec :
       {Rotary{.width = 16, .mrope_section = {2, 3, 3}},
        Rotary{.width = 16, .mrope_section = {4, 2, 2}, .mrope_interleaved = true},
        Rotary{
            .width = 16, .scaling = Yarn(8), .mrope_section = {3, 3, 2}, .mrope_interleaved = true},
        Rotary{.width = 16, .mrope_section = {2, 2, 2, 2}}}) {
    for (const ElementType type : kTypes) {
      const auto table = Open(spec, type);
      const std::int64_t axes = table->spec().axes();
      ASSERT_EQ(axes, std::ssize(spec.mrope_section));
      std::vector<std::int64_t> positions = {5, 70, 900, 8191, 0, 0, 1, 0, 40000, 3, 3, 3};
      positions.resize(static_cast<std::size_t>(12 / axes * axes));
      const std::int64_t count = 12 / axes;
      std::vector<std::byte> rows(static_cast<std::size_t>(count * table->spec().row_bytes()));
      ASSERT_TRUE(table->GatherAxesInto(absl::MakeConstSpan(positions), absl::MakeSpan(rows)).ok());
      std::vector<double> real(positions.begin(), positions.end());
      std::vector<std::byte> same(rows.size());
      ASSERT_TRUE(table->GatherAxesInto(absl::MakeConstSpan(real), absl::MakeSpan(same)).ok());
      EXPECT_EQ(rows, same);
      const oracle::RotaryTable want(spec, type);
      const std::vector<std::int64_t> axis = AxesOf(spec);
      for (std::int64_t r = 0; r < count; ++r) {
        for (std::int64_t column = 0; column < table->spec().row_width(); ++column) {
          const std::int64_t pair =
              oracle::PlaceOf(spec.layout, table->spec().pairs(), column).pair;
          ASSERT_EQ(oracle::Element(type, rows.data() + r * table->spec().row_bytes(), column),
                    want.Column({positions[r * axes + axis[pair]], 0}, column))
              << r << " " << column << "\n"
              << table->spec().text();
        }
      }
    }
  }
}

TEST(RotaryTableTest, OnePositionIsOnAllAxes) {
  const Rotary spec{.width = 16, .mrope_section = {2, 3, 3}};
  Rotary plain = spec;
  plain.mrope_section.clear();
  EXPECT_EQ(Read(*Open(spec, ElementType::kFloat32), 17, 5),
            Read(*Open(plain, ElementType::kFloat32), 17, 5));
}

TEST(RotaryTableTest, PositionsOfAxesAreChecked) {
  const auto table = Open({.width = 16, .mrope_section = {2, 3, 3}}, ElementType::kFloat32);
  std::vector<std::byte> row(static_cast<std::size_t>(table->spec().row_bytes()));
  const std::vector<std::int64_t> four = {1, 2, 3, 4};
  EXPECT_EQ(FieldOf(table->GatherAxesInto(absl::MakeConstSpan(four), absl::MakeSpan(row))),
            "positions");
  const std::vector<double> two = {1, 2};
  EXPECT_EQ(FieldOf(table->GatherAxesInto(absl::MakeConstSpan(two), absl::MakeSpan(row))),
            "real_positions");
  const std::vector<std::int64_t> far = {1, 2, kMost + 1};
  EXPECT_EQ(FieldOf(table->GatherAxesInto(absl::MakeConstSpan(far), absl::MakeSpan(row))),
            "positions[2]");
  const std::vector<std::int64_t> three = {1, 2, 3};
  EXPECT_EQ(
      FieldOf(table->GatherAxesInto(absl::MakeConstSpan(three), absl::MakeSpan(row).subspan(4))),
      "out");
}

// Rotating the exact row of p by -k w gives that of p + k but for roundings.
TEST(RotaryTableTest, ShiftedRowsAreRotated) {
  for (const Rotary& spec : Specs()) {
    const auto table = Open(spec, ElementType::kFloat64);
    const std::vector<std::byte> rows = Read(*table, 100, 1);
    const std::vector<std::byte> want = Read(*table, 117, 1);
    std::vector<std::byte> got(rows.size());
    const absl::Status status =
        ShiftRows(table->spec(), std::int64_t{17}, rows, absl::MakeSpan(got));
    ASSERT_TRUE(status.ok()) << status;
    const double factor = *table->spec().attention_factor();
    for (std::int64_t column = 0; column < table->spec().row_width(); ++column) {
      const auto value = [&](const std::vector<std::byte>& row) {
        return oracle::Value(ElementType::kFloat64,
                             oracle::Element(ElementType::kFloat64, row.data(), column));
      };
      EXPECT_NEAR(value(got), value(want), factor * 0x1p-51) << table->spec().text();
    }
    ASSERT_TRUE(ShiftRows(table->spec(), std::int64_t{0}, rows, absl::MakeSpan(got)).ok());
    EXPECT_EQ(got, rows);
  }
}

}  // namespace
}  // namespace phasor
