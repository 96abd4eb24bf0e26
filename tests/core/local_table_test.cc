#include "phasor/core/local_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "phasor/core/errors.h"

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

}  // namespace
}  // namespace phasor
