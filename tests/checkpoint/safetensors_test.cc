#include "checkpoint/safetensors.h"

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/checkpoint/published_files.h"

namespace phasor::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

absl::StatusOr<std::vector<Tensor>> Read(const std::string& file) {
  return ReadTensors(file.size(), [&](std::uint64_t offset, absl::Span<char> out) {
    EXPECT_LE(offset, file.size());
    EXPECT_LE(out.size(), file.size() - offset);
    std::memcpy(out.data(), file.data() + offset, out.size());
    return absl::OkStatus();
  });
}

TEST(SafetensorsTest, PublishedAttacksAreRefusedByNameAndRightFilesAreTaken) {
  int refused = 0;
  for (const PublishedFile& file : PublishedFiles()) {
    SCOPED_TRACE(file.name);
    const auto tensors = Read(file.bytes);
    if (file.fault.empty()) {
      EXPECT_TRUE(tensors.ok()) << tensors.status();
      continue;
    }
    ++refused;
    EXPECT_EQ(tensors.status().code(), absl::StatusCode::kDataLoss) << tensors.status();
    EXPECT_THAT(std::string(tensors.status().message()), HasSubstr(file.fault));
  }
  EXPECT_GE(refused, 60);
}

TEST(SafetensorsTest, GivesNameTypeShapeAndBytesOfTheFile) {
  const std::string header = R"({"b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},)"
                             R"("a":{"shape":[2,2],"data_offsets":[0,16],"dtype":"F32"}})";
  const auto tensors = Read(FileOf(header, 22));
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  ASSERT_EQ(tensors->size(), 2U);
  const Tensor& a = (*tensors)[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.element_type(), ElementType::kFloat32);
  EXPECT_THAT(a.shape, ElementsAre(2, 2));
  EXPECT_EQ(a.begin, 8 + header.size());
  EXPECT_EQ(a.bytes(), 16U);
  EXPECT_EQ(a.Description(), "F32 [2, 2]");
  const Tensor& b = (*tensors)[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.element_type(), ElementType::kBfloat16);
  EXPECT_EQ(b.end, 8 + header.size() + 22);
}

TEST(SafetensorsTest, EveryCutOfAFileIsRefused) {
  const std::string file =
      FileOf(R"({"t":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}})", 12);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto tensors = Read(file.substr(0, size));
    EXPECT_EQ(tensors.status().code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_THAT(std::string(tensors.status().message()), HasSubstr("bytes")) << size;
  }
  EXPECT_TRUE(Read(file).ok());
}

TEST(SafetensorsTest, EveryChangedByteOfAHeaderIsRefusedOrMeansARangeInTheFile) {
  const std::string file =
      FileOf(R"({"t":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]},"u":{"dtype":"U8",)"
             R"("shape":[4],"data_offsets":[12,16]}})",
             16);
  for (std::size_t at = 0; at + 16 < file.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = file;
      changed[at] = static_cast<char>(byte);
      const auto tensors = Read(changed);
      if (!tensors.ok()) continue;
      std::uint64_t end = file.size() - 16;
      for (const Tensor& tensor : *tensors) {
        EXPECT_EQ(tensor.begin, end);
        end = tensor.end;
      }
      EXPECT_EQ(end, file.size());
    }
  }
}

TEST(SafetensorsTest, ALongHeaderOfSpacesIsReadOnceAndRefusedWithoutMore) {
  std::string header(1'000'000, ' ');
  header.front() = '{';
  EXPECT_EQ(Read(FileOf(header, 0)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(SafetensorsTest, LongAndStrangeNamesAreCutAndEscapedInMessages) {
  const std::string name = absl::StrCat("\\u001b[31m", std::string(100'000, 'x'));
  const auto tensors = Read(FileOf(
      absl::StrCat("{\"", name, "\":{\"dtype\":\"F99\",\"shape\":[1],\"data_offsets\":[0,1]}}"),
      1));
  const std::string message(tensors.status().message());
  EXPECT_LT(message.size(), 1000U);
  EXPECT_THAT(message, HasSubstr("\\x1b[31m"));
  EXPECT_THAT(message, Not(HasSubstr("\x1b")));
}

TEST(SafetensorsTest, AFailureOfTheReaderIsGivenOn) {
  const auto tensors = ReadTensors(100, [](std::uint64_t, absl::Span<char>) {
    return absl::UnavailableError("the disk is gone");
  });
  EXPECT_EQ(tensors.status(), absl::UnavailableError("the disk is gone"));
}

}  // namespace
}  // namespace phasor::checkpoint
