// What is refused, and that the next request is served.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "grpcpp/generic/generic_stub.h"
#include "tests/server/running_server.h"

namespace phasor::server {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kLastPosition = std::int64_t{1} << 53;
constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinInt64 = std::numeric_limits<std::int64_t>::min();
const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

class Refusal : public testing::Test {
 protected:
  // After each refusal an ordinary request gets its rows.
  void TearDown() override { ExpectServes(); }

  void ExpectServes() {
    v1::Rows rows;
    const grpc::Status status =
        GetRows(&server_, RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 3, 2), &rows);
    EXPECT_TRUE(status.ok()) << status.error_message();
    ExpectSameRows(rows.data(), LocalRows(SinusoidalProto(8), 3, 2));
  }

  // All methods that carry a spec refuse it alike.
  void ExpectSpecRefused(const v1::TableSpec& spec, grpc::StatusCode code,
                         const std::string& field) {
    SCOPED_TRACE(spec.ShortDebugString());
    {
      grpc::ClientContext context;
      v1::GetTableRequest request;
      *request.mutable_spec() = spec;
      v1::GetTableResponse response;
      ExpectError(server_->GetTable(&context, request, &response), code, field);
    }
    {
      grpc::ClientContext context;
      v1::GetFrequenciesRequest request;
      *request.mutable_spec() = spec;
      v1::GetFrequenciesResponse response;
      ExpectError(server_->GetFrequencies(&context, request, &response), code, field);
    }
    ExpectRangeRefused(spec, 0, 1, code, field);
    {
      grpc::ClientContext context;
      v1::GatherRowsRequest request;
      *request.mutable_spec() = spec;
      request.add_positions(0);
      v1::GatherRowsResponse response;
      ExpectError(server_->GatherRows(&context, request, &response), code, field);
    }
    {
      grpc::ClientContext context;
      v1::ShiftRowsRequest request;
      *request.mutable_spec() = spec;
      request.set_steps(1);
      v1::ShiftRowsResponse response;
      ExpectError(server_->ShiftRows(&context, request, &response), code, field);
    }
  }

  void ExpectRangeRefused(const v1::TableSpec& spec, std::int64_t start, std::int64_t count,
                          grpc::StatusCode code, const std::string& field) {
    SCOPED_TRACE(testing::Message() << start << " + " << count);
    v1::Rows rows;
    ExpectError(GetRows(&server_, RangeRequest<v1::GetRowsRequest>(spec, start, count), &rows),
                code, field);
    std::vector<v1::Rows> messages;
    ExpectError(
        ReadRows(&server_, RangeRequest<v1::ReadRowsRequest>(spec, start, count), &messages), code,
        field);
    EXPECT_EQ(messages.size(), 0u);  // refused whole, before the first row
  }

  grpc::Status Gather(const v1::GatherRowsRequest& request) {
    grpc::ClientContext context;
    v1::GatherRowsResponse response;
    return server_->GatherRows(&context, request, &response);
  }

  grpc::Status Shift(const v1::ShiftRowsRequest& request) {
    grpc::ClientContext context;
    v1::ShiftRowsResponse response;
    return server_->ShiftRows(&context, request, &response);
  }

  RunningServer server_;
};

TEST_F(Refusal, OfASpecWithoutScheme) {
  ExpectSpecRefused(v1::TableSpec(), grpc::INVALID_ARGUMENT, "spec");
}

TEST_F(Refusal, OfWidths) {
  for (std::int64_t width : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{7},
                             std::int64_t{65538}, kMaxInt64, kMinInt64}) {
    ExpectSpecRefused(SinusoidalProto(width), grpc::INVALID_ARGUMENT, "spec.sinusoidal.width");
  }
  v1::TableSpec absent;
  absent.mutable_sinusoidal();
  ExpectSpecRefused(absent, grpc::INVALID_ARGUMENT, "spec.sinusoidal.width");
  for (std::int64_t width : {std::int64_t{0}, std::int64_t{65537}}) {
    ExpectSpecRefused(LearnedProto(10, width), grpc::INVALID_ARGUMENT, "spec.learned_init.width");
  }
}

