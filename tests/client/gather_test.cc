// Steps of batches, from blocks and by calls.

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "client/src/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/client.h"
#include "phasor/core/errors.h"
#include "phasor/modules.h"
#include "tests/client/fake_connection.h"

namespace phasor {
namespace {

using internal::FakeConnection;
using internal::Session;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// 2 KiB a row: 32 rows a block.
constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kBlock = 32;
const Sinusoidal kFormula{.width = kWidth};

class GatherTest : public testing::Test {
 protected:
  GatherTest() {
    client_ = std::make_unique<Client>(Session::MakeClient({}, [this](internal::Counters*) {
      auto connection = std::make_unique<FakeConnection>();
      fake_ = connection.get();
      return connection;
    }));
  }

  Table Open(const Scheme& scheme = kFormula) {
    return *client_->Open(TableSpec(scheme, ElementType::kFloat64));
  }

  // The fake's rows say where they stand.
  static void ExpectRows(absl::Span<const double> rows, absl::Span<const std::int64_t> positions) {
    ASSERT_EQ(rows.size(), positions.size() * kWidth);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      ASSERT_EQ(rows[i * kWidth], static_cast<double>(positions[i])) << i;
      ASSERT_EQ(rows[i * kWidth + kWidth - 1], static_cast<double>(positions[i])) << i;
    }
  }
  static void Step(const Table& table, absl::Span<const std::int64_t> positions) {
    std::vector<double> out(positions.size() * kWidth, -1e9);
    const absl::Status status = table.Gather(positions, absl::MakeSpan(out));
    ASSERT_TRUE(status.ok()) << status;
    ExpectRows(out, positions);
  }

