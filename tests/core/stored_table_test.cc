#include "phasor/core/stored_table.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "phasor/core/element_survey.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

using testing::ElementsAre;

constexpr char kContent[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

// Reads a table of one row that holds `stored`, as `type`; elements as bits.
template <typename Out, typename In>
std::vector<Out> Convert(ElementType stored, const std::vector<In>& bits, ElementType type) {
  const std::size_t bytes = bits.size() * sizeof(In);
  // At an odd address.
  std::shared_ptr<std::byte[]> memory(new std::byte[bytes + 1]);
  std::memcpy(memory.get() + 1, bits.data(), bytes);
  const auto width = static_cast<std::int64_t>(bits.size());
  const auto table =
      MakeStoredTable(*CanonicalSpec::Create(
                          TableSpec(LearnedTable{"t", kContent, /*max_positions=*/1, width}, type)),
                      stored, std::shared_ptr<const std::byte[]>(memory, memory.get() + 1), bytes);
  EXPECT_TRUE(table.ok()) << table.status();
  std::vector<Out> out(bits.size());
  const absl::Status status = (*table)->ReadInto(
      0, 1, absl::MakeSpan(reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(Out)));
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

constexpr auto k16 = ElementType::kFloat16;
constexpr auto kB16 = ElementType::kBfloat16;
constexpr auto k32 = ElementType::kFloat32;
constexpr auto k64 = ElementType::kFloat64;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// The value of a binary16 by the formula of IEEE 754.
double ValueOfHalf(U16 bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(StoredTableTest, EveryHalfWidensToItsValue) {
  std::vector<U16> all;
  for (int bits = 0; bits < 65536; ++bits) {
    if ((bits >> 10 & 31) != 31) all.push_back(static_cast<U16>(bits));
  }
  const std::vector<U16> first(all.begin(), all.begin() + 60000);
  const auto doubles = Convert<double>(k16, first, k64);
  const auto floats = Convert<float>(k16, first, k32);
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(doubles[i], ValueOfHalf(first[i])) << i;
    ASSERT_EQ(std::signbit(doubles[i]), first[i] >= 0x8000) << i;
    ASSERT_EQ(floats[i], ValueOfHalf(first[i])) << i;
  }
  EXPECT_EQ(Convert<U16>(k64, doubles, k16), first);
  EXPECT_EQ(Convert<U16>(k32, floats, k16), first);
}

TEST(StoredTableTest, Bfloat16IsTheUpperHalfOfAFloat) {
  std::vector<U16> some;
  for (int bits = 0; bits < 65536; bits += 3) some.push_back(static_cast<U16>(bits));
  const auto floats = Convert<U32>(kB16, some, k32);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const bool nan = (some[i] & 0x7fff) > 0x7f80;
    ASSERT_EQ(floats[i], U32{some[i]} << 16 | (nan ? 0x400000U : 0U)) << i;
  }
}

// By the rule of IEEE 754: ties to even, gradual underflow.
TEST(StoredTableTest, NarrowingIsOneRoundingTiesToEven) {
  EXPECT_THAT((Convert<U16, U32>(k32, {0x3f808000, 0x3f818000, 0x3f808001, 0x3f807fff}, kB16)),
              ElementsAre(0x3f80, 0x3f82, 0x3f81, 0x3f80));
  // 1 + 2^-11 is a tie of binary16, and so is 1 + 3 * 2^-11.
  EXPECT_THAT((Convert<U16, float>(k32,
                                   {1 + 0x1p-11F, 1 + 0x3p-11F, 1 + 0x1.002p-11F, 65519.0F,
                                    0x1p-25F, 0x1.8p-25F, -0x1p-26F},
                                   k16)),
              ElementsAre(0x3c00, 0x3c02, 0x3c01, 0x7bff, 0x0000, 0x0001, 0x8000));
  // By way of a float this would be 1 + 2^-11, a tie, and then 1.
  EXPECT_THAT((Convert<U16, double>(k64, {1 + 0x1p-11 + 0x1p-40}, k16)), ElementsAre(0x3c01));
  EXPECT_THAT((Convert<U16, double>(k64, {1 + 0x1p-8 + 0x1p-40}, kB16)), ElementsAre(0x3f81));
  EXPECT_THAT(
      (Convert<U32, double>(k64, {1 + 0x1p-24, 1 + 0x3p-24, 0x1p-149, 0x1p-150, -0.0}, k32)),
      ElementsAre(0x3f800000, 0x3f800002, 1, 0, 0x80000000));
}

TEST(StoredTableTest, ElementsOfTheSameTypeAreNotTouched) {
  const std::vector<U32> bits = {0x7f800001, 0xffc12345, 0x80000000, 0x00000001, 0x7f800000};
  EXPECT_EQ((Convert<U32>(k32, bits, k32)), bits);
  const std::vector<U16> halves = {0x7c01, 0xfe00, 0x8000, 0x0001};
  EXPECT_EQ((Convert<U16>(k16, halves, k16)), halves);
}

TEST(StoredTableTest, InfinitiesAndNansPass) {
  EXPECT_THAT(
      (Convert<U16, U32>(k32, {0x7f800000, 0xff800000, 0x7fc00000, 0xffc02000, 0x7f800001}, k16)),
      ElementsAre(0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7e00));
  EXPECT_THAT((Convert<U16, U64>(k64, {0x7ff0000000000000, 0xfff8000000000000}, kB16)),
              ElementsAre(0x7f80, 0xffc0));
  EXPECT_THAT(
      (Convert<U64, U16>(k16, {0x7c00, 0xfc00, 0x7e01, 0x7c01}, k64)),
      ElementsAre(0x7ff0000000000000, 0xfff0000000000000, 0x7ff8040000000000, 0x7ff8040000000000));
}

TEST(StoredTableTest, RowsAreReadAndGatheredAtTheirPositions) {
  std::vector<float> rows(7 * 3);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i);
  std::shared_ptr<std::byte[]> memory(new std::byte[rows.size() * 4]);
  std::memcpy(memory.get(), rows.data(), rows.size() * 4);
  const auto spec = CanonicalSpec::Create(LearnedTable{"t", kContent, 7, 3});
  const auto table = MakeStoredTable(*spec, k32, memory, rows.size() * 4);
  ASSERT_TRUE(table.ok());
  std::vector<float> out(6);
  const auto bytes = [&] {
    return absl::MakeSpan(reinterpret_cast<std::byte*>(out.data()), out.size() * 4);
  };
  ASSERT_TRUE((*table)->ReadInto(5, 2, bytes()).ok());
  EXPECT_THAT(out, ElementsAre(15, 16, 17, 18, 19, 20));
  ASSERT_TRUE((*table)->GatherInto(std::vector<std::int64_t>{6, 0}, bytes()).ok());
  EXPECT_THAT(out, ElementsAre(18, 19, 20, 0, 1, 2));

  const absl::Status past = (*table)->ReadInto(6, 2, bytes());
  EXPECT_EQ(past.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(FieldOf(past), "row_count");
  EXPECT_EQ(FieldOf((*table)->GatherInto(std::vector<std::int64_t>{0, 7}, bytes())),
            "positions[1]");
  EXPECT_EQ(FieldOf((*table)->GatherInto(std::vector<std::int64_t>{-1, 0}, bytes())),
            "positions[0]");
  EXPECT_EQ(FieldOf((*table)->GatherInto(std::vector<double>{0.0, 1.0}, bytes())),
            "real_positions");
}

TEST(StoredTableTest, RowsHaveToBeAsManyAsTheSpecSays) {
  const auto spec = CanonicalSpec::Create(LearnedTable{"t", kContent, 7, 3});
  const std::shared_ptr<std::byte[]> memory(new std::byte[84]);
  const absl::Status one_less = MakeStoredTable(*spec, k32, memory, 83).status();
  EXPECT_EQ(FieldOf(one_less), "spec");
  EXPECT_EQ(one_less.message(),
            "spec: 83 bytes of rows given; 7 rows of 3 elements FLOAT32 take 84");
  EXPECT_EQ(FieldOf(MakeStoredTable(*spec, k16, memory, 84).status()), "spec");
  EXPECT_EQ(
      FieldOf(MakeStoredTable(*CanonicalSpec::Create(LearnedInit{7, 3}), k32, memory, 84).status()),
      "spec");
}

TEST(StoredTableTest, CannotBeComputedFromItsSpec) {
  const auto opened =
      LocalTable::Open(*CanonicalSpec::Create(LearnedTable{"t", kContent, 7, 3}), NeverStop);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FieldOf(opened.status()), "spec.learned_table.name");
}

