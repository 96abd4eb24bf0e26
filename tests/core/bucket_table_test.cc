#include "core/bucket_table.h"

#include <gtest/gtest.h>

#include <gmpxx.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "phasor/core/errors.h"

namespace phasor {
namespace {

std::shared_ptr<const LocalTable> Open(const RelativeBuckets& spec) {
  auto canonical = CanonicalSpec::Create(spec);
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return LocalTable::Create(*std::move(canonical));
}

std::vector<std::int32_t> Read(const LocalTable& table, std::int64_t start, std::int64_t count) {
  std::vector<std::int32_t> buckets(count);
  const absl::Status status = table.ReadInto(
      start, count,
      {reinterpret_cast<std::byte*>(buckets.data()), buckets.size() * sizeof(std::int32_t)});
  EXPECT_TRUE(status.ok()) << status;
  return buckets;
}

// tests/golden/schemes.json: transformers' function, by another program.
TEST(BucketTableTest, BucketsAreTheGoldenOnes) {
  std::ifstream file(PHASOR_GOLDEN_DIR "/schemes.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  for (const bool bidirectional : {true, false}) {
    const nlohmann::json& want = golden[bidirectional ? "t5_bidir_32_128" : "t5_causal_32_128"];
    const auto table = Open({.bidirectional = bidirectional});
    ASSERT_GT(want.size(), 100U);
    for (const auto& [position, bucket] : want.items()) {
      EXPECT_EQ(Read(*table, std::stoll(position), 1)[0], bucket.get<int>()) << position;
    }
  }
}

// The largest j with n^S E^j >= D^j E^S, that is j <= S ln(n/E) / ln(D/E), by
// integers of any length.
std::int64_t BucketByPowers(const RelativeBuckets& spec, std::int64_t position) {
  const std::int64_t side = spec.bidirectional ? spec.num_buckets / 2 : spec.num_buckets;
  const std::int64_t single = side / 2;
  const std::int64_t steps = side - single;
  const std::int64_t first = spec.bidirectional && position > 0 ? side : 0;
  std::int64_t n = position > 0 ? position : -position;
  if (!spec.bidirectional && position > 0) n = 0;
  if (n < single) return first + n;
  const auto power = [](std::int64_t base, std::int64_t exponent) {
    mpz_class result;
    mpz_ui_pow_ui(result.get_mpz_t(), static_cast<unsigned long>(base),
                  static_cast<unsigned long>(exponent));
    return result;
  };
  std::int64_t j = 0;
  while (j + 1 < steps && power(n, steps) * power(single, j + 1) >=
                              power(spec.max_distance, j + 1) * power(single, steps)) {
    ++j;
  }
  return first + single + j;
}

TEST(BucketTableTest, BucketsBeginWhereIntegersSay) {
  for (const RelativeBuckets& spec :
       {RelativeBuckets{}, RelativeBuckets{.bidirectional = false}, RelativeBuckets{4, 2, true},
        RelativeBuckets{2, 2, false}, RelativeBuckets{3, 9, false}, RelativeBuckets{5, 1000, true},
        RelativeBuckets{64, 256, true}, RelativeBuckets{64, 4096, false},
        RelativeBuckets{32, 6561, true}, RelativeBuckets{37, 19, false},
        RelativeBuckets{32, std::int64_t{1} << 53, true}}) {
    const auto table = Open(spec);
    const std::vector<std::int32_t> buckets = Read(*table, -1500, 3001);
    for (std::int64_t k = 0; k < 3001; ++k) {
      ASSERT_EQ(buckets[k], BucketByPowers(spec, k - 1500))
          << spec.num_buckets << " " << spec.max_distance << " " << k - 1500;
    }
    for (const std::int64_t far : {-kMaxPosition, kMaxPosition - 1}) {
      EXPECT_EQ(Read(*table, far, 1)[0], BucketByPowers(spec, far)) << spec.max_distance;
    }
  }
}

TEST(BucketTableTest, ADistanceThatIsExactlyWhereABucketBeginsIsInIt) {
  // 8 * 16^(j/8) = 8 sqrt(2)^j.
  const auto table = Open({});
  for (int j = 0; j < 8; j += 2) {
    const std::int64_t begin = 8 << (j / 2);
    EXPECT_EQ(Read(*table, -begin, 1)[0], 8 + j);
    if (j > 0) {
      EXPECT_EQ(Read(*table, -begin + 1, 1)[0], 8 + j - 1);
    }
  }
}

TEST(BucketTableTest, NoPositionIsInBucketSixteenOfThirtyTwo) {
  // Bidirectional: distance 0 is on the side of keys before the query.
  for (const std::int32_t bucket : Read(*Open({}), -300, 601)) EXPECT_NE(bucket, 16);
}

TEST(BucketTableTest, GathersAreTheSameRows) {
  const auto table = Open({});
  const std::vector<std::int64_t> positions = {5, -5, 5, 0, 1000, -kMaxPosition};
  std::vector<std::int32_t> got(positions.size());
  const absl::Span<std::byte> bytes = {reinterpret_cast<std::byte*>(got.data()), 4 * got.size()};
  ASSERT_TRUE(table->GatherInto(positions, bytes).ok());
  EXPECT_EQ(got, (std::vector<std::int32_t>{21, 5, 21, 0, 31, 15}));
  const std::vector<double> real = {1.0};
  const absl::Status status = table->GatherInto(real, bytes.subspan(0, 4));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldOf(status), "real_positions");
}

TEST(BucketTableTest, TheWidestOpensAndCanBeStopped) {
  const CanonicalSpec spec = *CanonicalSpec::Create(RelativeBuckets{8192, kMaxPosition, false});
  EXPECT_EQ(Read(*LocalTable::Create(spec), -kMaxPosition, 1)[0], 8191);
  const auto stop = [] { return true; };
  EXPECT_EQ(LocalTable::Open(spec, stop).status().code(), absl::StatusCode::kCancelled);
}

TEST(BucketTableTest, ElementsAreIntegersAlone) {
  EXPECT_EQ(CanonicalSpec::Create(RelativeBuckets{})->element_type(), ElementType::kInt32);
  EXPECT_EQ(TableSpec(Scheme(RelativeBuckets{})).element_type, ElementType::kInt32);
  for (const ElementType type : {ElementType::kFloat32, ElementType::kBfloat16}) {
    const absl::Status status = CanonicalSpec::Create({RelativeBuckets{}, type}).status();
    EXPECT_EQ(FieldOf(status), "spec.element_type") << status;
    EXPECT_NE(status.message().find("INT32"), absl::string_view::npos) << status;
  }
  for (const TableSpec& spec : {TableSpec(Sinusoidal{.width = 4}, ElementType::kInt32),
                                TableSpec(Rotary{.width = 4}, ElementType::kInt32),
                                TableSpec(Alibi{.head_count = 4}, ElementType::kInt32),
                                TableSpec(LearnedInit{4, 4}, ElementType::kInt32)}) {
    EXPECT_EQ(FieldOf(CanonicalSpec::Create(spec).status()), "spec.element_type");
  }
  double angle = 1;
  std::int32_t pair[2] = {1, 2};
  EXPECT_EQ(FieldOf(RotatePairs(ElementType::kInt32, {&angle, 1},
                                {reinterpret_cast<std::byte*>(pair), sizeof pair})),
            "type");
}

void ExpectRefused(const RelativeBuckets& spec, const std::string& field,
                   const std::string& value) {
  const absl::Status status = CanonicalSpec::Create(spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(FieldOf(status), "spec.relative_buckets." + field) << status;
  EXPECT_NE(std::string(status.message()).find(value), std::string::npos) << status;
}

TEST(BucketTableTest, WhatIsRefused) {
  for (const std::int64_t buckets : {-1, 0, 3, 8193}) {
    ExpectRefused({buckets, 128, true}, "num_buckets", std::to_string(buckets));
  }
  ExpectRefused({1, 128, false}, "num_buckets", "1");
  ExpectRefused({32, 8, true}, "max_distance", "8 is not above 8");
  ExpectRefused({32, 16, false}, "max_distance", "16");
  ExpectRefused({32, -128, true}, "max_distance", "-128");
  ExpectRefused({32, kMaxPosition + 1, true}, "max_distance", "9007199254740993");
  EXPECT_TRUE(CanonicalSpec::Create(RelativeBuckets{32, 9, true}).ok());
  EXPECT_TRUE(CanonicalSpec::Create(RelativeBuckets{2, 2, false}).ok());
  EXPECT_EQ(FieldOf(Frequencies(*CanonicalSpec::Create(RelativeBuckets{})).status()), "spec");
}

}  // namespace
}  // namespace phasor
