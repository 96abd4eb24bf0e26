#include "client/cli/formats.h"

#include <gtest/gtest.h>

#include <vector>

#include "client/cli/run.h"

namespace phasor::cli {
namespace {

const std::vector<float> kRows = {0, 1, -0.0F, 0.5F, 16777216, -0.1F};
const ArrayInfo kInfo{{2, 3}, ElementType::kFloat32, "0123"};

absl::Span<const std::byte> Bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float)};
}

std::string Write(Format format, const ArrayInfo& info, const std::vector<float>& values) {
  std::string out = FormatHead(format, info);
  AppendRows(format, info, Bytes(values), out);
  return out;
}

TEST(Formats, CsvIsALineARow) {
  EXPECT_EQ(Write(Format::kCsv, kInfo, kRows), "0,1,-0\n0.5,16777216,-0.1\n");
  EXPECT_EQ(Write(Format::kCsv, {{2}, ElementType::kFloat32, ""}, {1, 0.25F}), "1\n0.25\n");
  EXPECT_EQ(Write(Format::kCsv, kInfo, {}), "");
}

TEST(Formats, TableIsAlignedUnderItsHead) {
  EXPECT_EQ(Write(Format::kTable, kInfo, kRows),
            "shape        [2, 3]\n"
            "type         float32\n"
            "fingerprint  0123\n"
            "\n"
            "  0         1    -0\n"
            "0.5  16777216  -0.1\n");
}

TEST(Formats, RawIsTheElementsAlone) {
  const std::string raw = Write(Format::kRaw, kInfo, kRows);
  ASSERT_EQ(raw.size(), 24U);
  EXPECT_EQ(raw.substr(0, 8), std::string("\0\0\0\0\0\0\x80\x3f", 8));
  EXPECT_EQ(raw.substr(8, 4), std::string("\0\0\0\x80", 4));
}

TEST(Formats, NpyIsAHeadAndTheElements) {
  const std::string npy = Write(Format::kNpy, kInfo, kRows);
  EXPECT_EQ(npy.size(), 128U + 24U);
  EXPECT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(npy.substr(10, 61), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  ");
}

TEST(Formats, SuffixesAndNames) {
  EXPECT_EQ(FormatOfSuffix("a.npy"), Format::kNpy);
  EXPECT_EQ(FormatOfSuffix("a.csv"), Format::kCsv);
  EXPECT_EQ(FormatOfSuffix("a.raw"), Format::kRaw);
  EXPECT_EQ(FormatOfSuffix("/d.npy/a.bin"), Format::kRaw);
  EXPECT_EQ(FormatOfSuffix("/d.npy/a"), std::nullopt);
  EXPECT_EQ(FormatOfSuffix("-"), std::nullopt);
  EXPECT_EQ(FormatOfName("table"), Format::kTable);
  EXPECT_EQ(FormatOfName("CSV"), std::nullopt);
}

TEST(ExitStatus, TellsTheRequestFromTheRest) {
  using Code = absl::StatusCode;
  EXPECT_EQ(ExitStatus(absl::OkStatus()), 0);
  for (Code code : {Code::kInvalidArgument, Code::kOutOfRange, Code::kNotFound,
                    Code::kFailedPrecondition, Code::kResourceExhausted}) {
    EXPECT_EQ(ExitStatus(absl::Status(code, "")), 2) << absl::StatusCodeToString(code);
  }
  for (Code code : {Code::kUnavailable, Code::kDeadlineExceeded, Code::kInternal, Code::kUnknown,
                    Code::kCancelled, Code::kUnimplemented, Code::kDataLoss}) {
    EXPECT_EQ(ExitStatus(absl::Status(code, "")), 1) << absl::StatusCodeToString(code);
  }
}

}  // namespace
}  // namespace phasor::cli