TEST(ElementSurveyTest, CountsWhatIsNoNumber) {
  const std::vector<U16> bits = {0x7c00, 0x7c01, 0xfe00, 0x3c00, 0xfc00, 0xc000, 0x4000};
  const ElementSurvey survey = SurveyElements(
      k16, absl::MakeConstSpan(reinterpret_cast<const std::byte*>(bits.data()), bits.size() * 2));
  EXPECT_EQ(survey.nans, 2);
  EXPECT_EQ(survey.infinities, 2);
  EXPECT_EQ(survey.largest, -2);
  EXPECT_EQ(survey.largest_index, 5);
}

// 65520 = (65504 + 65536) / 2, the least that binary16 rounds to an infinity;
// the others likewise.
TEST(ElementSurveyTest, TellsWhatIsTooLarge) {
  EXPECT_FALSE(RoundsToInfinity(k16, std::nextafter(65520.0, 0)));
  EXPECT_TRUE(RoundsToInfinity(k16, -65520.0));
  EXPECT_FALSE(RoundsToInfinity(k32, std::nextafter(0x1.ffffffp127, 0)));
  EXPECT_TRUE(RoundsToInfinity(k32, 0x1.ffffffp127));
  EXPECT_FALSE(RoundsToInfinity(kB16, std::nextafter(0x1.ffp127, 0)));
  EXPECT_TRUE(RoundsToInfinity(kB16, 0x1.ffp127));
  EXPECT_FALSE(RoundsToInfinity(k64, std::numeric_limits<double>::max()));
}