TEST_F(Refusal, OfBases) {
  for (double base : {0.0, 1.0, -10000.0, 0x1p65, kNaN, kInfinity}) {
    v1::TableSpec spec = SinusoidalProto(8);
    spec.mutable_sinusoidal()->set_base(base);
    ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.sinusoidal.base");
  }
}

TEST_F(Refusal, OfLadders) {
  v1::TableSpec spec = SinusoidalProto(4);
  spec.mutable_sinusoidal()->mutable_downscaled();
  ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.sinusoidal.downscaled.downscale_shift");
  for (double shift : {-0.5, 1.75, kNaN}) {
    spec.mutable_sinusoidal()->mutable_downscaled()->set_downscale_shift(shift);
    ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.sinusoidal.downscaled.downscale_shift");
  }
  auto* frequencies = spec.mutable_sinusoidal()->mutable_explicit_()->mutable_frequencies();
  frequencies->Add(1.0);
  ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.sinusoidal.explicit.frequencies");
  frequencies->Add(kInfinity);
  ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.sinusoidal.explicit.frequencies[1]");
}

TEST_F(Refusal, OfEnumerationsThatAreNotKnown) {
  v1::TableSpec spec = SinusoidalProto(8);
  spec.set_element_type(static_cast<v1::ElementType>(77));
  ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.element_type");
  spec = SinusoidalProto(8);
  spec.set_numerics(static_cast<v1::Numerics>(77));
  ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.numerics");
  spec = SinusoidalProto(8);
  spec.mutable_sinusoidal()->set_layout(static_cast<v1::Layout>(77));
  ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.sinusoidal.layout");
}

TEST_F(Refusal, OfSeededTables) {
  ExpectSpecRefused(LearnedProto(0, 8), grpc::INVALID_ARGUMENT, "spec.learned_init.max_positions");
  v1::TableSpec spec = LearnedProto(10, 8);
  for (double stddev : {0.0, -1.0, kNaN, kInfinity}) {
    spec.mutable_learned_init()->set_stddev(stddev);
    ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.learned_init.stddev");
  }
  spec.mutable_learned_init()->set_stddev(1e38);
  ExpectSpecRefused(spec, grpc::OUT_OF_RANGE, "spec.learned_init.stddev");
  spec = LearnedProto(10, 8);
  spec.mutable_learned_init()->set_stream(-1);
  ExpectSpecRefused(spec, grpc::INVALID_ARGUMENT, "spec.learned_init.stream");
}

TEST_F(Refusal, OfRowsOutsideAFormulaTable) {
  const v1::TableSpec spec = SinusoidalProto(8);
  ExpectRangeRefused(spec, kLastPosition, 2, grpc::OUT_OF_RANGE, "row_count");
  ExpectRangeRefused(spec, kLastPosition + 1, 1, grpc::OUT_OF_RANGE, "start_position");
  ExpectRangeRefused(spec, -kLastPosition - 1, 1, grpc::OUT_OF_RANGE, "start_position");
  ExpectRangeRefused(spec, kMaxInt64, 1, grpc::OUT_OF_RANGE, "start_position");
  ExpectRangeRefused(spec, kMinInt64, 1, grpc::OUT_OF_RANGE, "start_position");
  ExpectRangeRefused(spec, kLastPosition + 2, 0, grpc::OUT_OF_RANGE, "start_position");
  v1::TableSpec moved = spec;
  moved.mutable_sinusoidal()->set_position_offset(10);
  ExpectRangeRefused(moved, kLastPosition - 9, 1, grpc::OUT_OF_RANGE, "start_position");
}

