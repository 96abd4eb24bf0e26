#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat64,
                                  ElementType::kFloat16, ElementType::kBfloat16};

CanonicalSpec Canonical(TableSpec spec) {
  auto canonical = CanonicalSpec::Create(std::move(spec));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return *std::move(canonical);
}

std::vector<std::byte> ReadRows(const CanonicalSpec& spec, std::int64_t start, std::int64_t count) {
  std::vector<std::byte> out(count * spec.row_bytes());
  EXPECT_TRUE(LocalTable::Create(spec)->ReadInto(start, count, absl::MakeSpan(out)).ok());
  return out;
}

std::vector<std::byte> Shifted(const CanonicalSpec& spec, ShiftBy by,
                               const std::vector<std::byte>& rows) {
  std::vector<std::byte> out(rows.size());
  const absl::Status status = ShiftRows(spec, by, rows, absl::MakeSpan(out));
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

void Put(ElementType type, std::vector<std::byte>& data, std::int64_t index, std::uint64_t bits) {
  std::memcpy(data.data() + index * ElementBytes(type), &bits, ElementBytes(type));
}

std::uint64_t SignBit(ElementType type) { return std::uint64_t{1} << (8 * ElementBytes(type) - 1); }

std::uint64_t RoundAs(ElementType type, double value) {
  oracle::Number n(53);
  mpfr_set_d(n.v, value, MPFR_RNDN);
  return oracle::Round(type, n.v);
}

// Shifts interleaved rows of these elements and compares with the oracle, bit for bit.
void ExpectShifts(const Sinusoidal& sinusoidal, ElementType type, ShiftBy by,
                  const std::vector<std::byte>& rows) {
  const CanonicalSpec spec = Canonical(TableSpec(sinusoidal, type));
  const std::vector<std::byte> got = Shifted(spec, by, rows);
  const oracle::Table table(sinusoidal, type);
  oracle::Position k;
  if (const auto* steps = std::get_if<std::int64_t>(&by)) {
    k.integer = *steps;
  } else {
    k.fraction = std::get<double>(by);
  }
  const std::int64_t pairs = static_cast<std::int64_t>(rows.size()) / ElementBytes(type) / 2;
  for (std::int64_t n = 0; n < pairs; ++n) {
    const double s = oracle::Value(type, oracle::Element(type, rows.data(), 2 * n));
    const double c = oracle::Value(type, oracle::Element(type, rows.data(), 2 * n + 1));
    const auto [sine, cosine] = table.Shifted(n % table.pairs(), k, s, c);
    ASSERT_EQ(oracle::Element(type, got.data(), 2 * n), sine)
        << ElementTypeName(type) << " pair " << n << ": " << s << ", " << c << " by " << k.integer
        << " + " << k.fraction;
    ASSERT_EQ(oracle::Element(type, got.data(), 2 * n + 1), cosine)
        << ElementTypeName(type) << " pair " << n << ": " << s << ", " << c << " by " << k.integer
        << " + " << k.fraction;
  }
}

const std::vector<ShiftBy>& Shifts() {
  static const std::vector<ShiftBy> shifts = {std::int64_t{1},
                                              std::int64_t{-3},
                                              std::int64_t{4096},
                                              std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max(),
                                              std::int64_t{6134899525417045},
                                              0.5,
                                              -2.75,
                                              1.0,
                                              1e-5,
                                              -1e-60,
                                              1e-200,
                                              0x1p-1074,
                                              1e17,
                                              -1e19,
                                              1e100,
                                              std::numeric_limits<double>::max()};
  return shifts;
}

std::vector<Sinusoidal> Specs() {
  return {{.width = 8},
          {.width = 8, .base = 0x1p52, .ladder = InclusiveLadder{}},
          {.width = 8, .base = 1e12, .ladder = DownscaledLadder{3.5}},
          {.width = 8, .ladder = ExplicitLadder{{0x1p32, -0x1p-64, 0.7, 0.0}}}};
}

TEST(ShiftRowsTest, WorkedExample) {
  const CanonicalSpec spec = Canonical(Sinusoidal{.width = 4});
  const std::vector<std::byte> rows = ReadRows(spec, 1, 2);
  const std::vector<std::byte> first(rows.begin(), rows.begin() + 16);
  const std::vector<std::byte> got = Shifted(spec, std::int64_t{1}, first);
  for (int column = 0; column < 4; ++column) {
    const auto value = [column](const std::byte* row) {
      return oracle::Value(ElementType::kFloat32,
                           oracle::Element(ElementType::kFloat32, row, column));
    };
    EXPECT_NEAR(value(got.data()), value(rows.data() + 16), 0x1p-23) << column;
  }
}

TEST(ShiftRowsTest, RowsOfATableAgreeWithTheOracle) {
  for (const Sinusoidal& spec : Specs()) {
    for (const ElementType type : kTypes) {
      const std::vector<std::byte> rows = ReadRows(Canonical(TableSpec(spec, type)), -2, 5);
      for (const ShiftBy by : Shifts()) ExpectShifts(spec, type, by, rows);
    }
  }
}

// Any finite elements: all magnitudes, zeros, and pairs that nearly cancel.
TEST(ShiftRowsTest, AnyFiniteElementsAgreeWithTheOracle) {
  std::mt19937_64 random(9);
  for (const Sinusoidal& spec : Specs()) {
    for (const ElementType type : kTypes) {
      for (const ShiftBy by : Shifts()) {
        std::vector<std::byte> rows(6 * 8 * ElementBytes(type));
        for (std::int64_t n = 0; n < 48; ++n) {
          std::uint64_t bits = 0;
          double value = 0;
          do {
            // Half of the elements are small, a few are zeros of either sign.
            bits = random() & (2 * SignBit(type) - 1);
            if (n % 2 == 0) bits &= SignBit(type) | (SignBit(type) / 4 - 1);
            if (random() % 9 == 0) bits &= SignBit(type);
            if (random() % 5 == 0) bits &= SignBit(type) | 0x1f;
            value = oracle::Value(type, bits);
            // So that no sum overflows.
          } while (!std::isfinite(value) ||
                   std::abs(value) > oracle::Value(type, RoundAs(type, HUGE_VAL) - 1) / 2);
          Put(type, rows, n, bits);
        }
        // Pairs turned almost onto an axis.
        const oracle::Table table(spec, type);
        for (std::int64_t i = 0; i < 4; ++i) {
          const double k = std::holds_alternative<double>(by)
                               ? std::get<double>(by)
                               : static_cast<double>(std::get<std::int64_t>(by));
          const double angle = std::remainder(k * table.Frequency(i), 2 * M_PI);
          Put(type, rows, 8 + 2 * i, RoundAs(type, -std::sin(angle)));
          Put(type, rows, 8 + 2 * i + 1, RoundAs(type, std::cos(angle)));
          Put(type, rows, 16 + 2 * i, RoundAs(type, std::cos(angle)));
          Put(type, rows, 16 + 2 * i + 1, RoundAs(type, std::sin(angle)));
        }
        ExpectShifts(spec, type, by, rows);
      }
    }
  }
}

TEST(ShiftRowsTest, ZeroGivesTheRowsBackBitForBit) {
  for (const ElementType type : kTypes) {
    const CanonicalSpec spec = Canonical(TableSpec(Sinusoidal{.width = 4}, type));
    std::vector<std::byte> rows = ReadRows(spec, 7, 3);
    Put(type, rows, 2, SignBit(type));
    Put(type, rows, 3, SignBit(type) | 1);
    EXPECT_EQ(Shifted(spec, std::int64_t{0}, rows), rows);
    EXPECT_EQ(Shifted(spec, 0.0, rows), rows);
    EXPECT_EQ(Shifted(spec, -0.0, rows), rows);
  }
}

TEST(ShiftRowsTest, ExactZerosArePlusZero) {
  for (const ElementType type : kTypes) {
    const std::uint64_t minus_zero = SignBit(type);
    const std::uint64_t two = RoundAs(type, 2);
    // Pair 0 turns, pair 1 does not.
    const CanonicalSpec spec =
        Canonical(TableSpec(Sinusoidal{.width = 4, .ladder = ExplicitLadder{{1, 0}}}, type));
    std::vector<std::byte> rows(spec.row_bytes());
    Put(type, rows, 0, minus_zero);
    Put(type, rows, 1, minus_zero);
    Put(type, rows, 2, minus_zero);
    Put(type, rows, 3, two);
    for (const ShiftBy by : {ShiftBy(std::int64_t{5}), ShiftBy(-0.5)}) {
      const std::vector<std::byte> got = Shifted(spec, by, rows);
      EXPECT_EQ(oracle::Element(type, got.data(), 0), 0u);
      EXPECT_EQ(oracle::Element(type, got.data(), 1), 0u);
      EXPECT_EQ(oracle::Element(type, got.data(), 2), 0u);
      EXPECT_EQ(oracle::Element(type, got.data(), 3), two);
    }
  }
}

TEST(ShiftRowsTest, OneRotationForEveryPosition) {
  // The rows p + k from the rows p, whatever p is: rounding apart, the same turn.
  const CanonicalSpec spec = Canonical(TableSpec(Sinusoidal{.width = 64}, ElementType::kFloat64));
  for (const std::int64_t p : {std::int64_t{0}, std::int64_t{-17}, std::int64_t{1} << 40}) {
    for (const std::int64_t k : {1, -1, 1000, -65536}) {
      const std::vector<std::byte> got = Shifted(spec, k, ReadRows(spec, p, 4));
      const std::vector<std::byte> want = ReadRows(spec, p + k, 4);
      for (std::int64_t n = 0; n < 4 * 64; ++n) {
        const auto value = [n](const std::vector<std::byte>& rows) {
          return oracle::Value(ElementType::kFloat64,
                               oracle::Element(ElementType::kFloat64, rows.data(), n));
        };
        ASSERT_NEAR(value(got), value(want), 0x1p-52);
      }
    }
  }
}

TEST(ShiftRowsTest, EveryLayoutTurnsTheSamePairs) {
  for (const ElementType type : kTypes) {
    const Sinusoidal plain{.width = 12};
    const std::vector<std::byte> want = Shifted(Canonical(TableSpec(plain, type)), -2.5,
                                                ReadRows(Canonical(TableSpec(plain, type)), 9, 2));
    for (int layout = 0; layout < 6; ++layout) {
      Sinusoidal sinusoidal = plain;
      sinusoidal.layout = static_cast<Layout>(layout);
      const CanonicalSpec spec = Canonical(TableSpec(sinusoidal, type));
      const std::vector<std::byte> got = Shifted(spec, -2.5, ReadRows(spec, 9, 2));
      for (std::int64_t n = 0; n < 2 * spec.row_width(); ++n) {
        const std::int64_t row = n / spec.row_width();
        const oracle::Place place = oracle::PlaceOf(sinusoidal.layout, 6, n % spec.row_width());
        ASSERT_EQ(
            oracle::Element(type, got.data(), n),
            oracle::Element(type, want.data(), row * 12 + 2 * place.pair + (place.sine ? 0 : 1)));
      }
    }
  }
}

TEST(ShiftRowsTest, TheColumnBesideThePairsOfAnOddWidthRests) {
  const Sinusoidal even{.width = 6, .layout = Layout::kCosSinHalves};
  Sinusoidal odd = even;
  odd.width = 7;
  odd.odd_column = OddColumn::kZero;
  for (const ElementType type : kTypes) {
    const CanonicalSpec spec = Canonical(TableSpec(odd, type));
    std::vector<std::byte> rows = ReadRows(spec, 5, 2);
    const std::vector<std::byte> pairs = ReadRows(Canonical(TableSpec(even, type)), 5, 2);
    const std::vector<std::byte> turned =
        Shifted(Canonical(TableSpec(even, type)), std::int64_t{3}, pairs);
    Put(type, rows, 6, SignBit(type));  // -0
    Put(type, rows, 13, 1);             // whatever is there stays
    const std::vector<std::byte> got = Shifted(spec, std::int64_t{3}, rows);
    for (std::int64_t row = 0; row < 2; ++row) {
      for (std::int64_t column = 0; column < 6; ++column) {
        EXPECT_EQ(oracle::Element(type, got.data(), 7 * row + column),
                  oracle::Element(type, turned.data(), 6 * row + column));
      }
      EXPECT_EQ(oracle::Element(type, got.data(), 7 * row + 6), row == 0 ? 0U : 1U);
    }
    Put(type, rows, 13, SignBit(type) - 1);  // a NaN
    const absl::Status status = ShiftRows(spec, std::int64_t{3}, rows, absl::MakeSpan(rows));
    EXPECT_EQ(FieldOf(status), "rows");
    EXPECT_NE(status.message().find("row 1 column 6"), absl::string_view::npos) << status;
  }
}

TEST(ShiftRowsTest, RowsThatLackACosineAreRefused) {
  const CanonicalSpec spec = Canonical(Sinusoidal{.width = 7, .odd_column = OddColumn::kSine});
  std::vector<std::byte> rows = ReadRows(spec, 5, 2);
  const absl::Status status = ShiftRows(spec, std::int64_t{3}, rows, absl::MakeSpan(rows));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status), "spec");
}

