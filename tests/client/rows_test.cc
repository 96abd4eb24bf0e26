// Rows and elements, by a client that asks no server.

#include "phasor/rows.h"

#include <bit>
#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/phasor.h"
#include "tests/client/oracle_rows.h"

namespace phasor {
namespace {

using testing::ElementsAreArray;

template <typename T>
class LocalRowsTest : public testing::Test {};
using ElementTypes = testing::Types<float, double, Float16, Bfloat16>;
TYPED_TEST_SUITE(LocalRowsTest, ElementTypes);

TYPED_TEST(LocalRowsTest, AreTheOraclesBits) {
  const Client client = Client::Local();
  for (const Layout layout :
       {Layout::kSinCosInterleaved, Layout::kCosSinDuplicatedHalves, Layout::kSinOnly}) {
    const Sinusoidal spec{.width = 8, .base = 500000.0, .layout = layout};
    const auto table = client.Open({spec, ElementTypeOf<TypeParam>()});
    ASSERT_TRUE(table.ok()) << table.status();
    const auto rows = table->Read(-2, 40);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_EQ(rows->element_type(), ElementTypeOf<TypeParam>());
    const std::vector<TypeParam> want = OracleRows<TypeParam>(spec, -2, 40);
    EXPECT_TRUE(*rows->template values<TypeParam>() == absl::MakeConstSpan(want));
    const auto row = rows->template row<TypeParam>(39);
    EXPECT_TRUE(*row == absl::MakeConstSpan(want).subspan(39 * rows->row_width()));
    Cursor cursor = table->Decode(-2);
    EXPECT_TRUE(*cursor.Next<TypeParam>() ==
                absl::MakeConstSpan(want).subspan(0, rows->row_width()));
  }
}

TEST(RowsTest, RefusesAnotherTypeAndRowsThatAreNotThere) {
  const Rows rows = *Client::Local().Open(Sinusoidal{.width = 4})->Read(0, 3);
  EXPECT_EQ(rows.row<double>(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(rows.values<Float16>().status()), "T");
  EXPECT_TRUE(rows.row<float>(2).ok());
  for (const std::int64_t i : {-1L, 3L}) {
    EXPECT_EQ(rows.row<float>(i).status().code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(FieldOf(rows.row<float>(i).status()), "i");
  }
  EXPECT_EQ(Rows().row_count(), 0);
  EXPECT_TRUE(Rows().values<float>()->empty());
}

TEST(RowsTest, CopiesShareTheirMemory) {
  Rows copy;
  absl::Span<const float> row;
  {
    const Rows rows = *Client::Local().Open(Sinusoidal{.width = 4})->Read(2, 1);
    row = *rows.row<float>(0);
    copy = rows;
  }
  EXPECT_THAT(row, ElementsAreArray(OracleRows<float>({.width = 4}, 2, 1)));
}

TEST(ElementsTest, SixteenBitTypesWidenExactly) {
  // The definition of the formats, by ldexp.
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double sign = (bits & 0x8000) == 0 ? 1 : -1;
    const int exponent = static_cast<int>(bits >> 10) & 31;
    const int fraction = static_cast<int>(bits & 1023);
    const float got = ToFloat(Float16{static_cast<std::uint16_t>(bits)});
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(got), fraction != 0);
      EXPECT_EQ(std::isinf(got), fraction == 0);
    } else {
      EXPECT_EQ(got, sign * (exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25)));
    }
    EXPECT_EQ(std::signbit(got), sign < 0);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(ToFloat(Bfloat16{static_cast<std::uint16_t>(bits)})),
              bits << 16);
  }
}

TEST(LocalClientTest, ChecksAsAServerDoes) {
  const Client client = Client::Local();
  EXPECT_EQ(FieldOf(client.Open(Sinusoidal{.width = 7}).status()), "spec.sinusoidal.width");
  const Table table = *client.Open(LearnedInit{.max_positions = 10, .width = 4});
  EXPECT_EQ(table.Read(10, 1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(FieldOf(table.GatherReal({0.5}).status()), "real_positions");
  EXPECT_EQ(FieldOf(table.Frequencies().status()), "spec");
  EXPECT_EQ(*client.CheckHealth(), ServingStatus::kServing);
  EXPECT_TRUE(client.ListTables()->empty());
  EXPECT_EQ(client.GetServerInfo()->max_width, 65536);
  EXPECT_EQ(client.counters().rpcs, 0);
}

TEST(LocalClientTest, NamesTheArrayOfAShiftAsTheServerDoes) {
  const Table table = *Client::Local().Open(Sinusoidal{.width = 4});
  std::vector<float> rows(8);
  rows[6] = std::numeric_limits<float>::infinity();
  const absl::Status status = table.Shift(absl::MakeConstSpan(rows), 1, absl::MakeSpan(rows));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status).substr(0, 4), "data") << status;
}

}  // namespace
}  // namespace phasor