  std::unique_ptr<Client> client_;
  FakeConnection* fake_ = nullptr;
};

TEST_F(GatherTest, OneNewTokenEachOfABatchWalkingOn) {
  const Table table = Open();
  std::vector<std::int64_t> positions = {17, 4093, 88, 0, 1 << 20, -5};
  for (int step = 0; step < 500; ++step) {
    Step(table, positions);
    for (std::int64_t& position : positions) ++position;
  }
  // Missed twice, then walked through: two calls, and no wait after them.
  EXPECT_THAT(fake_->gathers(), ElementsAre(ElementsAre(6U), ElementsAre(6U)));
  EXPECT_THAT(fake_->reads(), IsEmpty());
  EXPECT_EQ(client_->counters().stalls, 2);
}

TEST_F(GatherTest, RowsInMemoryAndRowsThatAreNotKeepTheirPlaces) {
  const Table table = Open();
  Cursor cursor = table.Decode(1000);
  ASSERT_TRUE(cursor.Next<double>().ok());
  fake_->reads_ahead = false;
  const std::vector<std::int64_t> positions = {5000, 1001, 5000, 1001, 992, -1, 1023, 5001};
  Step(table, positions);
  EXPECT_THAT(fake_->gathers(), ElementsAre(ElementsAre(4U)));
  Step(table, {1000, 1000, 1000});
  EXPECT_THAT(fake_->gathers(), SizeIs(1));
}

TEST_F(GatherTest, ColdRandomPositionsAreOneCallAndFewBlocks) {
  const Table table = Open();
  std::mt19937_64 random(20240607);
  std::uniform_int_distribution<std::int64_t> uniform(0, (128 << 10) - 1);
  std::vector<std::int64_t> positions(256);
  for (std::int64_t& position : positions) position = uniform(random);
  Step(table, positions);
  EXPECT_THAT(fake_->gathers(), ElementsAre(ElementsAre(256U)));
  EXPECT_LE(fake_->ahead().size(), 8U);
}

TEST_F(GatherTest, PositionsAskedForAgainAreInMemoryTheThirdTime) {
  const Table table = Open();
  const std::vector<std::int64_t> positions = {100, 5000, 70000};
  for (int i = 0; i < 5; ++i) Step(table, positions);
  EXPECT_THAT(fake_->gathers(), SizeIs(2));
  EXPECT_THAT(fake_->ahead(), SizeIs(3));
}

TEST_F(GatherTest, PositionsNextToEachOtherAreInMemoryTheSecondTime) {
  const Table table = Open();
  std::vector<std::int64_t> positions(4 * kBlock);
  std::iota(positions.begin(), positions.end(), 10 * kBlock);
  std::shuffle(positions.begin(), positions.end(), std::mt19937_64(7));
  Step(table, positions);
  // One run, not four blocks; and the one after it.
  ASSERT_THAT(fake_->ahead(), SizeIs(1));
  EXPECT_EQ(fake_->ahead()[0].start, 10 * kBlock);
  EXPECT_EQ(fake_->ahead()[0].count, 5 * kBlock);
  Step(table, positions);
  EXPECT_THAT(fake_->gathers(), SizeIs(1));
}

TEST_F(GatherTest, StridedPositions) {
  const Table table = Open();
  std::vector<std::int64_t> positions;
  for (std::int64_t p = -3000; p < 3000; p += 7) positions.push_back(p);
  for (int i = 0; i < 3; ++i) Step(table, positions);
}

TEST_F(GatherTest, AFailedBackgroundFetchIsSeenByNobody) {
  const Table table = Open();
  fake_->hold = true;
  for (int i = 0; i < 6; ++i) {
    Step(table, {100, 5000});
    fake_->Land(absl::UnavailableError("not now"));
  }
  EXPECT_THAT(fake_->gathers(), SizeIs(6));
  fake_->hold = false;
  for (int i = 0; i < 3; ++i) Step(table, {100, 5000});
  EXPECT_LE(fake_->gathers().size(), 8U);
}

TEST_F(GatherTest, ErrorsOfTheCallAreTheGathers) {
  const Table table = Open();
  fake_->answer = [] { return absl::UnavailableError("gone"); };
  std::vector<double> out(kWidth);
  EXPECT_EQ(table.Gather({3}, absl::MakeSpan(out)), absl::UnavailableError("gone"));
  fake_->answer = [] { return absl::OkStatus(); };
  Step(table, {3});
}

TEST_F(GatherTest, SeveralTablesAreOneStep) {
  const Table a = Open();
  Sinusoidal other = kFormula;
  other.base = 1e6;
  const Table b = Open(other);
  const Table c = Open(LearnedInit{.max_positions = 4096, .width = kWidth});
  const std::vector<std::int64_t> positions[] = {{5, 900, 5}, {70000}, {4095, 0}};
  for (int step = 0; step < 4; ++step) {
    std::vector<double> out[3];
    for (int i = 0; i < 3; ++i) out[i].resize(positions[i].size() * kWidth);
    const absl::Status status = Table::Gather({{a, positions[0], absl::MakeSpan(out[0])},
                                               {b, positions[1], absl::MakeSpan(out[1])},
                                               {c, positions[2], absl::MakeSpan(out[2])}});
    ASSERT_TRUE(status.ok()) << status;
    for (int i = 0; i < 3; ++i) ExpectRows(out[i], positions[i]);
  }
  EXPECT_THAT(fake_->gathers(), ElementsAre(ElementsAre(3U, 1U, 2U), ElementsAre(3U, 1U, 2U)));
}

TEST_F(GatherTest, AStepOfSeveralTablesNamesTheOneThatIsWrong) {
  const Table a = Open();
  const Table c = Open(LearnedInit{.max_positions = 10, .width = kWidth});
  std::vector<double> one(kWidth);
  std::vector<float> narrow(kWidth);
  const auto expect = [](const absl::Status& status, absl::StatusCode code, const char* field) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(FieldOf(status), field);
  };
  const std::int64_t seven[] = {7};
  const auto good = TableStep(a, seven, absl::MakeSpan(one));
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  const std::int64_t ten[] = {10};
  expect(Table::Gather({good, {c, ten, absl::MakeSpan(one)}}), absl::StatusCode::kOutOfRange,
         "steps[1].positions[0]");
  expect(Table::Gather({good, {a, ten, absl::MakeSpan(narrow)}}), kInvalid, "steps[1].out");
  expect(Table::Gather({{a, ten, absl::MakeSpan(one).subspan(1)}}), kInvalid, "steps[0].out");
  const Table foreign =
      *Client::Local().Open(TableSpec(Sinusoidal{.width = kWidth}, ElementType::kFloat64));
  expect(Table::Gather({good, {foreign, ten, absl::MakeSpan(one)}}), kInvalid, "steps[1].table");
  EXPECT_THAT(fake_->gathers(), IsEmpty());
  EXPECT_TRUE(Table::Gather(absl::Span<const TableStep>()).ok());
}

}  // namespace
}  // namespace phasor
