#include "tests/checkpoint/published_files.h"

#include "absl/strings/str_cat.h"

namespace phasor::checkpoint {
namespace {

std::string Length(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

// A tensor's entry.
std::string Entry(absl::string_view name, absl::string_view dtype, absl::string_view shape,
                  absl::string_view offsets) {
  return absl::StrCat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape,
                      ",\"data_offsets\":", offsets, "}");
}

std::string One(absl::string_view dtype, absl::string_view shape, absl::string_view offsets) {
  return absl::StrCat("{", Entry("t", dtype, shape, offsets), "}");
}

std::string Two(absl::string_view first, absl::string_view second) {
  return absl::StrCat("{", Entry("a", "U8", "[16]", first), ",", Entry("b", "U8", "[16]", second),
                      "}");
}

}  // namespace

std::string FileOf(absl::string_view header, std::size_t data_bytes) {
  std::string file = absl::StrCat(Length(header.size()), header);
  for (std::size_t i = 0; i < data_bytes; ++i) file += static_cast<char>(i * 7 + 1);
  return file;
}

std::vector<PublishedFile> PublishedFiles() {
  const std::string good = One("F32", "[2,2]", "[0,16]");
  std::vector<PublishedFile> files = {
      // A header's length that is believed: ollama 16190.
      {"no bytes", "", "has 0 bytes"},
      {"seven bytes", std::string(7, '\1'), "has 7 bytes"},
      {"length 0", Length(0), "is 0; it has to be in 2 ... 100000000"},
      {"length 1", Length(1) + "{", "is 1; it has to be"},
      {"length 7 of nothing", Length(7), "is to end at byte 15, and the file has 8"},
      {"length 8 of 7", Length(8) + "{      ", "is to end at byte 16, and the file has 15"},
      {"length past the bound", Length(100'000'001) + "{}", "is 100000001"},
      {"length 2^31", Length(std::uint64_t{1} << 31) + "{}", "is 2147483648"},
      {"length 2^63-1", Length(~std::uint64_t{0} >> 1) + "{}", "is 9223372036854775807"},
      {"length 2^64-1", Length(~std::uint64_t{0}) + "{}", "is 18446744073709551615"},
      {"length 2^64-8, which wraps", Length(~std::uint64_t{7}) + "{}", "is 18446744073709551608"},

      // What is no header.
      {"a list", FileOf("[]", 0), "does not begin with '{'"},
      {"spaces before", FileOf(" {}", 0), "does not begin with '{'"},
      {"no end", FileOf("{\"t\":", 0), "is no JSON at its byte"},
      {"something behind", FileOf("{}{}", 0), "is no JSON at its byte 2, byte 10 of the file"},
      {"a zero byte behind", FileOf(std::string("{}\0", 3), 0), "is no JSON at its byte 2"},
      {"not UTF-8", FileOf("{\"\xff\":1}", 0), "is no JSON at its byte 2"},
      {"half a surrogate", FileOf("{\"\\ud800\":1}", 0), "is no JSON at its byte"},
      {"a tensor that is a number", FileOf("{\"t\":1}", 0), "the number 1 where there is to be"},
      {"a tensor that is null", FileOf("{\"t\":null}", 0), "null where there is to be an object"},
      {"no dtype", FileOf("{\"t\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1), "has no dtype"},
      {"no shape", FileOf("{\"t\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1), "has no shape"},
      {"no offsets", FileOf("{\"t\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1), "has no data_offsets"},
      {"a key of tomorrow",
       FileOf("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"sparse\":true}}", 1),
       "the key \"sparse\" is not known"},
      {"deep nesting", FileOf(absl::StrCat("{\"t\":", std::string(100'000, '[')), 0),
       "a list where there is to be an object"},
      {"metadata that is no text", FileOf("{\"__metadata__\":{\"a\":1}}", 0),
       "the number 1 where there is to be a text"},

      // Lists of offsets: ollama 17148.
      {"no offset", FileOf(One("U8", "[0]", "[]"), 0), "has 0 numbers, not two"},
      {"one offset", FileOf(One("U8", "[0]", "[0]"), 0), "has 1 numbers, not two"},
      {"three offsets", FileOf(One("U8", "[16]", "[0,16,32]"), 32), "more than two numbers"},
      {"end before begin", FileOf(One("U8", "[8]", "[8,0]"), 8), "data_offsets [8, 0] is not in"},
      {"an offset as text", FileOf(One("U8", "[16]", "[\"0\",16]"), 16), "the text \"0\" where"},
      {"half an offset", FileOf(One("U8", "[16]", "[0.5,16]"), 16), "the number \"0.5\" where"},
      {"an offset below 0", FileOf(One("U8", "[16]", "[-1,16]"), 16), "the number -1 where"},
      {"an offset past 64 bits", FileOf(One("U8", "[1]", "[0,18446744073709551616]"), 1),
       "the number \"18446744073709551616\" where"},
      {"an offset of 2^64-1", FileOf(One("U8", "[1]", "[0,18446744073709551615]"), 1),
       "is not in the 1 bytes of data"},

      // Shapes and ranges that differ: fastllm 712, mlx 3363, ds4 543.
      {"a range longer than its shape", FileOf(One("F32", "[32,8]", "[0,65536]"), 65536),
       "F32 [32, 8] takes 1024 bytes, and data_offsets [0, 65536] has 65536"},
      {"a shape longer than its range", FileOf(One("F32", "[1000,1000]", "[0,4]"), 4),
       "takes 4000000 bytes"},
      {"a shape longer than the file", FileOf(One("F32", "[1024,1024]", "[0,4194304]"), 128),
       "data_offsets [0, 4194304] is not in the 128 bytes of data"},
      {"a scalar without bytes", FileOf(One("F32", "[]", "[0,0]"), 0), "takes 4 bytes"},
      {"one element without bytes", FileOf(One("F32", "[1]", "[0,0]"), 0), "takes 4 bytes"},

      // Products that overflow, to zero among others: LiteRT 9255,
      // stable-diffusion.cpp 1876.
      {"2^32 x 2^32", FileOf(One("F32", "[4294967296,4294967296]", "[0,0]"), 0),
       "more than 2^64 bits"},
      {"2^62 x 4 bytes", FileOf(One("F32", "[4611686018427387904]", "[0,0]"), 0),
       "more than 2^64 bits"},
      {"three lengths", FileOf(One("U8", "[2147483648,2,2147483648]", "[0,0]"), 0),
       "more than 2^64 bits"},
      {"lengths below 0", FileOf(One("U8", "[-1,-4]", "[0,4]"), 4), "the number -1 where"},
      {"a length past 2^53", FileOf(One("U8", "[9007199254740993]", "[0,1]"), 1),
       "U8 [9007199254740993] takes 9007199254740993 bytes"},
      {"a length past 64 bits", FileOf(One("U8", "[18446744073709551617]", "[0,1]"), 1),
       "the number \"18446744073709551617\" where"},
      {"a length as a real", FileOf(One("U8", "[1e0]", "[0,1]"), 1), "the number \"1e0\" where"},

      // Dtypes that are not known: imp 1603, 1605.
      {"dtype F99", FileOf(One("F99", "[1]", "[0,1]"), 1), "dtype \"F99\" is not known"},
      {"dtype F99 beyond the file", FileOf(One("F99", "[1]", "[9223372036854775808,0]"), 1),
       "is not in the 1 bytes of data"},
      {"dtype in small letters", FileOf(One("f32", "[1]", "[0,4]"), 4), "\"f32\" is not known"},
      {"half a byte", FileOf(One("F4", "[3]", "[0,1]"), 1), "is not a whole number of bytes"},

      // Ranges that overlap, holes, bytes behind: h3.c 48, lattice 752, marker 970.
      {"overlapping ranges", FileOf(Two("[0,16]", "[8,24]"), 24), "overlaps the data of another"},
      {"the same range twice", FileOf(Two("[0,16]", "[0,16]"), 16), "overlaps the data of another"},
      {"a hole", FileOf(Two("[0,16]", "[24,40]"), 40), "bytes 16 ... 23 of the data"},
      {"a hole before all", FileOf(One("U8", "[4]", "[4,8]"), 8), "bytes 0 ... 3 of the data"},
      {"an empty tensor inside another",
       FileOf(absl::StrCat("{", Entry("a", "U8", "[8]", "[0,8]"), ",",
                           Entry("b", "U8", "[0]", "[4,4]"), "}"),
              8),
       "overlaps the data of another"},
      {"a byte behind", FileOf(good, 17), "1 bytes at its end are no tensor's"},
      {"a byte short", FileOf(good, 15), "is not in the 15 bytes of data"},
      {"data without tensors", FileOf("{}", 3), "3 bytes at its end are no tensor's"},

      // Keys that come twice: safetensors 401.
      {"a name twice",
       FileOf(absl::StrCat("{", Entry("t", "U8", "[4]", "[0,4]"), ",",
                           Entry("t", "U8", "[4]", "[4,8]"), "}"),
              8),
       "at \"t\": the name comes twice"},
      {"a name twice, once escaped",
       FileOf(absl::StrCat("{", Entry("t", "U8", "[4]", "[0,4]"), ",",
                           Entry("\\u0074", "U8", "[4]", "[4,8]"), "}"),
              8),
       "the name comes twice"},
      {"dtype twice",
       FileOf("{\"t\":{\"dtype\":\"U8\",\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,4]}}",
              4),
       "the key dtype comes twice"},
      {"shape twice",
       FileOf("{\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"shape\":[1],\"data_offsets\":[0,4]}}", 4),
       "the key shape comes twice"},
      {"metadata twice", FileOf("{\"__metadata__\":{},\"__metadata__\":{}}", 0),
       "the name comes twice"},
      {"a key of metadata twice", FileOf("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0),
       "the key \"a\" comes twice"},

      // Right.
      {"no tensors", FileOf("{}", 0), ""},
      {"one tensor", FileOf(good, 16), ""},
      {"spaces behind the header", FileOf(good + "     ", 16), ""},
      {"metadata", FileOf("{\"__metadata__\":{\"format\":\"pt\"}}", 0), ""},
      {"tensors in another order than their data", FileOf(Two("[16,32]", "[0,16]"), 32), ""},
      {"a scalar", FileOf(One("F64", "[]", "[0,8]"), 8), ""},
      {"an empty tensor", FileOf(One("F32", "[0,768]", "[0,0]"), 0), ""},
      {"empty tensors between others",
       FileOf(absl::StrCat("{", Entry("a", "U8", "[8]", "[0,8]"), ",",
                           Entry("b", "U8", "[0]", "[8,8]"), ",", Entry("c", "U8", "[2]", "[8,10]"),
                           ",", Entry("d", "F16", "[3,0]", "[10,10]"), "}"),
              10),
       ""},
      {"quarters of bytes", FileOf(One("F6_E2M3", "[4]", "[0,3]"), 3), ""},
      {"a name of other letters",
       FileOf("{\"\\u00e9 \\\"\":{\"dtype\":\"U8\",\"shape\":[1],"
              "\"data_offsets\":[0,1]}}",
              1),
       ""},
  };
  // Data at every alignment: safetensors 231, vllm.cpp 2558.
  for (std::size_t spaces = 0; spaces < 8; ++spaces) {
    files.push_back({absl::StrCat("data after ", spaces, " more spaces"),
                     FileOf(good + std::string(spaces, ' '), 16), ""});
  }
  return files;
}

}  // namespace phasor::checkpoint
