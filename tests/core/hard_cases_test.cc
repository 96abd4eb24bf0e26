// The elements that are hardest to round (hard_cases.h), through core's tables:
// alone, in blocks, at every place in a block, in every layout; as tables are, and
// with every element in doubt.

#include "tests/proof/hard_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/sinusoidal_table.h"
#include "core/stop_check.h"
#include "phasor/core/local_table.h"
#include "tests/oracle/oracle.h"

namespace phasor::proof {
namespace {

constexpr Layout kLayouts[] = {Layout::kSinCosInterleaved,
                               Layout::kSinCosHalves,
                               Layout::kCosSinHalves,
                               Layout::kCosSinInterleaved,
                               Layout::kCosSinDuplicatedHalves,
                               Layout::kCosSinDuplicatedPairs,
                               Layout::kCosOnly,
                               Layout::kSinOnly};

const std::vector<HardCase>& Cases() {
  static const auto* const cases =
      new std::vector<HardCase>(LoadHardCases(PHASOR_GOLDEN_DIR "/hard_cases.tsv"));
  return *cases;
}

enum class Doubt : std::uint8_t { kAsItIs, kOfEveryElement };
constexpr Doubt kDoubts[] = {Doubt::kAsItIs, Doubt::kOfEveryElement};

template <ElementType kType>
std::shared_ptr<const LocalTable> InDoubt(CanonicalSpec spec) {
  StopCheck never(NeverStop);
  return std::make_shared<SinusoidalTable<kType>>(std::move(spec), never,
                                                  std::numeric_limits<double>::infinity());
}

std::shared_ptr<const LocalTable> Make(CanonicalSpec spec, Doubt doubt) {
  if (doubt == Doubt::kAsItIs) return LocalTable::Create(std::move(spec));
  switch (spec.element_type()) {
    case ElementType::kFloat32: return InDoubt<ElementType::kFloat32>(std::move(spec));
    case ElementType::kFloat64: return InDoubt<ElementType::kFloat64>(std::move(spec));
    case ElementType::kFloat16: return InDoubt<ElementType::kFloat16>(std::move(spec));
    case ElementType::kBfloat16: return InDoubt<ElementType::kBfloat16>(std::move(spec));
  }
  return nullptr;
}

// The last one opened of each kind is kept: neighbours in the file share it.
std::shared_ptr<const LocalTable> Open(const HardCase& c, Layout layout, Doubt doubt) {
  static std::map<std::pair<Layout, Doubt>, std::shared_ptr<const LocalTable>> opened;
  Sinusoidal spec = c.Spec();
  spec.layout = layout;
  auto canonical = CanonicalSpec::Create(TableSpec(spec, c.type));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  auto& table = opened[{layout, doubt}];
  if (table == nullptr || table->spec().text() != canonical->text()) {
    table = Make(*std::move(canonical), doubt);
  }
  return table;
}

std::string Text(const HardCase& c) {
  return std::string(ElementTypeName(c.type)) + " " + c.ladder + " width " +
         std::to_string(c.width) + " base " + std::to_string(c.base) + " parameter " +
         std::to_string(c.parameter) + " position " + std::to_string(c.position) + " pair " +
         std::to_string(c.pair) + (c.sine ? " sine" : " cosine");
}

// Compares the element of `c`, wherever it stands in a row. A row at minus the
// position has the sine's sign turned.
void ExpectElement(const HardCase& c, const LocalTable& table, Layout layout, const std::byte* row,
                   bool negative = false) {
  const std::uint64_t sign =
      negative && c.sine ? std::uint64_t{1} << (8 * ElementBytes(c.type) - 1) : 0;
  for (std::int64_t column = 0; column < table.spec().row_width(); ++column) {
    const oracle::Place place = oracle::PlaceOf(layout, c.width / 2, column);
    if (place.pair != c.pair || place.sine != c.sine) continue;
    ASSERT_EQ(oracle::Element(c.type, row, column), c.bits ^ sign)
        << Text(c) << " in column " << column << " of " << LayoutName(layout);
  }
}

// Reads rows start ... start + count - 1, which hold that of the case.
void ExpectInBlock(const HardCase& c, const LocalTable& table, Layout layout, std::int64_t start,
                   std::int64_t count) {
  start = std::max(start, table.spec().first_position());
  count = std::min(count, table.spec().last_position() - start + 1);
  std::vector<std::byte> rows(count * table.spec().row_bytes());
  const absl::Status status = table.ReadInto(start, count, absl::MakeSpan(rows));
  ASSERT_TRUE(status.ok()) << status;
  SCOPED_TRACE("block from " + std::to_string(start) + " of " + std::to_string(count));
  ExpectElement(c, table, layout, rows.data() + (c.position - start) * table.spec().row_bytes());
}

// The data, against the oracle: a wrong expectation would only be met by a
// wrong kernel.
TEST(HardCasesTest, BitsAreThoseOfTheOracle) {
  for (const HardCase& c : Cases()) {
    const oracle::Table oracle(c.Spec(), c.type);
    const oracle::Position position{c.position};
    ASSERT_EQ(c.bits, c.sine ? oracle.Sine(c.pair, position) : oracle.Cosine(c.pair, position))
        << Text(c);
  }
}

// What random samples do not have.
TEST(HardCasesTest, EveryTypeHasCasesThatAShortCutRoundsWrongly) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                 ElementType::kFloat16, ElementType::kBfloat16}) {
    SCOPED_TRACE(std::string(ElementTypeName(type)));
    const auto count = [&](const char* through) {
      return std::count_if(Cases().begin(), Cases().end(), [&](const HardCase& c) {
        return c.type == type && c.wrong_through.find(through) != std::string::npos;
      });
    };
    EXPECT_GE(count(type == ElementType::kFloat64 ? "extended" : "binary64"), 10);
    if (ElementBytes(type) == 2) {
      EXPECT_GE(count("float32"), 10);
    }
  }
}

