#include "client/src/rows_decoder.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/v1/position_table_service.pb.h"

namespace phasor::internal {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kStart = 7;
constexpr std::int64_t kRows = 3;
constexpr std::size_t kBytes = kRows * 4 * 2;  // width 4, FLOAT16

class RowsDecoderTest : public testing::Test {
 protected:
  RowsDecoderTest()
      : table_(*CanonicalSpec::Create(TableSpec(Sinusoidal{.width = 4}, ElementType::kFloat16))) {
    v1::Rows& rows = *response_.mutable_rows();
    rows.set_fingerprint(table_.fingerprint());
    rows.set_start_position(kStart);
    rows.set_row_count(kRows);
    rows.set_row_width(4);
    rows.set_element_type(v1::ELEMENT_TYPE_FLOAT16);
    for (std::size_t i = 0; i < kBytes; ++i) rows.mutable_data()->push_back(static_cast<char>(i));
  }

  // Decodes `bytes` cut into slices at `cuts` into a buffer for three rows
  // with a guard behind it.
  absl::StatusOr<std::int64_t> Decode(const std::string& bytes,
                                      const std::vector<std::size_t>& cuts = {}) {
    std::vector<grpc::Slice> slices;
    std::size_t begin = 0;
    for (const std::size_t cut : cuts) {
      slices.emplace_back(bytes.substr(begin, cut - begin));
      begin = cut;
    }
    slices.emplace_back(bytes.substr(begin));
    grpc::ByteBuffer buffer(slices.data(), slices.size());
    out_.assign(kBytes + 16, std::byte{0xEE});
    auto rows = DecodeRows(&buffer, table_, kStart, absl::MakeSpan(out_).subspan(0, kBytes));
    for (std::size_t i = kBytes; i < out_.size(); ++i) EXPECT_EQ(out_[i], std::byte{0xEE});
    return rows;
  }

  void ExpectRefused(absl::StatusCode code, const std::string& what) {
    const absl::StatusOr<std::int64_t> rows = Decode(response_.SerializeAsString());
    EXPECT_EQ(rows.status().code(), code) << rows.status();
    EXPECT_THAT(std::string(rows.status().message()), HasSubstr(what));
  }

  TableHandle table_;
  v1::GetRowsResponse response_;
  std::vector<std::byte> out_;
};

TEST_F(RowsDecoderTest, ReadsRowsHoweverTheMessageIsCut) {
  const std::string bytes = response_.SerializeAsString();
  for (std::size_t a = 0; a <= bytes.size(); ++a) {
    for (std::size_t b = a; b <= bytes.size(); ++b) {
      const absl::StatusOr<std::int64_t> rows = Decode(bytes, {a, b});
      ASSERT_TRUE(rows.ok()) << rows.status() << " cut at " << a << ", " << b;
      ASSERT_EQ(*rows, kRows);
      for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(out_[i], static_cast<std::byte>(i));
    }
  }
}

TEST_F(RowsDecoderTest, ReadsFieldsInAnyOrderAndSkipsUnknownOnes) {
  // Data first, then an unknown field 14 of the Rows, then the head.
  v1::GetRowsResponse data;
  data.mutable_rows()->set_data(response_.rows().data());
  std::string unknown;
  unknown.push_back(10);       // GetRowsResponse.rows
  unknown.push_back(2);        // of two bytes:
  unknown.push_back(14 << 3);  // field 14, varint
  unknown.push_back(5);
  response_.mutable_rows()->clear_data();
  const absl::StatusOr<std::int64_t> rows =
      Decode(data.SerializeAsString() + unknown + response_.SerializeAsString());
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(*rows, kRows);
}

TEST_F(RowsDecoderTest, TakesFewerRowsThanThereIsRoomFor) {
  response_.mutable_rows()->set_row_count(1);
  response_.mutable_rows()->mutable_data()->resize(8);
  const absl::StatusOr<std::int64_t> rows = Decode(response_.SerializeAsString());
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(*rows, 1);
}

TEST_F(RowsDecoderTest, RefusesMoreRowsThanThereIsRoomFor) {
  response_.mutable_rows()->set_row_count(kRows + 1);
  response_.mutable_rows()->mutable_data()->resize(kBytes + 8);
  ExpectRefused(absl::StatusCode::kDataLoss, "more rows than were asked for");
}

TEST_F(RowsDecoderTest, RefusesOtherRowsThanAskedFor) {
  const v1::GetRowsResponse good = response_;
  response_.mutable_rows()->set_fingerprint(std::string(32, '0'));
  ExpectRefused(absl::StatusCode::kFailedPrecondition, table_.fingerprint());
  response_ = good;
  response_.mutable_rows()->set_row_width(8);
  ExpectRefused(absl::StatusCode::kDataLoss, "row_width 8");
  response_ = good;
  response_.mutable_rows()->set_element_type(v1::ELEMENT_TYPE_BFLOAT16);
  ExpectRefused(absl::StatusCode::kDataLoss, "element_type 4");
  response_ = good;
  response_.mutable_rows()->set_start_position(kStart + 1);
  ExpectRefused(absl::StatusCode::kDataLoss, "position 8");
  response_ = good;
  response_.mutable_rows()->clear_start_position();
  ExpectRefused(absl::StatusCode::kDataLoss, "position unknown");
}

TEST_F(RowsDecoderTest, RefusesACountThatIsNotTheDatas) {
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{2}, std::int64_t{4},
                                   std::int64_t{-3}, std::numeric_limits<std::int64_t>::max()}) {
    response_.mutable_rows()->set_row_count(count);
    ExpectRefused(absl::StatusCode::kDataLoss, "row_count");
  }
  response_.mutable_rows()->set_row_count(kRows - 1);
  response_.mutable_rows()->mutable_data()->pop_back();
  ExpectRefused(absl::StatusCode::kDataLoss, "row_count");
}

