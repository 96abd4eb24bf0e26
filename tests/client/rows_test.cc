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

TEST(LocalClientTest, TellsOfTheLibraryAndOfNoServer) {
  const ServerInfo info = *Client::Local().GetServerInfo();
  EXPECT_FALSE(info.version.empty());
  EXPECT_EQ(info.numerics_version, 1);
  EXPECT_EQ(info.max_message_bytes, 0);
  EXPECT_EQ(info.max_chunk_bytes, 0);
  EXPECT_EQ(info.cache_bytes, 0);
  EXPECT_EQ(info.cached_bytes, 0);
}

TEST(TableTest, ShiftsTheRowsOfItsOwnKindAlone) {
  const Client client = Client::Local();
  const Table table = *client.Open(Sinusoidal{.width = 4});
  const Rows other_type =
      *client.Open(TableSpec(Sinusoidal{.width = 4}, ElementType::kFloat64))->Read(0, 1);
  const Rows other_width = *client.Open(Sinusoidal{.width = 8})->Read(0, 1);
  const Rows narrower = *client.Open(Sinusoidal{.width = 2})->Read(0, 2);
  for (const Rows& rows : {other_type, other_width, narrower}) {
    const absl::Status status = table.Shift(rows, 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldOf(status), "data");
  }
  EXPECT_EQ(table.Shift(Rows(), 1).status().code(), absl::StatusCode::kInvalidArgument);
  const Rows none = *table.Read(0, 0);
  EXPECT_EQ(table.Shift(none, 1)->row_count(), 0);
}

TEST(TableTest, NamesAnArrayThatHasNotTheSizeOfTheRows) {
  const Table table = *Client::Local().Open(Sinusoidal{.width = 4});
  std::vector<float> rows(8);
  const auto x = absl::MakeConstSpan(rows);
  std::vector<float> out(12);
  for (const std::size_t size : {0, 3, 4, 7, 12}) {
    const auto to = absl::MakeSpan(out).subspan(0, size);
    for (const absl::Status& status : {table.ReadInto(0, 2, to), table.Gather({1, 2}, to),
                                       table.GatherReal({1, 2}, to), table.Shift(x, 1, to)}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << size;
      EXPECT_EQ(FieldOf(status), "out") << size;
    }
  }
  EXPECT_EQ(FieldOf(table.Shift(x.subspan(1), 1, absl::MakeSpan(out).subspan(0, 7))), "data");
}

TEST(TableTest, RefusesWhatNoMemoryHoldsByItsName) {
  const Table table = *Client::Local().Open(Sinusoidal{.width = 65536});
  const absl::Status status = table.Read(-kMaxPosition, 2 * kMaxPosition).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(FieldOf(status), "row_count");
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
