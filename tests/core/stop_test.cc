#include "phasor/core/stop.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "phasor/core/local_table.h"
#include "phasor/core/row_shift.h"

namespace phasor {
namespace {

using Call = std::function<absl::Status(StopRequest)>;

CanonicalSpec Canonical(TableSpec spec) {
  auto canonical = CanonicalSpec::Create(std::move(spec));
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return *std::move(canonical);
}

// Counts the questions of a call that is never stopped, then stops it at the
// first, at one in the middle and at the last: each time nothing more is asked.
void ExpectStoppable(const Call& call, int fewest_questions) {
  int questions = 0;
  ASSERT_TRUE(call([&] {
                ++questions;
                return false;
              }).ok());
  EXPECT_GE(questions, fewest_questions);
  for (const int last : {1, (questions + 1) / 2, questions}) {
    int asked = 0;
    const absl::Status status = call([&] { return ++asked >= last; });
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << "question " << last;
    EXPECT_EQ(asked, last);
  }
}

Call Read(const CanonicalSpec& spec, std::int64_t start, std::int64_t count) {
  return [table = LocalTable::Create(spec), start, count](StopRequest stop) {
    std::vector<std::byte> out(count * table->spec().row_bytes());
    return table->ReadInto(start, count, absl::MakeSpan(out), stop);
  };
}

TEST(StopTest, ReadsStopBetweenSegmentsAndInsideRows) {
  ExpectStoppable(Read(Canonical(Sinusoidal{.width = 512}), 0, 4096), 10);
  ExpectStoppable(Read(Canonical(Sinusoidal{.width = 65536}), 1, 1), 10);
  ExpectStoppable(Read(Canonical({Sinusoidal{.width = 64}, ElementType::kFloat64}), -50, 20000),
                  10);
}

TEST(StopTest, SeededReadsStop) {
  ExpectStoppable(Read(Canonical(LearnedInit{.max_positions = 1000, .width = 65536}), 3, 1), 10);
}

TEST(StopTest, GathersStopInsideRows) {
  const auto table = LocalTable::Create(Canonical(Sinusoidal{.width = 65536}));
  std::vector<std::byte> out(table->spec().row_bytes());
  ExpectStoppable(
      [&](StopRequest stop) {
        return table->GatherInto(std::vector<std::int64_t>{7}, absl::MakeSpan(out), stop);
      },
      10);
  ExpectStoppable(
      [&](StopRequest stop) {
        return table->GatherInto(std::vector<double>{7.5}, absl::MakeSpan(out), stop);
      },
      10);
}

Call Gather(const CanonicalSpec& spec, std::int64_t count) {
  return [table = LocalTable::Create(spec), count](StopRequest stop) {
    std::vector<std::int64_t> positions(count);
    std::iota(positions.begin(), positions.end(), std::int64_t{-3});
    std::vector<std::byte> out(count * table->spec().row_bytes());
    return table->GatherInto(absl::MakeConstSpan(positions), absl::MakeSpan(out), stop);
  };
}

TEST(StopTest, BiasesStopInsideRows) {
  const CanonicalSpec spec = Canonical(Alibi{.head_count = 65536});
  ExpectStoppable(Read(spec, -1, 3), 50);
  ExpectStoppable(Gather(spec, 3), 50);
  const auto table = LocalTable::Create(spec);
  std::vector<std::byte> out(2 * table->spec().row_bytes());
  ExpectStoppable(
      [&](StopRequest stop) {
        return table->GatherInto(std::vector<double>{7.5, -0.3}, absl::MakeSpan(out), stop);
      },
      25);
}

TEST(StopTest, BucketsStop) {
  const CanonicalSpec spec = Canonical(RelativeBuckets{});
  ExpectStoppable(Read(spec, -30000, 60000), 10);
  ExpectStoppable(Gather(spec, 60000), 10);
  const CanonicalSpec wide = Canonical(RelativeBuckets{.num_buckets = 4096, .max_distance = 4096});
  ExpectStoppable([&](StopRequest stop) { return LocalTable::Open(wide, stop).status(); }, 100);
}

TEST(StopTest, OpeningsAndFrequenciesStop) {
  const CanonicalSpec spec = Canonical(Sinusoidal{.width = 65536});
  ExpectStoppable([&](StopRequest stop) { return LocalTable::Open(spec, stop).status(); }, 100);
  ExpectStoppable([&](StopRequest stop) { return Frequencies(spec, stop).status(); }, 100);
}

TEST(StopTest, ShiftsStopWhileTheyPrepareAndInsideRows) {
  const CanonicalSpec spec = Canonical(Sinusoidal{.width = 65536});
  const std::vector<std::byte> rows(spec.row_bytes());
  std::vector<std::byte> out(spec.row_bytes());
  for (const ShiftBy by : {ShiftBy(std::int64_t{7}), ShiftBy(1e200)}) {
    ExpectStoppable(
        [&](StopRequest stop) {
          return RowShift::Create(spec, by)->Apply(rows, absl::MakeSpan(out), 0, stop);
        },
        100);
  }
}

TEST(StopTest, PreparedShiftsStopInsideRows) {
  const CanonicalSpec spec = Canonical(Sinusoidal{.width = 65536});
  std::vector<std::byte> rows(spec.row_bytes());
  ASSERT_TRUE(LocalTable::Create(spec)->ReadInto(1, 1, absl::MakeSpan(rows)).ok());
  std::vector<std::byte> out(spec.row_bytes());
  RowShift shift = *RowShift::Create(spec, std::int64_t{7});
  ASSERT_TRUE(shift.Prepare(NeverStop).ok());
  ExpectStoppable([&](StopRequest stop) { return shift.Apply(rows, absl::MakeSpan(out), 0, stop); },
                  10);
}

// Stopped after every question, a shift is prepared all the same.
TEST(StopTest, APreparedShiftGoesOnWhereItWasStopped) {
  const CanonicalSpec spec = Canonical(Sinusoidal{.width = 2048});
  std::vector<std::byte> rows(spec.row_bytes());
  ASSERT_TRUE(LocalTable::Create(spec)->ReadInto(99, 1, absl::MakeSpan(rows)).ok());
  for (const ShiftBy by : {ShiftBy(std::int64_t{-5}), ShiftBy(0x1.8p100)}) {
    std::vector<std::byte> want(rows.size());
    ASSERT_TRUE(ShiftRows(spec, by, rows, absl::MakeSpan(want)).ok());
    absl::StatusOr<RowShift> shift = RowShift::Create(spec, by);
    int stopped = 0;
    while (!shift->Prepare([] { return true; }).ok()) ++stopped;
    EXPECT_GE(stopped, 10);
    std::vector<std::byte> got(rows.size());
    ASSERT_TRUE(shift->Apply(rows, absl::MakeSpan(got), 0, NeverStop).ok());
    EXPECT_TRUE(got == want);
  }
}

TEST(StopTest, ShortCallsAskNothing) {
  const auto table = LocalTable::Create(Canonical(Sinusoidal{.width = 64}));
  std::vector<std::byte> out(table->spec().row_bytes());
  EXPECT_TRUE(table->ReadInto(5, 1, absl::MakeSpan(out), [] { return true; }).ok());
}

}  // namespace
}  // namespace phasor