TEST(ShiftRowsTest, InAndOutMayBeTheSameMemory) {
  const CanonicalSpec spec = Canonical(Sinusoidal{.width = 64});
  const std::vector<std::byte> rows = ReadRows(spec, 0, 9);
  std::vector<std::byte> same = rows;
  ASSERT_TRUE(ShiftRows(spec, std::int64_t{5}, same, absl::MakeSpan(same)).ok());
  EXPECT_EQ(same, Shifted(spec, std::int64_t{5}, rows));
}

class ShiftErrorTest : public ::testing::Test {
 protected:
  void ExpectError(const CanonicalSpec& spec, ShiftBy by, const std::vector<std::byte>& rows,
                   absl::StatusCode code, const std::string& field, const std::string& says = "") {
    std::vector<std::byte> out(rows.size());
    const absl::Status status = ShiftRows(spec, by, rows, absl::MakeSpan(out));
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(FieldOf(status), field) << status;
    EXPECT_NE(std::string(status.message()).find(says), std::string::npos) << status;
  }

  static constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  const CanonicalSpec spec_ = Canonical(Sinusoidal{.width = 4});
  const std::vector<std::byte> rows_ = ReadRows(spec_, 0, 3);
};

TEST_F(ShiftErrorTest, TablesThatRotationsDoNotShift) {
  const CanonicalSpec learned = Canonical(LearnedInit{.max_positions = 8, .width = 4});
  ExpectError(learned, std::int64_t{1}, rows_, kInvalid, "spec");
  for (const Layout layout : {Layout::kCosOnly, Layout::kSinOnly}) {
    ExpectError(Canonical(Sinusoidal{.width = 4, .layout = layout}), std::int64_t{0}, rows_,
                kInvalid, "spec", std::string(LayoutName(layout)));
  }
}