std::vector<std::pair<Layout, Doubt>> EveryTable() {
  std::vector<std::pair<Layout, Doubt>> tables;
  for (const Layout layout : kLayouts) {
    for (const Doubt doubt : kDoubts) tables.emplace_back(layout, doubt);
  }
  return tables;
}

TEST(HardCasesTest, AloneInEveryLayout) {
  for (const HardCase& c : Cases()) {
    for (const auto& [layout, doubt] : EveryTable()) {
      const auto table = Open(c, layout, doubt);
      std::vector<std::byte> row(table->spec().row_bytes());
      const std::int64_t there[] = {c.position};
      ASSERT_TRUE(table->GatherInto(absl::MakeConstSpan(there), absl::MakeSpan(row)).ok());
      ExpectElement(c, *table, layout, row.data());
      const std::int64_t mirrored[] = {-c.position};
      ASSERT_TRUE(table->GatherInto(absl::MakeConstSpan(mirrored), absl::MakeSpan(row)).ok());
      ExpectElement(c, *table, layout, row.data(), /*negative=*/true);
      const double real[] = {static_cast<double>(c.position)};
      ASSERT_TRUE(table->GatherInto(absl::MakeConstSpan(real), absl::MakeSpan(row)).ok());
      ExpectElement(c, *table, layout, row.data());
      if (HasFatalFailure()) return;
    }
  }
}

TEST(HardCasesTest, InBlocksOfEveryLayout) {
  for (const HardCase& c : Cases()) {
    for (const auto& [layout, doubt] : EveryTable()) {
      const auto table = Open(c, layout, doubt);
      ExpectInBlock(c, *table, layout, c.position, 1);
      ExpectInBlock(c, *table, layout, c.position - 3, 8);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(HardCasesTest, AtEveryPlaceInABlock) {
  std::size_t n = 0;
  for (const HardCase& c : Cases()) {
    const Layout layout = kLayouts[n++ % 8];
    const bool is_there = layout == Layout::kCosOnly   ? !c.sine
                          : layout == Layout::kSinOnly ? c.sine
                                                       : true;
    if (!is_there) continue;
    for (const Doubt doubt : kDoubts) {
      const auto table = Open(c, layout, doubt);
      for (std::int64_t place = 0; place < 20; ++place) {
        ExpectInBlock(c, *table, layout, c.position - place, place + 2);
      }
    }
    const auto table = Open(c, layout, Doubt::kAsItIs);
    // Far from the rows that a block starts with.
    for (const std::int64_t place : {31, 64, 127, 400}) {
      ExpectInBlock(c, *table, layout, c.position - place, place + 1);
    }
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace phasor::proof
