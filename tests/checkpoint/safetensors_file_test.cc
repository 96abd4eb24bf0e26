#include "checkpoint/safetensors_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/checkpoint/published_files.h"
#include "tests/checkpoint/temporary_folder.h"

namespace phasor::checkpoint {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kHeader[] = R"({"t":{"dtype":"F32","shape":[1024],"data_offsets":[0,4096]}})";

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(SafetensorsFileTest, ReadsAnyPartOfATensor) {
  const TemporaryFolder folder;
  const std::string bytes = FileOf(kHeader, 4096);
  const auto file = SafetensorsFile::Open(folder.Write("a", bytes));
  ASSERT_TRUE(file.ok()) << file.status();
  for (const std::size_t first : {0, 1, 4000}) {
    std::vector<std::byte> out(96);
    ASSERT_TRUE(file->Read(file->tensors()[0], first, absl::MakeSpan(out)).ok());
    const std::string expected = bytes.substr(bytes.size() - 4096 + first, 96);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(out.data()), out.size()), expected);
  }
}

TEST(SafetensorsFileTest, WhatIsWrongIsToldWithThePath) {
  const TemporaryFolder folder;
  const std::string absent = folder / "absent";
  EXPECT_EQ(SafetensorsFile::Open(absent).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(SafetensorsFile::Open(absent).status()), StartsWith(absent));

  const auto folder_itself = SafetensorsFile::Open(folder.path());
  EXPECT_EQ(folder_itself.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(folder_itself.status()), HasSubstr("is no regular file"));

  const std::string broken = folder.Write("broken", FileOf(kHeader, 4095));
  EXPECT_EQ(SafetensorsFile::Open(broken).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Message(SafetensorsFile::Open(broken).status()),
              StartsWith(broken + ": tensor \"t\": data_offsets [0, 4096] is not in the 4095"));
}

TEST(SafetensorsFileTest, APipeIsRefusedRatherThanWaitedFor) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(Message(SafetensorsFile::Open(path).status()), HasSubstr("is no regular file"));
}

TEST(SafetensorsFileTest, AFileCutWhileItIsOpenIsAnErrorThatNamesTheByte) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", FileOf(kHeader, 4096));
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok());
  const auto data_begin = static_cast<off_t>(file->tensors()[0].begin);
  std::vector<std::byte> out(4096);
  for (const off_t left : {4095, 1000, 0}) {
    ASSERT_EQ(truncate(path.c_str(), data_begin + left), 0);
    const absl::Status status = file->Read(file->tensors()[0], 0, absl::MakeSpan(out));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(Message(status),
                StartsWith(path + ": ends at byte " + std::to_string(data_begin + left) + " now"));
  }
}

TEST(SafetensorsFileTest, AFileWrittenIntoWhileItIsOpenIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", FileOf(kHeader, 4096));
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok());
  // The same bytes, and the time of long ago: what counts is that it was written.
  const timespec times[] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  std::vector<std::byte> out(4096);
  const absl::Status status = file->Read(file->tensors()[0], 0, absl::MakeSpan(out));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr("was changed while bytes"));
}

TEST(SafetensorsFileTest, AFileReplacedWhileItIsOpenIsReadToItsOwnEnd) {
  const TemporaryFolder folder;
  const std::string bytes = FileOf(kHeader, 4096);
  const std::string path = folder.Write("a", bytes);
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok());
  folder.Write("a", "something else");
  std::vector<std::byte> out(4096);
  const absl::Status status = file->Read(file->tensors()[0], 0, absl::MakeSpan(out));
  // Its last name went, which the system counts as a change of the file.
  if (status.ok()) {
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(out.data()), 4096),
              bytes.substr(bytes.size() - 4096));
  } else {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  }
}

TEST(SafetensorsFileTest, VersionsTellAReplacedFileFromTheOneBefore) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "one");
  const FileVersion one = VersionOf(path);
  EXPECT_EQ(VersionOf(path), one);
  folder.Write("a", "one");
  EXPECT_NE(VersionOf(path), one);
  EXPECT_EQ(VersionOf(folder / "absent"), FileVersion());
}

TEST(SafetensorsFileTest, ASmallFileIsReadUpToItsBound) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "1234");
  EXPECT_EQ(ReadSmallFile(path, 4).value(), "1234");
  EXPECT_THAT(Message(ReadSmallFile(path, 3).status()), HasSubstr("has 4 bytes, more than the 3"));
}

}  // namespace
}  // namespace phasor::checkpoint
