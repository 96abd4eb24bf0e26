#include "server/range_request.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "grpcpp/support/slice.h"
#include "phasor/core/errors.h"
#include "phasor/v1/position_table_service.pb.h"
#include "server/request.h"

namespace phasor::server {
namespace {

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

v1::GetRowsRequest Request(std::int64_t width, std::int64_t start, std::int64_t count) {
  v1::GetRowsRequest request;
  request.mutable_spec()->mutable_sinusoidal()->set_width(width);
  request.set_start_position(start);
  request.set_row_count(count);
  return request;
}

std::string Fingerprint(const v1::GetRowsRequest& request) {
  return CheckSpec(request.spec(), LearnedTables()).value().fingerprint();
}

absl::StatusOr<RowRange> Read(const std::string& bytes, KnownSpecs* known) {
  return ReadRangeRequest<v1::GetRowsRequest>(Bytes(bytes), LearnedTables(), known);
}

TEST(RangeRequest, KnowsASpecThatComesAgain) {
  KnownSpecs known;
  v1::GetRowsRequest request = Request(8, -5, 3);
  const auto first = Read(request.SerializeAsString(), &known);
  request.set_start_position(7);
  request.set_expected_fingerprint(Fingerprint(request));
  const auto second = Read(request.SerializeAsString(), &known);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(second->spec, first->spec);
  EXPECT_EQ(second->spec->fingerprint(), Fingerprint(request));
  EXPECT_EQ(first->start, -5);
  EXPECT_EQ(first->count, 3);
  EXPECT_EQ(second->start, 7);
}

TEST(RangeRequest, TellsSpecsApart) {
  KnownSpecs known;
  for (int again = 0; again < 2; ++again) {
    for (const std::int64_t width : {8, 10}) {
      const auto read = Read(Request(width, 0, 1).SerializeAsString(), &known);
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(read->spec->fingerprint(), Fingerprint(Request(width, 0, 1)));
    }
  }
}

// What is refused the first time is refused beside a spec that is known, too.
TEST(RangeRequest, ChecksTheRestBesideAKnownSpec) {
  const v1::GetRowsRequest good = Request(8, 0, 1);
  v1::GetRowsRequest other_fingerprint = good;
  other_fingerprint.set_expected_fingerprint(std::string(32, '0'));
  v1::GetRowsRequest no_fingerprint = good;
  no_fingerprint.set_expected_fingerprint("");
  v1::GetRowsRequest no_count = good;
  no_count.clear_row_count();
  const std::string unknown_field = good.SerializeAsString() + "\x50\x01";  // field 10
  const std::string truncated = good.SerializeAsString() + "\x22";
  const std::string wrong_type = good.SerializeAsString() + "\x12\x01x";  // start_position
  const std::string past_the_end = "\x0a\x7f";                            // a spec of 127 bytes
  for (const std::string& bytes :
       {other_fingerprint.SerializeAsString(), no_fingerprint.SerializeAsString(),
        no_count.SerializeAsString(), Request(8, 0, -1).SerializeAsString(),
        Request(8, (std::int64_t{1} << 53) + 1, 1).SerializeAsString(), unknown_field, truncated,
        wrong_type, past_the_end}) {
    KnownSpecs none;
    KnownSpecs known;
    ASSERT_TRUE(Read(good.SerializeAsString(), &known).ok());
    const absl::Status first = Read(bytes, &none).status();
    const absl::Status again = Read(bytes, &known).status();
    EXPECT_FALSE(first.ok());
    EXPECT_EQ(again, first);
  }
}

// Protobuf would take the last of a repeated scalar and merge repeated messages.
TEST(RangeRequest, RefusesAFieldThatComesTwice) {
  KnownSpecs known;
  const std::string once = Request(8, 0, 1).SerializeAsString();
  ASSERT_TRUE(Read(once, &known).ok());
  v1::GetRowsRequest layout;
  layout.mutable_spec()->mutable_sinusoidal()->set_layout(v1::LAYOUT_COS_ONLY);
  EXPECT_EQ(FieldOf(Read(once + layout.SerializeAsString(), &known).status()), "spec");
  v1::GetRowsRequest start;
  start.set_start_position(9);
  const std::string twice = Request(8, 3, 1).SerializeAsString() + start.SerializeAsString();
  EXPECT_EQ(FieldOf(Read(twice, &known).status()), "start_position");
}

TEST(RangeRequest, ReadsBytesThatComeInPieces) {
  KnownSpecs known;
  const std::string bytes = Request(8, 3, 1).SerializeAsString();
  const grpc::Slice pieces[] = {grpc::Slice(bytes.substr(0, 3)), grpc::Slice(bytes.substr(3))};
  const auto read = ReadRangeRequest<v1::GetRowsRequest>(
      grpc::ByteBuffer(pieces, std::size(pieces)), LearnedTables(), &known);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->start, 3);
}

TEST(KnownSpecs, HoldABoundedNumber) {
  KnownSpecs known;
  const auto spec = std::make_shared<const CanonicalSpec>(
      CheckSpec(Request(8, 0, 1).spec(), LearnedTables()).value());
  const auto name = [](std::size_t i) { return std::to_string(i); };
  for (std::size_t i = 0; i <= 3 * KnownSpecs::kMaxSpecs; ++i) known.Remember(name(i), spec);
  std::size_t held = 0;
  for (std::size_t i = 0; i <= 3 * KnownSpecs::kMaxSpecs; ++i)
    held += known.Find(name(i)) != nullptr;
  EXPECT_LE(held, KnownSpecs::kMaxSpecs);
  EXPECT_EQ(known.Find(name(3 * KnownSpecs::kMaxSpecs)), spec);
}

TEST(KnownSpecs, LeaveLongOnesOut) {
  KnownSpecs known;
  const auto spec = std::make_shared<const CanonicalSpec>(
      CheckSpec(Request(8, 0, 1).spec(), LearnedTables()).value());
  known.Remember(std::string(KnownSpecs::kMaxBytes, 'x'), spec);
  known.Remember(std::string(KnownSpecs::kMaxBytes + 1, 'x'), spec);
  EXPECT_EQ(known.Find(std::string(KnownSpecs::kMaxBytes, 'x')), spec);
  EXPECT_EQ(known.Find(std::string(KnownSpecs::kMaxBytes + 1, 'x')), nullptr);
}

}  // namespace
}  // namespace phasor::server