TEST_F(ShiftErrorTest, ShiftsAndSizes) {
  ExpectError(spec_, std::nan(""), rows_, kInvalid, "by");
  ExpectError(spec_, -HUGE_VAL, rows_, kInvalid, "by");
  ExpectError(spec_, std::int64_t{1}, std::vector<std::byte>(17), kInvalid, "rows");
  std::vector<std::byte> out(32);
  EXPECT_EQ(FieldOf(ShiftRows(spec_, std::int64_t{1}, rows_, absl::MakeSpan(out))), "out");
  EXPECT_TRUE(ShiftRows(spec_, std::int64_t{1}, {}, {}).ok());
  EXPECT_TRUE(ShiftRows(spec_, std::int64_t{0}, {}, {}).ok());
}

TEST_F(ShiftErrorTest, ElementsThatAreNotFinite) {
  for (const ElementType type : kTypes) {
    const CanonicalSpec spec = Canonical(TableSpec(Sinusoidal{.width = 4}, type));
    for (const double bad : {HUGE_VAL, -HUGE_VAL}) {
      std::vector<std::byte> rows = ReadRows(spec, 0, 3);
      Put(type, rows, 2 * 4 + 1, RoundAs(type, bad));
      ExpectError(spec, std::int64_t{1}, rows, kInvalid, "rows", "row 2 column 1");
      ExpectError(spec, std::int64_t{0}, rows, kInvalid, "rows", "row 2 column 1");
      Put(type, rows, 4 + 2, RoundAs(type, bad) | 1);  // a NaN
      ExpectError(spec, 0.5, rows, kInvalid, "rows", "row 1 column 2");
    }
  }
}