TEST_F(Refusal, OfRowsPastTheEndOfALearnedTable) {
  const v1::TableSpec spec = LearnedProto(40, 8);
  ExpectRangeRefused(spec, 40, 1, grpc::OUT_OF_RANGE, "start_position");
  ExpectRangeRefused(spec, -1, 1, grpc::OUT_OF_RANGE, "start_position");
  ExpectRangeRefused(spec, 39, 2, grpc::OUT_OF_RANGE, "row_count");
  ExpectRangeRefused(spec, 0, kMaxInt64, grpc::OUT_OF_RANGE, "row_count");
  ExpectRangeRefused(spec, 41, 0, grpc::OUT_OF_RANGE, "start_position");
}

TEST_F(Refusal, OfCounts) {
  ExpectRangeRefused(SinusoidalProto(8), 0, -1, grpc::INVALID_ARGUMENT, "row_count");
  ExpectRangeRefused(SinusoidalProto(8), 0, kMinInt64, grpc::INVALID_ARGUMENT, "row_count");
  v1::GetRowsRequest absent;
  *absent.mutable_spec() = SinusoidalProto(8);
  v1::Rows rows;
  ExpectError(GetRows(&server_, absent, &rows), grpc::INVALID_ARGUMENT, "row_count");
}

TEST_F(Refusal, OfPositions) {
  v1::GatherRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(8);
  for (std::int64_t position : {std::int64_t{1}, std::int64_t{2}, kLastPosition + 1}) {
    request.add_positions(position);
  }
  ExpectError(Gather(request), grpc::OUT_OF_RANGE, "positions[2]");
  request.clear_positions();
  for (double position : {1.0, 0x1p53, 0x1p53 + 2}) request.add_real_positions(position);
  ExpectError(Gather(request), grpc::OUT_OF_RANGE, "real_positions[2]");
  request.set_real_positions(1, kNaN);
  ExpectError(Gather(request), grpc::INVALID_ARGUMENT, "real_positions[1]");
  request.set_real_positions(0, -kInfinity);
  ExpectError(Gather(request), grpc::INVALID_ARGUMENT, "real_positions[0]");
  request.add_positions(3);
  ExpectError(Gather(request), grpc::INVALID_ARGUMENT, "real_positions");
  *request.mutable_spec() = LearnedProto(40, 8);
  request.clear_positions();
  ExpectError(Gather(request), grpc::INVALID_ARGUMENT, "real_positions");
  request.clear_real_positions();
  request.add_positions(39);
  request.add_positions(40);
  ExpectError(Gather(request), grpc::OUT_OF_RANGE, "positions[1]");
}

TEST_F(Refusal, OfShifts) {
  v1::ShiftRowsRequest request;
  *request.mutable_spec() = SinusoidalProto(8);
  request.set_data(std::string(32, '\0'));
  ExpectError(Shift(request), grpc::INVALID_ARGUMENT, "by");
  for (double by : {kNaN, kInfinity}) {
    request.set_fractional_steps(by);
    ExpectError(Shift(request), grpc::INVALID_ARGUMENT, "by");
  }
  request.set_steps(1);
  request.set_data(std::string(33, '\0'));
  ExpectError(Shift(request), grpc::INVALID_ARGUMENT, "data");
  request.set_data(std::string(28, '\0') + std::string("\0\0\x80\x7f", 4));
  ExpectError(Shift(request), grpc::INVALID_ARGUMENT, "data");
  *request.mutable_spec() = LearnedProto(40, 8);
  ExpectError(Shift(request), grpc::INVALID_ARGUMENT, "spec");
  *request.mutable_spec() = SinusoidalProto(8);
  request.mutable_spec()->mutable_sinusoidal()->set_layout(v1::LAYOUT_SIN_ONLY);
  ExpectError(Shift(request), grpc::INVALID_ARGUMENT, "spec");
}

