#include "phasor/core/local_table.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "phasor/core/errors.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace phasor {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 53;

class LocalTableTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const LocalTable> Open(TableSpec spec) {
    auto canonical = CanonicalSpec::Create(std::move(spec));
    EXPECT_TRUE(canonical.ok()) << canonical.status();
    return LocalTable::Create(*std::move(canonical));
  }
  void ExpectError(const absl::Status& status, absl::StatusCode code, const char* field) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(FieldOf(status), field) << status;
    for (const std::byte b : out_) ASSERT_EQ(b, std::byte{0x5a}) << "written before the check";
  }

  const std::shared_ptr<const LocalTable> table_ = Open(Sinusoidal{.width = 4});
  const std::shared_ptr<const LocalTable> offset_ =
      Open(Sinusoidal{.width = 4, .position_offset = 2});
  std::vector<std::byte> out_ = std::vector<std::byte>(16, std::byte{0x5a});
};

TEST_F(LocalTableTest, RangesAreCheckedBeforeAnythingIsWritten) {
  const absl::Span<std::byte> out = absl::MakeSpan(out_);
  ExpectError(table_->ReadInto(0, -1, out), absl::StatusCode::kInvalidArgument, "row_count");
  ExpectError(table_->ReadInto(kFar + 1, 1, out), absl::StatusCode::kOutOfRange, "start_position");
  ExpectError(table_->ReadInto(-kFar - 1, 1, out), absl::StatusCode::kOutOfRange, "start_position");
  ExpectError(table_->ReadInto(kFar, 2, out), absl::StatusCode::kOutOfRange, "row_count");
  ExpectError(table_->ReadInto(0, std::numeric_limits<std::int64_t>::max(), out),
              absl::StatusCode::kOutOfRange, "row_count");
  ExpectError(offset_->ReadInto(kFar - 1, 1, out), absl::StatusCode::kOutOfRange, "start_position");
  EXPECT_TRUE(table_->ReadInto(kFar, 1, out).ok());
  EXPECT_TRUE(table_->ReadInto(-kFar, 1, out).ok());
  EXPECT_TRUE(offset_->ReadInto(kFar - 2, 1, out).ok());
}

TEST_F(LocalTableTest, BuffersOfAnotherSizeAreRefused) {
  const absl::Span<std::byte> out = absl::MakeSpan(out_);
  ExpectError(table_->ReadInto(0, 2, out), absl::StatusCode::kInvalidArgument, "out");
  ExpectError(table_->ReadInto(0, 0, out), absl::StatusCode::kInvalidArgument, "out");
  ExpectError(table_->ReadInto(0, 1, out.subspan(1)), absl::StatusCode::kInvalidArgument, "out");
  // 16 bytes times this wraps around to 16.
  ExpectError(table_->ReadInto(-kFar, kFar * 2, out), absl::StatusCode::kInvalidArgument, "out");
  ExpectError(table_->GatherInto(std::vector<std::int64_t>{1, 2}, out),
              absl::StatusCode::kInvalidArgument, "out");
  ExpectError(table_->GatherInto(std::vector<double>{}, out), absl::StatusCode::kInvalidArgument,
              "out");
}

TEST_F(LocalTableTest, ZeroRowsAreValidUpToOnePastTheLast) {
  EXPECT_TRUE(table_->ReadInto(kFar + 1, 0, {}).ok());
  EXPECT_TRUE(table_->GatherInto(absl::Span<const std::int64_t>(), {}).ok());
  EXPECT_TRUE(table_->GatherInto(absl::Span<const double>(), {}).ok());
  EXPECT_EQ(FieldOf(table_->ReadInto(kFar + 2, 0, {})), "start_position");
}