TEST_F(ShiftErrorTest, CopiesThatDiffer) {
  const CanonicalSpec spec =
      Canonical(Sinusoidal{.width = 4, .layout = Layout::kCosSinDuplicatedHalves});
  std::vector<std::byte> rows = ReadRows(spec, 0, 2);
  Put(ElementType::kFloat32, rows, 8 + 7, 0x3f000000);
  ExpectError(spec, std::int64_t{1}, rows, kInvalid, "rows", "row 1 column 7");
  ExpectError(spec, std::int64_t{0}, rows, kInvalid, "rows", "row 1 column 7");
}

TEST_F(ShiftErrorTest, ResultsThatWouldRoundToInfinity) {
  for (const ElementType type : kTypes) {
    // Turned by one radian, the sine of two equal elements grows by 1.38.
    const CanonicalSpec spec = Canonical(TableSpec(Sinusoidal{.width = 2}, type));
    const std::uint64_t largest = RoundAs(type, HUGE_VAL) - 1;
    std::vector<std::byte> rows = ReadRows(spec, 0, 3);
    Put(type, rows, 2, largest);
    Put(type, rows, 3, largest);
    ExpectError(spec, std::int64_t{1}, rows, absl::StatusCode::kOutOfRange, "rows",
                "row 1 column 0");
    ExpectError(spec, std::int64_t{-1}, rows, absl::StatusCode::kOutOfRange, "rows",
                "row 1 column 1");
    EXPECT_EQ(Shifted(spec, std::int64_t{0}, rows), rows);
  }
}

