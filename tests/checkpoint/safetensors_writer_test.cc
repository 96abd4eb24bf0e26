#include "checkpoint/safetensors_writer.h"

#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/safetensors_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/core/errors.h"
#include "tests/checkpoint/temporary_folder.h"

namespace phasor::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> Bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 13 + 5);
  return bytes;
}

// What the format's documentation gives for this tensor, padded to 8 bytes.
TEST(SafetensorsWriterTest, WritesTheFormat) {
  const TemporaryFolder folder;
  const std::vector<std::byte> data = Bytes(16);
  const NewTensor tensor{"weight", ElementType::kFloat32, {2, 2}, data};
  ASSERT_TRUE(WriteSafetensors(folder / "a", absl::MakeConstSpan(&tensor, 1)).ok());
  const std::string json = R"({"weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";
  const std::string padded = json + std::string((8 - json.size() % 8) % 8, ' ');
  const std::string expected = std::string(1, static_cast<char>(padded.size())) +
                               std::string(7, '\0') + padded +
                               std::string(reinterpret_cast<const char*>(data.data()), data.size());
  EXPECT_EQ(ReadSmallFile(folder / "a", 1000).value(), expected);
}

TEST(SafetensorsWriterTest, WhatItWritesIsReadBack) {
  const TemporaryFolder folder;
  const std::vector<std::byte> data = Bytes(24);
  const absl::Span<const std::byte> span(data);
  const std::vector<NewTensor> tensors = {
      {"h\"\xc3\xa9", ElementType::kBfloat16, {3}, span.subspan(0, 6)},
      {"empty", ElementType::kFloat64, {0, 7}, {}},
      {"d", ElementType::kFloat64, {}, span.subspan(6, 8)},
  };
  ASSERT_TRUE(WriteSafetensors(folder / "a", tensors).ok());
  const auto file = SafetensorsFile::Open(folder / "a");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->tensors().size(), 3U);
  for (const Tensor& read : file->tensors()) {
    const auto written = std::find_if(tensors.begin(), tensors.end(),
                                      [&](const NewTensor& t) { return t.name == read.name; });
    ASSERT_NE(written, tensors.end()) << read.name;
    EXPECT_EQ(read.element_type(), written->type);
    std::vector<std::byte> bytes(read.bytes());
    ASSERT_TRUE(file->Read(read, 0, absl::MakeSpan(bytes)).ok());
    EXPECT_EQ(absl::MakeConstSpan(bytes), written->data);
  }
}

TEST(SafetensorsWriterTest, RefusesWhatItCannotWriteAndLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "old");
  const std::vector<std::byte> data = Bytes(16);
  const auto error = [&](std::vector<NewTensor> tensors) {
    return WriteSafetensors(path, tensors);
  };
  const NewTensor good{"t", ElementType::kFloat32, {4}, data};
  NewTensor wrong = good;
  wrong.shape = {5};
  EXPECT_EQ(FieldOf(error({good, wrong})), "tensors[1]");
  EXPECT_THAT(std::string(error({wrong}).message()),
              HasSubstr("16 bytes given; its shape takes 20"));
  wrong.shape = {-4};
  EXPECT_EQ(error({wrong}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(error({good, good}).message()), HasSubstr("its name comes twice"));
  wrong = good;
  wrong.name = "\xff";
  EXPECT_THAT(std::string(error({wrong}).message()), HasSubstr("is not UTF-8"));
  EXPECT_EQ(ReadSmallFile(path, 10).value(), "old");

  const absl::Status nowhere = WriteSafetensors(folder / "absent/a", absl::MakeConstSpan(&good, 1));
  EXPECT_EQ(nowhere.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(FieldOf(nowhere), "path");
  // Nothing is left behind.
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, ElementsAre("a"));
}

}  // namespace
}  // namespace phasor::checkpoint
