#include "client/cli/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/npy_input.h"
#include "tests/cli/temporary_directory.h"

namespace phasor::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::string_view kGood = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";

/// A version 1.0 file with this dictionary and so many bytes after it.
std::string File(absl::string_view dictionary, std::size_t bytes) {
  std::string text(dictionary);
  text += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(text.size() & 0xff);
  file += static_cast<char>(text.size() >> 8);
  return file + text + std::string(bytes, 'x');
}

absl::Status OpenStatus(absl::string_view content) {
  TemporaryDirectory directory;
  return NpyInput::Open(directory.Write("rows.npy", content)).status();
}

void ExpectRefused(absl::string_view content, absl::string_view why) {
  const absl::Status status = OpenStatus(content);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << content;
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(why)));
}

TEST(NpyHead, IsAlignedAndReadable) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{3, 4}, {0, 512}, {7}, {1, 1}, {std::int64_t{1} << 40, 65536}}) {
    const std::string head = NpyHead(ElementType::kFloat16, shape);
    EXPECT_EQ(head.size() % 64, 0U);
    EXPECT_EQ(head.back(), '\n');
    const auto bytes = ParseNpyPreamble(head.substr(0, kNpyPreambleBytes));
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_EQ(*bytes, head.size() - kNpyPreambleBytes);
    const auto header = ParseNpyDictionary(head.substr(kNpyPreambleBytes));
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->type_code, "<f2");
    EXPECT_EQ(header->shape, shape);
  }
}

TEST(NpyDictionary, TakesWhatPythonWouldTake) {
  for (absl::string_view text : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n",
           "{'shape': (3,4), 'fortran_order':False,'descr':\"<f4\"}\n",
           "{ 'shape' : ( 3 , 4 , ) , 'descr' : '<f4' , 'fortran_order' : False }\n",
       }) {
    const auto header = ParseNpyDictionary(text);
    ASSERT_TRUE(header.ok()) << text << header.status();
    EXPECT_EQ(header->type_code, "<f4");
    EXPECT_THAT(header->shape, ElementsAre(3, 4));
  }
}

TEST(NpyInput, ReadsToTheEnd) {
  TemporaryDirectory directory;
  auto input = NpyInput::Open(directory.Write("rows.npy", File(kGood, 48)));
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_THAT(input->header().shape, ElementsAre(3, 4));
  std::vector<std::byte> bytes(48);
  EXPECT_TRUE(input->Read(absl::MakeSpan(bytes)).ok());
  EXPECT_EQ(bytes[47], std::byte{'x'});
  EXPECT_TRUE(input->ExpectEnd().ok());
  EXPECT_EQ(input->Read(absl::MakeSpan(bytes).first(1)).code(), absl::StatusCode::kInvalidArgument);
}

TEST(NpyInput, TakesEmptyArrays) {
  EXPECT_TRUE(
      OpenStatus(File("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4), }", 0)).ok());
}

TEST(NpyInput, SaysWhenThereIsNoFile) {
  const absl::Status status = NpyInput::Open("/nonexistent/rows.npy").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("No such file"));
}

TEST(NpyInput, RefusesEveryCutOfAFile) {
  const std::string file = File(kGood, 48);
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(OpenStatus(file.substr(0, size)).code(), absl::StatusCode::kInvalidArgument) << size;
  }
  ExpectRefused(file + "x", "49 bytes of elements");
}

TEST(NpyInput, RefusesOtherMagicAndVersions) {
  std::string file = File(kGood, 48);
  file[0] = 'x';
  ExpectRefused(file, "NUMPY");
  file = File(kGood, 48);
  file[6] = 2;
  ExpectRefused(file, "version 2.0");
  file = File(kGood, 48);
  file[7] = 1;
  ExpectRefused(file, "version 1.1");
}

TEST(NpyInput, RefusesLengthsOfHeadThatLie) {
  std::string file = File(kGood, 48);
  for (char length : {'\0', '\1', '\x10', '\xff'}) {
    file[8] = length;
    EXPECT_EQ(OpenStatus(file).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(NpyInput, RefusesDictionariesThatAreNot) {
  const auto with = [](absl::string_view descr, absl::string_view order, absl::string_view shape) {
    return File(absl::StrCat("{'descr': ", descr, ", 'fortran_order': ", order,
                             ", 'shape': ", shape, ", }"),
                48);
  };
  EXPECT_TRUE(OpenStatus(with("'<f4'", "False", "(3, 4)")).ok());
  ExpectRefused(with("'<f4'", "True", "(3, 4)"), "fortran_order");
  ExpectRefused(with("'<f4'", "0", "(3, 4)"), "fortran_order");
  ExpectRefused(with("'<f4'", "", "(3, 4)"), "fortran_order");
  ExpectRefused(with("[('a', '<f4')]", "False", "(3, 4)"), "descr");
  ExpectRefused(with("'<f4", "False", "(3, 4)"), "");
  ExpectRefused(with("'f'", "False", "(3, 4)"), "descr");
  ExpectRefused(with("'<f0'", "False", "(3, 4)"), "descr");
  ExpectRefused(with("'|O'", "False", "(3, 4)"), "descr");
  ExpectRefused(with("'<f4'", "False", "(3, -4)"), "negative size");
  ExpectRefused(with("'<f4'", "False", "(-3, -4)"), "negative size");
  ExpectRefused(with("'<f4'", "False", "(12)"), "comma");
  ExpectRefused(with("'<f4'", "False", "12"), "shape");
  ExpectRefused(with("'<f4'", "False", "(3; 4)"), "shape");
  ExpectRefused(with("'<f4'", "False", "(3 4)"), "shape");
  ExpectRefused(with("'<f4'", "False", "(3,, 4)"), "shape");
  ExpectRefused(with("'<f4'", "False", "(3.0, 4)"), "shape");
  ExpectRefused(with("'<f4'", "False", "(0x3, 4)"), "shape");
  ExpectRefused(with("'<f4'", "False", "(3, 4"), "shape");
  ExpectRefused(with("'<f4'", "False", "(99999999999999999999, 4)"), "64-bit");
  ExpectRefused(with("'<f4'", "False", "(4294967296, 4294967296)"), "more elements");
  ExpectRefused(with("'<f4'", "False", "(4611686018427387904,)"), "larger than any file");
  // 2^62 * 4 bytes wraps to nothing.
  ExpectRefused(
      File("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", 0),
      "larger than any file");
  ExpectRefused(with("'<f4'", "False", "(3, 5)"), "promises 60");
  ExpectRefused(with("'<f4'", "False", "()"), "promises 4");
}

TEST(NpyInput, RefusesOtherKeys) {
  ExpectRefused(File("", 0), "begins");
  ExpectRefused(File("{}", 0), "lacks");
  ExpectRefused(File("{'descr': '<f4', 'fortran_order': False}", 0), "lacks");
  ExpectRefused(File("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4),
                "repeated key \"descr\"");
  ExpectRefused(File("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", 4),
                "key \"more\"");
  ExpectRefused(File("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} 1", 4), "ends");
  ExpectRefused(File("{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", 4), "goes on");
  ExpectRefused(File("{descr: '<f4', 'fortran_order': False, 'shape': (1,)}", 4), "no key");
  ExpectRefused(File(std::string("{'descr\0': 1}", 13), 4), "key");
}

}  // namespace
}  // namespace phasor::cli