TEST(RotatePairsTest, AgreesWithTheOracle) {
  std::mt19937_64 random(10);
  for (const ElementType type : kTypes) {
    std::vector<double> angles = {0.0,    -0.0,    1.0,   -0.5,   M_PI, -M_PI / 2, 1e-8,
                                  1e-320, -1e-200, 1e300, 0x1p64, 1e22, 2 * M_PI,  0x1p-30};
    for (int n = 0; n < 40; ++n) {
      angles.push_back(
          std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 200) - 150));
    }
    std::vector<std::byte> pairs(angles.size() * 2 * ElementBytes(type));
    for (std::size_t k = 0; k < 2 * angles.size(); ++k) {
      const double value = std::ldexp(static_cast<double>(random() >> 11), -53) - 0.5;
      Put(type, pairs, static_cast<std::int64_t>(k),
          k % 7 == 0 ? SignBit(type) : RoundAs(type, value));
    }
    std::vector<std::byte> got = pairs;
    ASSERT_TRUE(RotatePairs(type, angles, absl::MakeSpan(got)).ok());
    for (std::size_t j = 0; j < angles.size(); ++j) {
      const auto k = static_cast<std::int64_t>(2 * j);
      const auto [x, y] = oracle::Turned(
          type, angles[j], oracle::Value(type, oracle::Element(type, pairs.data(), k)),
          oracle::Value(type, oracle::Element(type, pairs.data(), k + 1)));
      ASSERT_EQ(oracle::Element(type, got.data(), k), x) << ElementTypeName(type) << angles[j];
      ASSERT_EQ(oracle::Element(type, got.data(), k + 1), y) << ElementTypeName(type) << angles[j];
    }
  }
}

TEST(RotatePairsTest, TurnsTheUsualWayRound) {
  std::vector<std::byte> pairs(8);
  Put(ElementType::kFloat32, pairs, 0, 0x3f800000);  // (1, 0) turned by 1 radian
  ASSERT_TRUE(RotatePairs(ElementType::kFloat32, {1.0}, absl::MakeSpan(pairs)).ok());
  const auto value = [&](int k) {
    return oracle::Value(ElementType::kFloat32,
                         oracle::Element(ElementType::kFloat32, pairs.data(), k));
  };
  EXPECT_NEAR(value(0), 0.5403023, 1e-7);
  EXPECT_NEAR(value(1), 0.8414710, 1e-7);
}

TEST(RotatePairsTest, Errors) {
  std::vector<std::byte> pairs(16);
  const auto status = [&](const std::vector<double>& angles) {
    return RotatePairs(ElementType::kFloat32, angles, absl::MakeSpan(pairs));
  };
  EXPECT_EQ(FieldOf(status({1.0})), "pairs");
  EXPECT_EQ(status({1.0}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status({1.0, std::nan("")})), "angles[1]");
  EXPECT_EQ(status({HUGE_VAL, 1.0}).code(), absl::StatusCode::kInvalidArgument);
  Put(ElementType::kFloat32, pairs, 3, 0x7fc00000);
  EXPECT_EQ(FieldOf(status({1.0, 1.0})), "pairs");
  EXPECT_EQ(status({1.0, 1.0}).code(), absl::StatusCode::kInvalidArgument);
  Put(ElementType::kFloat32, pairs, 2, 0x7f7fffff);
  Put(ElementType::kFloat32, pairs, 3, 0x7f7fffff);
  EXPECT_EQ(status({1.0, 1.0}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(FieldOf(status({1.0, 1.0})), "pairs");
}

}  // namespace
}  // namespace phasor