TEST_F(Refusal, OfPages) {
  const auto list = [&](const v1::ListTablesRequest& request) {
    grpc::ClientContext context;
    v1::ListTablesResponse response;
    return server_->ListTables(&context, request, &response);
  };
  v1::ListTablesRequest request;
  for (std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1001}}) {
    request.set_page_size(size);
    ExpectError(list(request), grpc::INVALID_ARGUMENT, "page_size");
  }
  request.clear_page_size();
  for (const std::string token : {"x", "0123456789ABCDEF0123456789ABCDEF"}) {
    request.set_page_token(token);
    ExpectError(list(request), grpc::INVALID_ARGUMENT, "page_token");
  }
}

TEST_F(Refusal, OfFrequenciesOfATableWithoutAny) {
  grpc::ClientContext context;
  v1::GetFrequenciesRequest request;
  *request.mutable_spec() = LearnedProto(40, 8);
  v1::GetFrequenciesResponse response;
  ExpectError(server_->GetFrequencies(&context, request, &response), grpc::INVALID_ARGUMENT,
              "spec");
}

TEST_F(Refusal, OfAnotherFingerprint) {
  const v1::TableSpec spec = SinusoidalProto(8);
  const std::string fingerprint = SpecOf(spec).fingerprint();
  auto request = RangeRequest<v1::GetRowsRequest>(spec, 0, 1);
  auto stream = RangeRequest<v1::ReadRowsRequest>(spec, 0, 1);
  v1::Rows rows;
  std::vector<v1::Rows> messages;
  request.set_expected_fingerprint(fingerprint);
  EXPECT_TRUE(GetRows(&server_, request, &rows).ok());
  for (const std::string& other :
       {SpecOf(SinusoidalProto(16)).fingerprint(), std::string(32, '0')}) {
    request.set_expected_fingerprint(other);
    stream.set_expected_fingerprint(other);
    ExpectError(GetRows(&server_, request, &rows), grpc::FAILED_PRECONDITION,
                "expected_fingerprint");
    ExpectError(ReadRows(&server_, stream, &messages), grpc::FAILED_PRECONDITION,
                "expected_fingerprint");
  }
  for (const std::string& malformed :
       {std::string(), fingerprint.substr(1), fingerprint + "0", std::string(32, 'A')}) {
    request.set_expected_fingerprint(malformed);
    ExpectError(GetRows(&server_, request, &rows), grpc::INVALID_ARGUMENT, "expected_fingerprint");
  }
  EXPECT_TRUE(messages.empty());
}

TEST_F(Refusal, OfUnknownFieldsAnywhere) {
  const auto add = [](google::protobuf::Message* message) {
    message->GetReflection()->MutableUnknownFields(message)->AddVarint(99, 1);
  };
  v1::Rows rows;
  auto request = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1);
  add(&request);
  ExpectError(GetRows(&server_, request, &rows), grpc::INVALID_ARGUMENT, "99");
  request = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1);
  add(request.mutable_spec());
  ExpectError(GetRows(&server_, request, &rows), grpc::INVALID_ARGUMENT, "spec.99");
  request = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1);
  add(request.mutable_spec()->mutable_sinusoidal()->mutable_inclusive());
  ExpectError(GetRows(&server_, request, &rows), grpc::INVALID_ARGUMENT,
              "spec.sinusoidal.inclusive.99");

  auto stream = RangeRequest<v1::ReadRowsRequest>(SinusoidalProto(8), 0, 1);
  add(stream.mutable_spec()->mutable_sinusoidal());
  std::vector<v1::Rows> messages;
  ExpectError(ReadRows(&server_, stream, &messages), grpc::INVALID_ARGUMENT, "spec.sinusoidal.99");

  v1::GatherRowsRequest gather;
  *gather.mutable_spec() = SinusoidalProto(8);
  add(&gather);
  ExpectError(Gather(gather), grpc::INVALID_ARGUMENT, "99");

  v1::ShiftRowsRequest shift;
  *shift.mutable_spec() = SinusoidalProto(8);
  shift.set_steps(1);
  add(&shift);
  ExpectError(Shift(shift), grpc::INVALID_ARGUMENT, "99");

  grpc::ClientContext info_context, list_context, table_context, frequencies_context;
  v1::GetServerInfoRequest info;
  v1::GetServerInfoResponse info_response;
  add(&info);
  ExpectError(server_->GetServerInfo(&info_context, info, &info_response), grpc::INVALID_ARGUMENT,
              "99");
  v1::ListTablesRequest list;
  v1::ListTablesResponse list_response;
  add(&list);
  ExpectError(server_->ListTables(&list_context, list, &list_response), grpc::INVALID_ARGUMENT,
              "99");
  v1::GetTableRequest table;
  v1::GetTableResponse table_response;
  *table.mutable_spec() = SinusoidalProto(8);
  add(&table);
  ExpectError(server_->GetTable(&table_context, table, &table_response), grpc::INVALID_ARGUMENT,
              "99");
  v1::GetFrequenciesRequest frequencies;
  v1::GetFrequenciesResponse frequencies_response;
  *frequencies.mutable_spec() = SinusoidalProto(8);
  add(&frequencies);
  ExpectError(server_->GetFrequencies(&frequencies_context, frequencies, &frequencies_response),
              grpc::INVALID_ARGUMENT, "99");
}

