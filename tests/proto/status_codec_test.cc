#include "proto/status_codec.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/core/errors.h"
#include "phasor/v1/error_details.pb.h"

namespace phasor {
namespace {

v1::ErrorStatus Details(const grpc::Status& status) {
  v1::ErrorStatus proto;
  EXPECT_TRUE(proto.ParseFromString(status.error_details()));
  return proto;
}

template <typename Message>
std::vector<Message> DetailsOf(const grpc::Status& status, const std::string& name) {
  std::vector<Message> found;
  const v1::ErrorStatus proto = Details(status);
  for (const auto& any : proto.details()) {
    if (any.type_url() != "type.googleapis.com/google.rpc." + name) continue;
    EXPECT_TRUE(found.emplace_back().ParseFromString(any.value()));
  }
  return found;
}

TEST(ToGrpcStatusTest, FieldStandsInTheDetails) {
  const grpc::Status status = ToGrpcStatus(FieldError(
      absl::StatusCode::kInvalidArgument, "spec.sinusoidal.width", "7 is not an even number"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "spec.sinusoidal.width: 7 is not an even number");
  EXPECT_EQ(Details(status).code(), 3);
  EXPECT_EQ(Details(status).message(), status.error_message());
  const auto bad = DetailsOf<v1::BadRequest>(status, "BadRequest");
  ASSERT_EQ(bad.size(), 1u);
  ASSERT_EQ(bad[0].field_violations_size(), 1);
  EXPECT_EQ(bad[0].field_violations(0).field(), "spec.sinusoidal.width");
  EXPECT_EQ(bad[0].field_violations(0).description(), "7 is not an even number");
}

TEST(ToGrpcStatusTest, ReasonsFollowTheCode) {
  using Code = absl::StatusCode;
  const std::vector<std::pair<Code, std::string>> reasons = {
      {Code::kInvalidArgument, "INVALID_FIELD"},
      {Code::kOutOfRange, "OUT_OF_RANGE"},
      {Code::kFailedPrecondition, "FINGERPRINT_MISMATCH"},
      {Code::kResourceExhausted, "MESSAGE_TOO_LARGE"},
      {Code::kUnavailable, "OVERLOADED"},
      {Code::kNotFound, "TABLE_NOT_FOUND"}};
  for (const auto& [code, reason] : reasons) {
    const auto info = DetailsOf<v1::ErrorInfo>(ToGrpcStatus(absl::Status(code, "x")), "ErrorInfo");
    ASSERT_EQ(info.size(), 1u) << reason;
    EXPECT_EQ(info[0].reason(), reason);
    EXPECT_EQ(info[0].domain(), "phasor");
  }
  for (Code code : {Code::kInternal, Code::kCancelled, Code::kDeadlineExceeded}) {
    const grpc::Status status = ToGrpcStatus(absl::Status(code, "x"));
    EXPECT_EQ(status.error_code(), static_cast<grpc::StatusCode>(code));
    EXPECT_TRUE(DetailsOf<v1::ErrorInfo>(status, "ErrorInfo").empty());
  }
}

TEST(ToGrpcStatusTest, OnlyUnavailableSaysWhenToRetry) {
  const auto retry =
      DetailsOf<v1::RetryInfo>(ToGrpcStatus(absl::UnavailableError("busy")), "RetryInfo");
  ASSERT_EQ(retry.size(), 1u);
  EXPECT_EQ(absl::Seconds(retry[0].retry_delay().seconds()) +
                absl::Nanoseconds(retry[0].retry_delay().nanos()),
            kRetryDelay);
  EXPECT_TRUE(
      DetailsOf<v1::RetryInfo>(ToGrpcStatus(absl::ResourceExhaustedError("large")), "RetryInfo")
          .empty());
}

TEST(ToGrpcStatusTest, LongMessagesAreCutBetweenCharacters) {
  const std::string name(100'000, 'x');
  const grpc::Status plain = ToGrpcStatus(FieldError(absl::StatusCode::kNotFound, name, name));
  EXPECT_EQ(plain.error_message().size(), 1024u);
  // What a client with an 8 KiB limit for headers still takes, in base64.
  EXPECT_LE(plain.error_details().size(), 4096u);
  std::string euros = "x";
  for (int i = 0; i < 1000; ++i) euros += "\xE2\x82\xAC";
  const grpc::Status cut = ToGrpcStatus(absl::InvalidArgumentError(euros));
  EXPECT_EQ(cut.error_message(), euros.substr(0, 1 + 341 * 3));
}

TEST(ToGrpcStatusTest, BytesThatAreNotUtf8BecomeQuestionMarks) {
  const auto message = [](const std::string& bytes) {
    return ToGrpcStatus(absl::InvalidArgumentError(bytes)).error_message();
  };
  EXPECT_EQ(message("a\xFFz"), "a?z");
  EXPECT_EQ(message("\xE2\x82"), "??");
  EXPECT_EQ(message("\xC0\x80"), "??");            // overlong
  EXPECT_EQ(message("\xED\xA0\x80"), "???");       // surrogate
  EXPECT_EQ(message("\xF4\x90\x80\x80"), "????");  // past U+10FFFF
  EXPECT_EQ(message("\xC3\xA9\xF0\x9F\x98\x80"), "\xC3\xA9\xF0\x9F\x98\x80");
}

TEST(ToGrpcStatusTest, OkStaysOk) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_TRUE(FromGrpcStatus(grpc::Status::OK).ok());
}

TEST(FromGrpcStatusTest, GivesBackCodeMessageAndField) {
  for (const absl::Status& status :
       {FieldError(absl::StatusCode::kOutOfRange, "positions[7]", "row 9 does not exist"),
        absl::Status(absl::StatusCode::kInternal, "no field")}) {
    const absl::Status back = FromGrpcStatus(ToGrpcStatus(status));
    EXPECT_EQ(back, status);
    EXPECT_EQ(FieldOf(back), FieldOf(status));
  }
}

TEST(FromGrpcStatusTest, TakesForeignDetailsAsTheyAre) {
  const grpc::Status garbage(grpc::StatusCode::INVALID_ARGUMENT, "m", "\xFF\xFF not a message");
  EXPECT_EQ(FromGrpcStatus(garbage), absl::InvalidArgumentError("m"));
  v1::ErrorStatus other;
  other.add_details()->set_type_url("type.googleapis.com/google.rpc.DebugInfo");
  auto& empty = *other.add_details();
  empty.set_type_url("type.googleapis.com/google.rpc.BadRequest");
  const grpc::Status foreign(grpc::StatusCode::UNAVAILABLE, "m", other.SerializeAsString());
  EXPECT_EQ(FromGrpcStatus(foreign), absl::UnavailableError("m"));
}

}  // namespace
}  // namespace phasor
