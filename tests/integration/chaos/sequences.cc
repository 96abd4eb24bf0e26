#include "tests/integration/chaos/sequences.h"

#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace phasor::chaos {
namespace {

constexpr std::int64_t kWidth = WalkedRows::kWidth;
constexpr std::int64_t kLongestWalk = 1500;
// A step may end so much after its deadline, on a machine that does other things.
constexpr absl::Duration kSlack = absl::Seconds(1);

}  // namespace

// Where a sequence is, and how many steps it has left.
struct Sequences::Walk {
  std::int64_t position = 0;
  std::int64_t left = 0;

  // Whether it begins anew.
  bool Next(std::mt19937& random) {
    if (left-- > 0) return false;
    left = std::uniform_int_distribution<std::int64_t>(1, kLongestWalk)(random);
    const std::int64_t range =
        std::uniform_int_distribution<std::int64_t>(0, WalkedRows::kRanges - 1)(random);
    position = WalkedRows::First(range) + std::uniform_int_distribution<std::int64_t>(
                                              0, WalkedRows::kRows - kLongestWalk - 2)(random);
    return true;
  }
};

Sequences::Sequences(const Table& table, const Table& halves, const WalkedRows& rows,
                     std::uint32_t seed, absl::Duration timeout)
    : table_(table), halves_(halves), rows_(rows), timeout_(timeout) {
  threads_.emplace_back([this, seed] { RunCursors(seed); });
  threads_.emplace_back([this, seed] { RunCursors(seed + 1); });
  threads_.emplace_back([this, seed] { RunGathers(seed + 2, /*two_tables=*/false); });
  threads_.emplace_back([this, seed] { RunGathers(seed + 3, /*two_tables=*/true); });
}

Sequences::~Sequences() { Stop(); }

void Sequences::Stop() {
  ends_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

absl::Duration Sequences::longest_step() const {
  absl::MutexLock lock(&mutex_);
  return longest_;
}

std::string Sequences::fault() const {
  absl::MutexLock lock(&mutex_);
  return fault_;
}

void Sequences::Fail(const std::string& what) {
  absl::MutexLock lock(&mutex_);
  if (fault_.empty()) fault_ = what;
  ends_ = true;
}

bool Sequences::Check(std::int64_t position, const float* row) {
  const float* const want = rows_.At(position);
  if (want != nullptr && std::memcmp(row, want, kWidth * sizeof(float)) == 0) return true;
  Fail(absl::StrCat("a wrong row at position ", position));
  return false;
}

bool Sequences::CheckHalves(std::int64_t position, const float* row) {
  const float* const want = rows_.At(position);
  for (std::int64_t i = 0; i < kWidth / 2; ++i) {
    if (std::memcmp(&row[i], &want[2 * i], sizeof(float)) != 0 ||
        std::memcmp(&row[kWidth / 2 + i], &want[2 * i + 1], sizeof(float)) != 0) {
      Fail(absl::StrCat("a wrong row of halves at position ", position));
      return false;
    }
  }
  return true;
}

bool Sequences::Time(absl::Duration taken, const absl::Status& status, std::int64_t position) {
  if (!status.ok()) {
    Fail(absl::StrCat("no row at position ", position, " after ", absl::FormatDuration(taken), ": ",
                      status.ToString()));
    return false;
  }
  if (taken > timeout_ + kSlack) {
    Fail(absl::StrCat("a step of ", absl::FormatDuration(taken)));
    return false;
  }
  absl::MutexLock lock(&mutex_);
  longest_ = std::max(longest_, taken);
  return true;
}

void Sequences::RunCursors(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Walk> walks(kInAThread);
  std::vector<Cursor> cursors;
  for (int i = 0; i < kInAThread; ++i) cursors.push_back(table_.Decode());
  while (!ends_) {
    for (std::size_t i = 0; i < walks.size(); ++i) {
      if (walks[i].Next(random)) cursors[i].Seek(walks[i].position);
      const absl::Time begin = absl::Now();
      const auto row = cursors[i].Next<float>();
      if (!Time(absl::Now() - begin, row.status(), walks[i].position)) return;
      if (cursors[i].position() != walks[i].position + 1) return Fail("a step lost");
      if (!Check(walks[i].position++, row->data())) return;
      ++steps_;
    }
  }
}

void Sequences::RunGathers(std::uint32_t seed, bool two_tables) {
  std::mt19937 random(seed);
  std::vector<Walk> walks(kInAThread);
  std::vector<std::int64_t> positions(kInAThread);
  std::vector<float> out(kInAThread * kWidth);
  // Of two tables each has half of the sequences.
  const std::size_t half = two_tables ? kInAThread / 2 : kInAThread;
  while (!ends_) {
    for (std::size_t i = 0; i < walks.size(); ++i) {
      walks[i].Next(random);
      positions[i] = walks[i].position++;
    }
    const absl::Span<const std::int64_t> all = positions;
    const absl::Span<float> rows = absl::MakeSpan(out);
    const absl::Time begin = absl::Now();
    const absl::Status status =
        two_tables ? Table::Gather({{table_, all.subspan(0, half), rows.subspan(0, half * kWidth)},
                                    {halves_, all.subspan(half), rows.subspan(half * kWidth)}})
                   : table_.Gather(all, rows);
    if (!Time(absl::Now() - begin, status, positions[0])) return;
    for (std::size_t i = 0; i < walks.size(); ++i) {
      const float* const row = &out[i * kWidth];
      if (!(i < half ? Check(positions[i], row) : CheckHalves(positions[i], row))) return;
      ++steps_;
    }
  }
}

}  // namespace phasor::chaos