// Sends bytes that no encoder made, in slices as given.
grpc::Status CallWithBytes(RunningServer* server, const std::string& method,
                           std::vector<grpc::Slice> slices, grpc::ByteBuffer* response) {
  grpc::GenericStub stub(server->channel());
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  auto call = stub.PrepareUnaryCall(&context, "/phasor.v1.PositionTableService/" + method,
                                    grpc::ByteBuffer(slices.data(), slices.size()), &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

TEST_F(Refusal, OfBytesThatAreNoMessage) {
  for (const std::string method : {"GetTable", "GetFrequencies", "GetRows", "GatherRows",
                                   "ShiftRows", "ListTables", "GetServerInfo", "ReadRows"}) {
    for (const std::string& bytes : {std::string("\x0a\xff"), std::string(20'000, '\xff')}) {
      grpc::ByteBuffer response;
      const grpc::Status status = CallWithBytes(&server_, method, {grpc::Slice(bytes)}, &response);
      EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT) << method;
      EXPECT_THAT(status.error_message(), HasSubstr("decoded")) << method;
    }
  }
}

TEST_F(Refusal, OfNothingThatIsMerelyCutIntoSlices) {
  auto request = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), -3, 2);
  const std::string bytes = request.SerializeAsString();
  std::vector<grpc::Slice> slices;
  for (char byte : bytes) slices.emplace_back(std::string(1, byte));
  grpc::ByteBuffer response;
  ASSERT_TRUE(CallWithBytes(&server_, "GetRows", slices, &response).ok());
  v1::GetRowsResponse rows;
  ASSERT_TRUE(Decode(response, &rows).ok());
  ExpectSameRows(rows.rows().data(), LocalRows(SinusoidalProto(8), -3, 2));
}

TEST_F(Refusal, HasAShortTextWhateverWasAsked) {
  v1::GatherRowsRequest gather;
  *gather.mutable_spec() = SinusoidalProto(8);
  for (int i = 0; i < 100'000; ++i) gather.add_positions(kMaxInt64 - i);
  const grpc::Status status = Gather(gather);
  ExpectError(status, grpc::OUT_OF_RANGE, "positions[0]");
  EXPECT_LT(status.error_message().size(), 1025u);

  auto request = RangeRequest<v1::GetRowsRequest>(SinusoidalProto(8), 0, 1);
  request.set_expected_fingerprint(std::string(100'000, 'x'));
  v1::Rows rows;
  const grpc::Status long_name = GetRows(&server_, request, &rows);
  ExpectError(long_name, grpc::INVALID_ARGUMENT, "expected_fingerprint");
  EXPECT_LT(long_name.error_message().size(), 1025u);
}

}  // namespace
}  // namespace phasor::server