TEST(LearnedTableSpecTest, FingerprintIsOfNameContentAndShape) {
  const auto spec = CanonicalSpec::Create(
      TableSpec(LearnedTable{"openai/gpt2", kContent, 1024, 768}, ElementType::kBfloat16));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->text(),
            "element_type=ELEMENT_TYPE_BFLOAT16\n"
            "learned_table.content_sha256="
            "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"
            "learned_table.max_positions=1024\n"
            "learned_table.name=openai/gpt2\n"
            "learned_table.width=768\n");
  EXPECT_TRUE(spec->bounded());
  EXPECT_EQ(spec->last_position(), 1023);
  EXPECT_EQ(spec->row_width(), 768);
  EXPECT_EQ(spec->pairs(), 0);
}

TEST(LearnedTableSpecTest, EachFieldIsChecked) {
  const LearnedTable good{"t", kContent, 7, 3};
  const auto field = [&](auto change) {
    LearnedTable table = good;
    change(table);
    return FieldOf(CanonicalSpec::Create(table).status());
  };
  EXPECT_EQ(field([](LearnedTable&) {}), "");
  for (const std::string& name :
       {std::string(), std::string(129, 'a'), std::string("a\nb"), std::string("a=b"),
        std::string("\xc3\xa9"), std::string("a b"), std::string("a\0b", 3)}) {
    EXPECT_EQ(field([&](LearnedTable& t) { t.name = name; }), "spec.learned_table.name") << name;
  }
  EXPECT_EQ(field([](LearnedTable& t) { t.name = std::string(128, 'a'); }), "");
  for (const char* content : {"", "0011",
                              "G0112233445566778899aabbccddeeff00112233445566778899aabb"
                              "ccddeeff"}) {
    EXPECT_EQ(field([&](LearnedTable& t) { t.content_sha256 = content; }),
              "spec.learned_table.content_sha256");
  }
  for (const std::int64_t width : {0L, -1L, 65537L}) {
    EXPECT_EQ(field([&](LearnedTable& t) { t.width = width; }), "spec.learned_table.width");
  }
  for (const std::int64_t rows : {0L, -1L, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(field([&](LearnedTable& t) { t.max_positions = rows; }),
              "spec.learned_table.max_positions");
  }
}

}  // namespace
}  // namespace phasor
