#include "server/field_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "google/protobuf/text_format.h"
#include "grpcpp/support/slice.h"
#include "phasor/core/errors.h"
#include "phasor/v1/position_table_service.pb.h"

namespace phasor::server {
namespace {

using ::testing::HasSubstr;

template <typename Request>
absl::Status Check(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return CheckFields(grpc::ByteBuffer(&slice, 1), *Request::descriptor());
}

void ExpectError(const absl::Status& status, const std::string& field, const std::string& said) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(FieldOf(status), field);
  EXPECT_THAT(std::string(status.message()), HasSubstr(said));
}

// Sends `request` over and checks what the receiver says of its field 99.
void ExpectUnknownRefused(const v1::GetRowsRequest& request, const std::string& path,
                          const std::string& type) {
  const absl::Status status = Check<v1::GetRowsRequest>(request.SerializeAsString());
  ExpectError(status, path, type);
  EXPECT_THAT(std::string(status.message()), HasSubstr("field number 99"));
}

void AddUnknown(google::protobuf::Message* message) {
  message->GetReflection()->MutableUnknownFields(message)->AddVarint(99, 1);
}

TEST(CheckFieldsTest, AtEveryDepth) {
  v1::GetRowsRequest request;
  request.set_row_count(1);
  request.mutable_spec()->mutable_sinusoidal()->set_width(4);
  EXPECT_TRUE(Check<v1::GetRowsRequest>(request.SerializeAsString()).ok());
  const auto with = [&](const std::function<google::protobuf::Message*(v1::GetRowsRequest*)>& at) {
    v1::GetRowsRequest changed = request;
    AddUnknown(at(&changed));
    return changed;
  };
  ExpectUnknownRefused(with([](auto* r) { return r; }), "99", "phasor.v1.GetRowsRequest");
  ExpectUnknownRefused(with([](auto* r) { return r->mutable_spec(); }), "spec.99",
                       "phasor.v1.TableSpec");
  ExpectUnknownRefused(with([](auto* r) { return r->mutable_spec()->mutable_sinusoidal(); }),
                       "spec.sinusoidal.99", "phasor.v1.Sinusoidal");
  ExpectUnknownRefused(with([](auto* r) { return r->mutable_spec()->mutable_learned_init(); }),
                       "spec.learned_init.99", "phasor.v1.LearnedInit");
  ExpectUnknownRefused(
      with([](auto* r) { return r->mutable_spec()->mutable_sinusoidal()->mutable_paper(); }),
      "spec.sinusoidal.paper.99", "phasor.v1.PaperLadder");
  ExpectUnknownRefused(
      with([](auto* r) { return r->mutable_spec()->mutable_sinusoidal()->mutable_inclusive(); }),
      "spec.sinusoidal.inclusive.99", "phasor.v1.InclusiveLadder");
  ExpectUnknownRefused(
      with([](auto* r) { return r->mutable_spec()->mutable_sinusoidal()->mutable_downscaled(); }),
      "spec.sinusoidal.downscaled.99", "phasor.v1.DownscaledLadder");
  ExpectUnknownRefused(
      with([](auto* r) { return r->mutable_spec()->mutable_sinusoidal()->mutable_explicit_(); }),
      "spec.sinusoidal.explicit.99", "phasor.v1.ExplicitLadder");
}

TEST(CheckFieldsTest, KnownNumberOfAnotherWireTypeIsUnknown) {
  // Field 3, row_count, as four fixed bytes instead of a varint.
  ExpectError(Check<v1::GetRowsRequest>(std::string("\x1d\x01\x00\x00\x00", 5)), "3",
              "phasor.v1.GetRowsRequest");
}

// Decoding alone keeps the last of them, and forgets the others.
TEST(CheckFieldsTest, WhatDecodingWouldForget) {
  const auto spec = [](const char* text) {
    v1::GetRowsRequest request;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, request.mutable_spec()));
    return request.SerializeAsString();
  };
  const std::string width4 = spec("sinusoidal { width: 4 }");
  ExpectError(Check<v1::GetRowsRequest>(width4 + width4), "spec", "twice");
  // Two schemes in one spec: an unknown field in the first would not be seen.
  const std::string two("\x0a\x0a\x0a\x02\x08\x04\x12\x04\x08\x04\x10\x04", 12);
  v1::GetRowsRequest decoded;
  ASSERT_TRUE(decoded.ParseFromString(two));
  EXPECT_TRUE(decoded.spec().has_learned_init());
  ExpectError(Check<v1::GetRowsRequest>(two), "spec.learned_init", "beside sinusoidal");
  const std::string unknown_in_first("\x0a\x0d\x0a\x05\x08\x04\x90\x03\x01\x12\x04\x08\x04\x10\x04",
                                     15);
  ASSERT_TRUE(decoded.ParseFromString(unknown_in_first));
  ExpectError(Check<v1::GetRowsRequest>(unknown_in_first), "spec.sinusoidal.50", "50");
  // element_type 99, then 1.
  ExpectError(
      Check<v1::GetRowsRequest>(std::string("\x0a\x08\x0a\x02\x08\x04\x70\x63\x70\x01", 10)),
      "spec.element_type", "twice");
  v1::ShiftRowsRequest steps;
  steps.set_steps(1);
  v1::ShiftRowsRequest fraction;
  fraction.set_fractional_steps(0.5);
  ExpectError(Check<v1::ShiftRowsRequest>(steps.SerializeAsString() + fraction.SerializeAsString()),
              "fractional_steps", "beside steps");
}

TEST(CheckFieldsTest, RepeatedFieldsMayStandOftenPackedOrNot) {
  // positions: 1 alone, then 2 and 3 packed.
  const std::string bytes("\x10\x01\x12\x02\x02\x03", 6);
  v1::GatherRowsRequest decoded;
  ASSERT_TRUE(decoded.ParseFromString(bytes));
  ASSERT_EQ(decoded.positions_size(), 3);
  EXPECT_TRUE(Check<v1::GatherRowsRequest>(bytes).ok());
}

TEST(CheckFieldsTest, BytesMayBeCutAnywhere) {
  v1::GetRowsRequest request;
  request.mutable_spec()->mutable_sinusoidal()->set_width(4);
  AddUnknown(request.mutable_spec()->mutable_sinusoidal());
  const std::string bytes = request.SerializeAsString();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const grpc::Slice slices[] = {grpc::Slice(bytes.substr(0, cut)),
                                  grpc::Slice(bytes.substr(cut))};
    ExpectError(CheckFields(grpc::ByteBuffer(slices, 2), *v1::GetRowsRequest::descriptor()),
                "spec.sinusoidal.99", "99");
  }
}

}  // namespace
}  // namespace phasor::server
