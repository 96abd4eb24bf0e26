#include "client/cli/lock_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/spec_from_json.h"
#include "client/cli/spec_json.h"

namespace phasor::cli {
namespace {

using testing::HasSubstr;

const std::vector<TableSpec>& Specs() {
  static const auto* specs = new std::vector<TableSpec>{
      Sinusoidal{.width = 512},
      TableSpec(Sinusoidal{.width = 8,
                           .base = 500000.0,
                           .ladder = InclusiveLadder{},
                           .layout = Layout::kSinCosHalves,
                           .position_offset = -2,
                           .zero_row = 1},
                ElementType::kBfloat16),
      Sinusoidal{.width = 7, .odd_column = OddColumn::kSine},
      Sinusoidal{.width = 8, .ladder = DownscaledLadder{0.5}},
      Sinusoidal{.width = 8, .ladder = TimescaleLadder{2, 5000}},
      Sinusoidal{.width = 4, .ladder = ExplicitLadder{{1, 0x1.23456789abcdep-7}}},
      TableSpec(LearnedInit{.max_positions = 64, .width = 8, .stddev = 0.1, .seed = -5},
                ElementType::kFloat16),
      Rotary{.width = 8, .scaling = LinearScaling{8}, .layout = Layout::kCosSinInterleaved},
      Rotary{.width = 8, .scaling = NtkScaling{2}},
      Rotary{.width = 8, .scaling = DynamicNtkScaling{2, 2048, 8192}},
      Rotary{.width = 8,
             .base = 150000.0,
             .scaling = YarnScaling{.factor = 32,
                                    .original_max_position_embeddings = 4096,
                                    .beta_fast = 16,
                                    .mscale = 0.707,
                                    .mscale_all_dim = 1,
                                    .truncate = false},
             .attention_factor = 1.1},
      Rotary{.width = 4, .scaling = LongRopeScaling{{1, 1.5}, {2, 3}, 4096, 131072, 32.0}},
      Rotary{.width = 8, .scaling = Llama3Scaling{8, 1, 4, 8192}},
      Rotary{.width = 8, .scaling = ProportionalScaling{0.25, 1}},
      Rotary{.width = 8, .scaling = ProportionalScaling{}},
      Rotary{.width = 4, .scaling = ExplicitLadder{{1, -0.01}}},
      Rotary{.width = 16, .mrope_section = {3, 3, 2}, .mrope_interleaved = true},
      Timestep{.width = 8, .downscale_freq_shift = 0, .scale = 1000, .flip_sin_to_cos = true},
      NoPosition{.width = 8},
      NoPosition{.width = 7, .additive = true},
      Alibi{.head_count = 12, .form = AlibiForm::kKeyPosition},
      RelativeBuckets{},
      RelativeBuckets{.num_buckets = 64, .bidirectional = false},
  };
  return *specs;
}

TEST(SpecFromJson, ReadsEverySpecBack) {
  for (const TableSpec& spec : Specs()) {
    const CanonicalSpec canonical = *CanonicalSpec::Create(spec);
    const absl::StatusOr<CanonicalSpec> read = SpecFromJson(CanonicalSpecJson(canonical));
    ASSERT_TRUE(read.ok()) << canonical.text() << read.status();
    EXPECT_EQ(read->text(), canonical.text());
    EXPECT_EQ(read->spec(), canonical.spec());
  }
}

TEST(SpecFromJson, RefusesWhatIsNoCanonicalSpec) {
  const struct {
    const char* json;
    const char* said;
  } kCases[] = {
      {"[]", "spec: is no JSON object"},
      {"{}", "spec: has no scheme"},
      {R"({"rotary": {"width": 8}, "alibi": {"head_count": 8}})", "\"alibi\" is no field"},
      {R"({"rotary": 8})", "\"rotary\" is no field"},
      {R"({"rotary": {"width": 8, "heads": 2}})", "spec.rotary.heads: no field"},
      {R"({"rotary": {"width": 7}})", "spec.rotary.width"},
      {R"({"rotary": {"width": "8"}})", "spec.rotary.width: its value is \"8\""},
      {R"({"rotary": {"width": null}})", "spec.rotary.width: its value is null"},
      {R"({"rotary": {"width": 8, "base": 10000.0}})", "is not canonical"},
      {R"({"rotary": {"width": 8, "linear": {"factor": 2}, "ntk": {"factor": 2}}})", "given twice"},
      {R"({"rotary": {"width": 8, "yarn": {"linear": {}}}})", "spec.rotary.yarn.linear: no field"},
      {R"({"rotary": {"width": 4, "explicit": {"frequencies": "@/etc/passwd"}}})",
       "spec.rotary.explicit.frequencies: its value is"},
      {R"({"rotary": {"width": 4, "explicit": {"frequencies": [[1], 2]}}})",
       "spec.rotary.explicit.frequencies: its value is"},
      {R"({"alibi": {"head_count": 8, "none": {}}})", "spec.alibi.none: no field"},
      {R"({"rotary": {"width": 8}, "element_type": "LAYOUT_FLOAT16"})", "is not canonical"},
      {R"({"rotary": {"width": 8}, "element_type": "FLOAT16"})", "spec.element_type: its value"},
      {R"({"rotary": {"width": 8}, "element_type": {}})", "spec.element_type: its value"},
  };
  for (const auto& [json, said] : kCases) {
    const absl::Status status = SpecFromJson(nlohmann::ordered_json::parse(json)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(status.message()), HasSubstr(said)) << json;
  }
}

constexpr char kLock[] = R"({
  "phasor_lock": 1,
  "reading": {"transformers": "5.16", "sequence_length": 8192, "layout": "cos_only", "type": "float64"},
  "model_type": "llama",
  "tables": {
    "rotary": {
      "use": "TABLE_USE_ROTATE_HALVES",
      "spec": {"rotary": {"width": 8}},
      "fingerprint": "0",
      "rows": {"start": 0, "count": 10, "sha256": "1"}
    },
    "learned": {"use": "TABLE_USE_ADD", "checkpoint": {"row_count": 5}}
  }
})";