TEST_F(RowsDecoderTest, RefusesAFingerprintThatCannotBeOne) {
  response_.mutable_rows()->set_fingerprint(std::string(257, 'a'));
  ExpectRefused(absl::StatusCode::kDataLoss, "is not a message of rows");
  response_.mutable_rows()->set_fingerprint(std::string(64, 'a'));
  ExpectRefused(absl::StatusCode::kFailedPrecondition, std::string(64, 'a'));
  response_.mutable_rows()->clear_fingerprint();
  ExpectRefused(absl::StatusCode::kFailedPrecondition, "table \"\"");
}

TEST_F(RowsDecoderTest, RefusesALengthThatNoMessageHas) {
  // Field 1 of 2^32 - 1 bytes, before rows that are right.
  const std::string long_field = "\x0a\xff\xff\xff\xff\x0f";
  const auto rows = Decode(long_field + response_.SerializeAsString());
  EXPECT_EQ(rows.status().code(), absl::StatusCode::kDataLoss);
}

// Parts that are no whole rows, as blocks at a table's ends are, and some of
// them full already.
TEST_F(RowsDecoderTest, FillsPartsOneAfterTheOther) {
  for (const std::size_t skip : {0, 8, 16}) {
    for (std::size_t cut = 0; cut <= skip + kBytes; ++cut) {
      out_.assign(skip + kBytes, std::byte{0xEE});
      const absl::Span<std::byte> parts[] = {absl::MakeSpan(out_).subspan(0, cut),
                                             absl::MakeSpan(out_).subspan(cut)};
      const std::string bytes = response_.SerializeAsString();
      const grpc::Slice slice(bytes);
      grpc::ByteBuffer buffer(&slice, 1);
      const auto rows = DecodeRows(&buffer, table_, kStart, parts, skip);
      ASSERT_TRUE(rows.ok()) << rows.status();
      EXPECT_EQ(*rows, kRows);
      for (std::size_t i = 0; i < out_.size(); ++i) {
        ASSERT_EQ(out_[i], i < skip ? std::byte{0xEE} : static_cast<std::byte>(i - skip));
      }
    }
  }
  // One byte too little.
  out_.assign(8 + kBytes - 1, std::byte{0xEE});
  const absl::Span<std::byte> part = absl::MakeSpan(out_);
  const grpc::Slice slice(response_.SerializeAsString());
  grpc::ByteBuffer buffer(&slice, 1);
  EXPECT_EQ(DecodeRows(&buffer, table_, kStart, absl::MakeConstSpan(&part, 1), 8).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(RowsDecoderTest, RefusesEveryMessageCutShort) {
  const std::string bytes = response_.SerializeAsString();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Decode(bytes.substr(0, size)).ok()) << size;
  }
}

TEST_F(RowsDecoderTest, SurvivesEveryByteChanged) {
  const std::string good = response_.SerializeAsString();
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(value);
      const absl::StatusOr<std::int64_t> rows = Decode(bytes);
      EXPECT_LE(rows.value_or(0), kRows);
    }
  }
}

}  // namespace
}  // namespace phasor::internal