TEST_F(LocalTableTest, GatheredPositionsAreCheckedOneByOne) {
  const absl::Span<std::byte> out = absl::MakeSpan(out_);
  ExpectError(table_->GatherInto(std::vector<std::int64_t>{0, 5, -kFar - 1}, out),
              absl::StatusCode::kOutOfRange, "positions[2]");
  ExpectError(offset_->GatherInto(std::vector<std::int64_t>{kFar - 1}, out),
              absl::StatusCode::kOutOfRange, "positions[0]");
  ExpectError(table_->GatherInto(std::vector<double>{0.5, std::nan("")}, out),
              absl::StatusCode::kInvalidArgument, "real_positions[1]");
  ExpectError(table_->GatherInto(std::vector<double>{-HUGE_VAL}, out),
              absl::StatusCode::kInvalidArgument, "real_positions[0]");
  ExpectError(table_->GatherInto(std::vector<double>{0x1p53 + 2}, out),
              absl::StatusCode::kOutOfRange, "real_positions[0]");
  ExpectError(offset_->GatherInto(std::vector<double>{0x1p53 - 1}, out),
              absl::StatusCode::kOutOfRange, "real_positions[0]");
  ExpectError(table_->GatherInto(std::vector<double>{1e300}, out), absl::StatusCode::kOutOfRange,
              "real_positions[0]");
  EXPECT_TRUE(table_->GatherInto(std::vector<double>{-0x1p53}, out).ok());
}

// Every public function computes the same bits in every environment of the
// caller's, and gives it back.
TEST_F(LocalTableTest, TheCallersEnvironmentDoesNotMatter) {
  // Rows with subnormal sines, settled elements and fractional positions.
  const auto compute = [] {
    std::vector<std::vector<std::byte>> results;
    for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                   ElementType::kFloat16, ElementType::kBfloat16}) {
      const TableSpec spec(Sinusoidal{.width = 48, .ladder = DownscaledLadder{22.0}}, type);
      const auto canonical = CanonicalSpec::Create(spec);
      const auto table = LocalTable::Create(*canonical);
      std::vector<std::byte> rows(70 * canonical->row_bytes());
      EXPECT_TRUE(table->ReadInto(-3, 70, absl::MakeSpan(rows)).ok());
      results.push_back(rows);
      EXPECT_TRUE(ShiftRows(*canonical, 0.3, rows, absl::MakeSpan(rows)).ok());
      results.push_back(rows);
      std::vector<std::byte> gathered(4 * canonical->row_bytes());
      EXPECT_TRUE(
          table->GatherInto(std::vector<double>{1e-310, -0.1, 7, 1e15}, absl::MakeSpan(gathered))
              .ok());
      results.push_back(gathered);
      gathered.resize(16 * ElementBytes(type));
      EXPECT_TRUE(
          RotatePairs(type, {0.1, 1e-310, -3, 4, 5, 6, 7, 1e300}, absl::MakeSpan(gathered)).ok());
      results.push_back(gathered);
      const std::vector<double> frequencies = *Frequencies(*canonical);
      results.emplace_back(frequencies.size() * sizeof(double));
      std::memcpy(results.back().data(), frequencies.data(), results.back().size());
    }
    const auto learned = CanonicalSpec::Create(TableSpec(
        LearnedInit{.max_positions = 9, .width = 7, .stddev = 1e-309}, ElementType::kFloat64));
    results.emplace_back(9 * learned->row_bytes());
    EXPECT_TRUE(LocalTable::Create(*learned)->ReadInto(0, 9, absl::MakeSpan(results.back())).ok());
    return results;
  };
  const auto want = compute();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto got = compute();
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(got == want) << mode;
  }
#if defined(__SSE2__)
  const unsigned callers = _mm_getcsr();
  _mm_setcsr(0x9fc0);  // flush to zero, denormals are zero
  const auto got = compute();
  EXPECT_EQ(_mm_getcsr() & 0x8040, 0x8040u);
  _mm_setcsr(callers);
  EXPECT_TRUE(got == want);
#endif
}

}  // namespace
}  // namespace phasor