TEST(Lock, IsReadAndWrittenAlike) {
  const absl::StatusOr<Lock> lock = ParseLock(kLock);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ(nlohmann::ordered_json::parse(LockText(*lock)), nlohmann::ordered_json::parse(kLock));
  EXPECT_THAT(lock->reading, testing::ElementsAre("--transformers=5.16", "--sequence_length=8192",
                                                  "--layout=cos_only", "--type=float64"));
  EXPECT_EQ(lock->tables[0].rows.count, 10);
  EXPECT_FALSE(lock->tables[1].spec.has_value());
  EXPECT_TRUE(CompareLocks(*lock, *lock).empty());
}

TEST(Lock, DifferencesNameTheField) {
  const Lock lock = *ParseLock(kLock);
  const Lock other = *ParseLock(absl::StrReplaceAll(
      kLock, {{R"("width": 8)", R"("width": 16)"}, {R"("row_count": 5)", R"("row_count": 6)"}}));
  const std::vector<LockDifference> differences = CompareLocks(lock, other);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].field, "tables.learned.checkpoint.row_count");
  EXPECT_EQ(differences[1].field, "tables.rotary.spec.rotary.width");
  EXPECT_EQ(differences[1].locked, "8");
  EXPECT_EQ(differences[1].found, "16");
}

TEST(Lock, RefusesWhatIsNone) {
  const auto refused = [](absl::string_view text, absl::string_view said) {
    const absl::Status status = ParseLock(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text.substr(0, 200);
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(said)));
  };
  refused("", "lock: is no JSON");
  refused("[1]", "lock: is no JSON object");
  refused("\xff", "lock: is no JSON");
  refused(std::string(100000, '['), "nested deeper");
  refused(std::string(100000, '[') + std::string(100000, ']'), "nested deeper");
  const auto changed = [&](absl::string_view from, absl::string_view to, absl::string_view said) {
    refused(absl::StrReplaceAll(kLock, {{from, to}}), said);
  };
  changed(R"("phasor_lock": 1)", R"("phasor_lock": 2)", "phasor_lock: 2 is a version");
  changed(R"("phasor_lock": 1)", R"("phasor_lock": 1e0)", "phasor_lock: 1.0, no integer");
  changed(R"("phasor_lock": 1,)", "", "phasor_lock: is missing");
  changed(R"("model_type")", R"("model")", "model_type: is missing");
  changed(R"("type": "float64")", R"("kind": "float64")", "reading.kind: is not known");
  changed(R"("sequence_length": 8192)", R"("sequence_length": true)", "reading.sequence_length");
  changed(R"("fingerprint": "0")", R"("print": "0")", "tables.rotary.fingerprint: is missing");
  changed(R"("fingerprint": "0")", R"("fingerprint": 0)", "tables.rotary.fingerprint: 0, no text");
  changed(R"("width": 8)", R"("width": 9)", "tables.rotary: spec.rotary.width");
  changed(R"("count": 10)", R"("count": 9007199254740994)", "tables.rotary.rows: row_count");
  changed(R"("count": 10)", R"("count": 18446744073709551615)", "tables.rotary.rows.count");
  changed(R"("count": 10)", R"("count": -1)", "tables.rotary.rows");
  changed(R"("sha256": "1")", R"("sha256": "1", "md5": "2")", "tables.rotary.rows.md5");
  changed(R"("rotary": {
      "use")",
          R"("ro\ntary": {
      "use")",
          "printable name");
}

TEST(RowsToLock, AreThoseThatThereAre) {
  const auto rows = [](const TableSpec& spec) {
    const LockedRows locked = RowsToLock(*CanonicalSpec::Create(spec), 131072);
    return std::pair(locked.start, locked.count);
  };
  EXPECT_EQ(rows(Sinusoidal{.width = 4}), std::pair(std::int64_t{0}, std::int64_t{131072}));
  EXPECT_EQ(rows(LearnedInit{.max_positions = 5, .width = 4}),
            std::pair(std::int64_t{0}, std::int64_t{5}));
  // A slope just below 1: from 65520 on products would be infinities, and that one is just below.
  EXPECT_EQ(rows(TableSpec(Alibi{.head_count = 1, .bias_max = 0x1p-32}, ElementType::kFloat16)),
            std::pair(std::int64_t{0}, std::int64_t{65521}));
  EXPECT_EQ(rows(RelativeBuckets{}), std::pair(std::int64_t{-131071}, std::int64_t{262143}));
}

}  // namespace
}  // namespace phasor::cli
