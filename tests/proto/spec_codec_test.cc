#include "proto/spec_codec.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "phasor/core/errors.h"
#include "phasor/v1/position_table_service.pb.h"

namespace phasor {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

v1::TableSpec Parsed(const std::string& text) {
  v1::TableSpec proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

TableSpec Read(const std::string& text) {
  const absl::StatusOr<TableSpec> spec = SpecFromProto(Parsed(text));
  EXPECT_TRUE(spec.ok()) << text << ": " << spec.status();
  return spec.ok() ? *spec : TableSpec(Sinusoidal{});
}

absl::Status ReadAndCheck(const std::string& text) {
  const absl::StatusOr<TableSpec> spec = SpecFromProto(Parsed(text));
  return spec.ok() ? CanonicalSpec::Create(*spec).status() : spec.status();
}

CanonicalSpec Checked(TableSpec spec) { return *CanonicalSpec::Create(std::move(spec)); }

void ExpectError(const absl::Status& status, const std::string& field, const std::string& value) {
  EXPECT_EQ(status.code(), kInvalid) << status;
  EXPECT_EQ(FieldOf(status), field) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(value));
}

TEST(SpecFromProtoTest, AbsentFieldsTakeTheirDefaults) {
  EXPECT_EQ(Read("sinusoidal { width: 8 }"), TableSpec(Sinusoidal{.width = 8}));
  EXPECT_EQ(Read("learned_init { max_positions: 3 width: 5 }"),
            TableSpec(LearnedInit{
                .max_positions = 3, .width = 5, .stddev = 0.02, .seed = 0, .stream = 0}));
}

TEST(SpecFromProtoTest, EveryFieldIsRead) {
  EXPECT_EQ(Read("sinusoidal { width: 8 base: 2.5 inclusive {} layout: LAYOUT_COS_ONLY "
                 "position_offset: -3 zero_row: 7 } element_type: ELEMENT_TYPE_BFLOAT16 "
                 "numerics: NUMERICS_EXACT"),
            TableSpec(Sinusoidal{.width = 8,
                                 .base = 2.5,
                                 .ladder = InclusiveLadder{},
                                 .layout = Layout::kCosOnly,
                                 .position_offset = -3,
                                 .zero_row = 7},
                      ElementType::kBfloat16));
  EXPECT_EQ(
      Read("learned_init { max_positions: 3 width: 5 stddev: 1 seed: -2 stream: 9 } "
           "element_type: ELEMENT_TYPE_FLOAT64"),
      TableSpec(LearnedInit{.max_positions = 3, .width = 5, .stddev = 1.0, .seed = -2, .stream = 9},
                ElementType::kFloat64));
}

TEST(SpecFromProtoTest, Ladders) {
  const auto ladder = [](const std::string& text) {
    return std::get<Sinusoidal>(Read("sinusoidal { width: 4 " + text + " }").scheme).ladder;
  };
  EXPECT_EQ(ladder("paper {}"), Ladder(PaperLadder{}));
  EXPECT_EQ(ladder("inclusive {}"), Ladder(InclusiveLadder{}));
  EXPECT_EQ(ladder("downscaled { downscale_shift: 0 }"), Ladder(DownscaledLadder{0.0}));
  EXPECT_EQ(ladder("downscaled {}"), Ladder(DownscaledLadder{}));
  EXPECT_EQ(ladder("explicit { frequencies: [1, -0.5] }"), Ladder(ExplicitLadder{{1.0, -0.5}}));
  EXPECT_EQ(ladder("timescales {}"), Ladder(TimescaleLadder{1, 10000}));
  EXPECT_EQ(ladder("timescales { min_timescale: 2 }"), Ladder(TimescaleLadder{2, 10000}));
  EXPECT_EQ(ladder("timescales { min_timescale: 0 max_timescale: 5 }"),
            Ladder(TimescaleLadder{0, 5}));
}

TEST(SpecFromProtoTest, OddColumns) {
  const auto odd = [](const std::string& text) {
    return std::get<Sinusoidal>(Read("sinusoidal { width: 5 " + text + " }").scheme).odd_column;
  };
  EXPECT_EQ(odd(""), OddColumn::kNone);
  EXPECT_EQ(odd("odd_column: ODD_COLUMN_ZERO"), OddColumn::kZero);
  EXPECT_EQ(odd("odd_column: ODD_COLUMN_SINE"), OddColumn::kSine);
  v1::TableSpec unknown = Parsed("sinusoidal { width: 5 }");
  unknown.mutable_sinusoidal()->set_odd_column(static_cast<v1::OddColumn>(7));
  ExpectError(SpecFromProto(unknown).status(), "spec.sinusoidal.odd_column", "7");
}

TEST(SpecFromProtoTest, EveryFieldOfRotaryIsRead) {
  EXPECT_EQ(Read("rotary { width: 8 }"), TableSpec(Rotary{.width = 8}));
  EXPECT_EQ(Read("rotary { width: 8 base: 2.5 none {} attention_factor: 3 "
                 "layout: LAYOUT_SIN_COS_HALVES mrope_section: [1, 2, 1] mrope_interleaved: true } "
                 "element_type: ELEMENT_TYPE_FLOAT16"),
            TableSpec(Rotary{.width = 8,
                             .base = 2.5,
                             .attention_factor = 3.0,
                             .layout = Layout::kSinCosHalves,
                             .mrope_section = {1, 2, 1},
                             .mrope_interleaved = true},
                      ElementType::kFloat16));
}

TEST(SpecFromProtoTest, EveryFieldOfTimestepIsRead) {
  EXPECT_EQ(Read("timestep { width: 8 }"), TableSpec(Timestep{.width = 8}));
  EXPECT_EQ(Read("timestep { width: 8 max_period: 2.5 downscale_freq_shift: 0 scale: 3 "
                 "flip_sin_to_cos: true } element_type: ELEMENT_TYPE_FLOAT64"),
            TableSpec(Timestep{.width = 8,
                               .max_period = 2.5,
                               .downscale_freq_shift = 0,
                               .scale = 3,
                               .flip_sin_to_cos = true},
                      ElementType::kFloat64));
  ExpectError(ReadAndCheck("timestep {}"), "spec.timestep.width", "required");
  ExpectError(ReadAndCheck("timestep { width: 8 }"), "spec.timestep.downscale_freq_shift",
              "required");
  ExpectError(ReadAndCheck("timestep { width: 8 downscale_freq_shift: 0 scale: 0 }"),
              "spec.timestep.scale", "0");
}

TEST(SpecFromProtoTest, EveryFieldOfNoneIsRead) {
  EXPECT_EQ(Read("none { width: 8 }"), TableSpec(NoPosition{.width = 8}));
  EXPECT_EQ(Read("none { width: 8 layout: LAYOUT_COS_ONLY additive: true }"),
            TableSpec(NoPosition{.width = 8, .layout = Layout::kCosOnly, .additive = true}));
  ExpectError(ReadAndCheck("none {}"), "spec.none.width", "required");
  v1::TableSpec unknown = Parsed("none { width: 8 }");
  unknown.mutable_none()->set_layout(static_cast<v1::Layout>(77));
  ExpectError(SpecFromProto(unknown).status(), "spec.none.layout", "77");
}

TEST(SpecFromProtoTest, EveryFieldOfAlibiIsRead) {
  EXPECT_EQ(Read("alibi { head_count: 8 }"), TableSpec(Alibi{.head_count = 8}));
  EXPECT_EQ(Read("alibi { head_count: 8 form: ALIBI_FORM_DISTANCE }"),
            TableSpec(Alibi{.head_count = 8}));
  EXPECT_EQ(Read("alibi { head_count: 8 bias_max: 0 form: ALIBI_FORM_KEY_POSITION }"),
            TableSpec(Alibi{.head_count = 8, .bias_max = 0, .form = AlibiForm::kKeyPosition}));
  ExpectError(ReadAndCheck("alibi {}"), "spec.alibi.head_count", "required");
  v1::TableSpec unknown = Parsed("alibi { head_count: 8 }");
  unknown.mutable_alibi()->set_form(static_cast<v1::AlibiForm>(77));
  ExpectError(SpecFromProto(unknown).status(), "spec.alibi.form", "77");
}

TEST(SpecFromProtoTest, EveryFieldOfRelativeBucketsIsRead) {
  EXPECT_EQ(Read("relative_buckets {}"), TableSpec(RelativeBuckets{}, ElementType::kInt32));
  EXPECT_EQ(Read("relative_buckets {} element_type: ELEMENT_TYPE_INT32"),
            TableSpec(RelativeBuckets{}, ElementType::kInt32));
  EXPECT_EQ(Read("relative_buckets { num_buckets: 0 max_distance: 5 bidirectional: false }"),
            TableSpec(RelativeBuckets{0, 5, false}));
  ExpectError(ReadAndCheck("relative_buckets {} element_type: ELEMENT_TYPE_FLOAT32"),
              "spec.element_type", "FLOAT32");
  ExpectError(ReadAndCheck("sinusoidal { width: 8 } element_type: ELEMENT_TYPE_INT32"),
              "spec.element_type", "INT32");
}

TEST(SpecToProtoTest, TheElementTypeOfRelativeBucketsIsItsDefault) {
  EXPECT_EQ(CanonicalToProto(Checked(RelativeBuckets{})).ShortDebugString(),
            "relative_buckets { }");
  EXPECT_EQ(EffectiveToProto(Checked(RelativeBuckets{})).ShortDebugString(),
            "relative_buckets { num_buckets: 32 max_distance: 128 bidirectional: true } "
            "element_type: ELEMENT_TYPE_INT32 numerics: NUMERICS_EXACT");
}

struct ScalingCase {
  std::string text;
  RotaryScaling scaling;
  std::vector<std::string> required;  // fields that have no default
};

std::vector<ScalingCase> Scalings() {
  return {
      {"linear { factor: 2 }", LinearScaling{2}, {"factor"}},
      {"ntk { factor: 2 }", NtkScaling{2}, {"factor"}},
      {"dynamic_ntk { factor: 2 max_position_embeddings: 3 sequence_length: 4 }",
       DynamicNtkScaling{2, 3, 4},
       {"factor", "max_position_embeddings", "sequence_length"}},
      {"yarn { factor: 2 original_max_position_embeddings: 3 }",
       YarnScaling{.factor = 2, .original_max_position_embeddings = 3},
       {"factor", "original_max_position_embeddings"}},
      {"yarn { factor: 2 original_max_position_embeddings: 3 beta_fast: 9 beta_slow: 4 mscale: 5 "
       "mscale_all_dim: 6 truncate: false }",
       YarnScaling{2, 3, 9, 4, 5, 6, false},
       {"factor", "original_max_position_embeddings"}},
      {"longrope { short_factor: [1, 2] long_factor: [3, 4] original_max_position_embeddings: 5 "
       "sequence_length: 6 factor: 7 }",
       LongRopeScaling{{1, 2}, {3, 4}, 5, 6, 7},
       {"original_max_position_embeddings", "sequence_length"}},
      {"llama3 { factor: 2 low_freq_factor: 3 high_freq_factor: 4 "
       "original_max_position_embeddings: 5 }",
       Llama3Scaling{2, 3, 4, 5},
       {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}},
      {"proportional {}", ProportionalScaling{}, {}},
      {"proportional { partial_rotary_factor: 0.5 factor: 2 }", ProportionalScaling{0.5, 2}, {}},
      {"explicit { frequencies: [1, -0.5] }", ExplicitLadder{{1, -0.5}}, {}},
  };
}

TEST(SpecFromProtoTest, EveryScalingIsReadAndWritten) {
  for (const ScalingCase& c : Scalings()) {
    const TableSpec spec = Read("rotary { width: 4 " + c.text + " }");
    EXPECT_EQ(spec, TableSpec(Rotary{.width = 4, .scaling = c.scaling})) << c.text;
    const CanonicalSpec canonical = Checked(spec);
    for (const v1::TableSpec& proto : {CanonicalToProto(canonical), EffectiveToProto(canonical)}) {
      const absl::StatusOr<TableSpec> back = SpecFromProto(proto);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(Checked(*back).text(), canonical.text()) << c.text;
    }
  }
}

TEST(SpecFromProtoTest, FieldsOfScalingsWithoutDefaultAreRequired) {
  for (const ScalingCase& c : Scalings()) {
    const v1::TableSpec whole = Parsed("rotary { width: 4 " + c.text + " }");
    for (const std::string& name : c.required) {
      v1::TableSpec proto = whole;
      v1::Rotary& rotary = *proto.mutable_rotary();
      const auto* member = rotary.GetReflection()->GetOneofFieldDescriptor(
          rotary, v1::Rotary::descriptor()->FindOneofByName("scaling"));
      google::protobuf::Message* scaling = rotary.GetReflection()->MutableMessage(&rotary, member);
      scaling->GetReflection()->ClearField(scaling,
                                           scaling->GetDescriptor()->FindFieldByName(name));
      ExpectError(SpecFromProto(proto).status(), "spec.rotary." + member->name() + "." + name,
                  "required");
    }
  }
  ExpectError(ReadAndCheck("rotary {}"), "spec.rotary.width", "required");
}

TEST(SpecToProtoTest, EffectiveRotaryShowsItsDefaults) {
  const CanonicalSpec spec =
      Checked(Read("rotary { width: 4 yarn { factor: 2 original_max_position_embeddings: 3 } }"));
  EXPECT_EQ(EffectiveToProto(spec).DebugString(),
            Parsed("rotary { width: 4 base: 10000 yarn { factor: 2 "
                   "original_max_position_embeddings: 3 beta_fast: 32 beta_slow: 1 truncate: true "
                   "} layout: LAYOUT_COS_SIN_HALVES } element_type: ELEMENT_TYPE_FLOAT32 "
                   "numerics: NUMERICS_EXACT")
                .DebugString());
}

TEST(SpecFromProtoTest, IntegersKeepAll64Bits) {
  const std::int64_t low_bits_are_eight = (std::int64_t{1} << 32) + 8;
  v1::TableSpec proto;
  proto.mutable_sinusoidal()->set_width(low_bits_are_eight);
  const std::string wire = proto.SerializeAsString();
  v1::TableSpec received;
  ASSERT_TRUE(received.ParseFromString(wire));
  ExpectError(CanonicalSpec::Create(*SpecFromProto(received)).status(), "spec.sinusoidal.width",
              "4294967304");
  const TableSpec spec = Read(
      "learned_init { max_positions: 4611686018427387904 width: 1 "
      "seed: -9223372036854775808 stream: 9223372036854775807 }");
  const auto& l = std::get<LearnedInit>(spec.scheme);
  EXPECT_EQ(l.max_positions, std::int64_t{1} << 62);
  EXPECT_EQ(l.seed, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(l.stream, std::numeric_limits<std::int64_t>::max());
}

TEST(SpecFromProtoTest, LearnedTablesHaveANameOrAll) {
  const std::string content(64, 'a');
  const TableSpec name = Read("learned_table { name: 't' } element_type: ELEMENT_TYPE_FLOAT16");
  EXPECT_EQ(name, TableSpec((LearnedTable{.name = "t"}), ElementType::kFloat16));
  const LearnedTable all{"t", content, 5, 3};
  EXPECT_EQ(Read("learned_table { name: 't' content_sha256: '" + content +
                 "' max_positions: 5 width: 3 }"),
            TableSpec(all));
  const CanonicalSpec canonical = CanonicalSpec::Create(all).value();
  EXPECT_EQ(SpecFromProto(CanonicalToProto(canonical)).value(), TableSpec(all));
  EXPECT_EQ(SpecFromProto(EffectiveToProto(canonical)).value(), TableSpec(all));
  EXPECT_EQ(SpecFromProto(NameToProto(all, ElementType::kFloat64)).value(),
            TableSpec((LearnedTable{.name = "t"}), ElementType::kFloat64));
  ExpectError(ReadAndCheck("learned_table {}"), "spec.learned_table.name", "required");
  ExpectError(ReadAndCheck("learned_table { name: 't' width: 3 }"), "spec.learned_table",
              "belong together");
  ExpectError(ReadAndCheck("learned_table { name: 't' content_sha256: '" + content + "' }"),
              "spec.learned_table", "belong together");
  ExpectError(ReadAndCheck("learned_table { name: 't' content_sha256: '' }"),
              "spec.learned_table.content_sha256", "is empty");
}

TEST(SpecFromProtoTest, RequiredFields) {
  ExpectError(SpecFromProto(v1::TableSpec()).status(), "spec", "no scheme is set");
  ExpectError(ReadAndCheck("element_type: ELEMENT_TYPE_FLOAT64"), "spec", "no scheme is set");
  ExpectError(ReadAndCheck("sinusoidal {}"), "spec.sinusoidal.width", "required");
  ExpectError(ReadAndCheck("learned_init { width: 4 }"), "spec.learned_init.max_positions",
              "required");
  ExpectError(ReadAndCheck("learned_init { max_positions: 4 }"), "spec.learned_init.width",
              "required");
  ExpectError(ReadAndCheck("sinusoidal { width: 4 downscaled {} }"),
              "spec.sinusoidal.downscaled.downscale_shift", "required");
}

TEST(SpecFromProtoTest, ZerosThatAreWrittenAreZeros) {
  ExpectError(ReadAndCheck("sinusoidal { width: 0 }"), "spec.sinusoidal.width", "0");
  ExpectError(ReadAndCheck("sinusoidal { width: 4 base: 0 }"), "spec.sinusoidal.base", "0");
  ExpectError(ReadAndCheck("learned_init { max_positions: 0 width: 4 }"),
              "spec.learned_init.max_positions", "0");
  ExpectError(ReadAndCheck("learned_init { max_positions: 4 width: 0 }"), "spec.learned_init.width",
              "0");
  ExpectError(ReadAndCheck("learned_init { max_positions: 4 width: 4 stddev: 0 }"),
              "spec.learned_init.stddev", "0");
  const auto s = std::get<Sinusoidal>(Read("sinusoidal { width: 4 zero_row: 0 }").scheme);
  EXPECT_EQ(s.zero_row, 0);
}

TEST(SpecFromProtoTest, UnknownEnumerationValuesAreRefused) {
  // By number, as they come from a newer client.
  const auto with = [](const std::function<void(v1::TableSpec*)>& change) {
    v1::TableSpec proto = Parsed("sinusoidal { width: 4 }");
    change(&proto);
    v1::TableSpec received;
    EXPECT_TRUE(received.ParseFromString(proto.SerializeAsString()));
    return SpecFromProto(received).status();
  };
  for (int value : {-1, 9, 1000}) {
    ExpectError(
        with([=](auto* p) { p->mutable_sinusoidal()->set_layout(static_cast<v1::Layout>(value)); }),
        "spec.sinusoidal.layout", std::to_string(value));
    ExpectError(with([=](auto* p) { p->set_element_type(static_cast<v1::ElementType>(value)); }),
                "spec.element_type", std::to_string(value));
    ExpectError(with([=](auto* p) { p->set_numerics(static_cast<v1::Numerics>(value)); }),
                "spec.numerics", std::to_string(value));
  }
}

std::vector<TableSpec> Specs() {
  std::vector<TableSpec> specs = {
      Sinusoidal{.width = 8},
      {Sinusoidal{.width = 8, .base = 500.0, .ladder = InclusiveLadder{}}, ElementType::kFloat16},
      {Sinusoidal{.width = 8,
                  .ladder = DownscaledLadder{0.0},
                  .layout = Layout::kSinOnly,
                  .position_offset = -1,
                  .zero_row = 0},
       ElementType::kBfloat16},
      {Sinusoidal{.width = 4, .ladder = ExplicitLadder{{0.25, -4.0}}, .zero_row = -5},
       ElementType::kFloat64},
      Sinusoidal{.width = 8, .ladder = TimescaleLadder{}},
      Sinusoidal{.width = 9, .ladder = TimescaleLadder{0.5, 10000}, .odd_column = OddColumn::kZero},
      Sinusoidal{.width = 9, .ladder = TimescaleLadder{1, 64}, .odd_column = OddColumn::kSine},
      RelativeBuckets{},
      RelativeBuckets{64, 256, false},
      Alibi{.head_count = 12},
      Alibi{.head_count = 12, .bias_max = 4, .form = AlibiForm::kKeyPosition},
      NoPosition{.width = 8},
      NoPosition{.width = 8, .layout = Layout::kSinOnly},
      NoPosition{.width = 7, .additive = true},
      Timestep{.width = 320, .downscale_freq_shift = 0.0},
      Timestep{.width = 33,
               .max_period = 500,
               .downscale_freq_shift = 1.0,
               .scale = 1000,
               .flip_sin_to_cos = true},
      LearnedInit{.max_positions = 5, .width = 3},
      {LearnedInit{.max_positions = 5, .width = 3, .stddev = 2.0, .seed = -1, .stream = 7},
       ElementType::kFloat64},
  };
  for (int layout = 0; layout < 8; ++layout) {
    specs.push_back(Sinusoidal{.width = 8, .layout = static_cast<Layout>(layout)});
  }
  return specs;
}

TEST(SpecToProtoTest, RoundTripsGiveTheSameTable) {
  for (const TableSpec& spec : Specs()) {
    const CanonicalSpec canonical = Checked(spec);
    for (const v1::TableSpec& proto : {CanonicalToProto(canonical), EffectiveToProto(canonical)}) {
      const absl::StatusOr<TableSpec> back = SpecFromProto(proto);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(Checked(*back).text(), canonical.text()) << proto.DebugString();
    }
  }
}

TEST(SpecToProtoTest, CanonicalLeavesDefaultsOut) {
  EXPECT_EQ(CanonicalToProto(Checked(Sinusoidal{.width = 8, .base = 10000.0})).ShortDebugString(),
            "sinusoidal { width: 8 }");
  EXPECT_EQ(
      CanonicalToProto(Checked(LearnedInit{.max_positions = 5, .width = 3})).ShortDebugString(),
      "learned_init { max_positions: 5 width: 3 }");
}

TEST(SpecToProtoTest, CanonicalKeepsWhatDiffers) {
  EXPECT_EQ(CanonicalToProto(Checked({Sinusoidal{.width = 8,
                                                 .ladder = InclusiveLadder{},
                                                 .layout = Layout::kSinCosHalves,
                                                 .zero_row = 0},
                                      ElementType::kFloat16}))
                .ShortDebugString(),
            "sinusoidal { width: 8 inclusive { } layout: LAYOUT_SIN_COS_HALVES zero_row: 0 } "
            "element_type: ELEMENT_TYPE_FLOAT16");
}

TEST(SpecToProtoTest, EffectiveShowsEveryDefault) {
  EXPECT_EQ(EffectiveToProto(Checked(Sinusoidal{.width = 8})).ShortDebugString(),
            "sinusoidal { width: 8 base: 10000 paper { } layout: LAYOUT_SIN_COS_INTERLEAVED "
            "position_offset: 0 } element_type: ELEMENT_TYPE_FLOAT32 numerics: NUMERICS_EXACT");
  EXPECT_EQ(
      EffectiveToProto(Checked(LearnedInit{.max_positions = 5, .width = 3})).ShortDebugString(),
      "learned_init { max_positions: 5 width: 3 stddev: 0.02 seed: 0 stream: 0 } "
      "element_type: ELEMENT_TYPE_FLOAT32 numerics: NUMERICS_EXACT");
}

TEST(SpecToProtoTest, EffectiveTimescalesShowTheirDefaultsAndNoBase) {
  EXPECT_EQ(EffectiveToProto(Checked(Sinusoidal{.width = 8, .ladder = TimescaleLadder{}}))
                .sinusoidal()
                .ShortDebugString(),
            "width: 8 layout: LAYOUT_SIN_COS_INTERLEAVED position_offset: 0 "
            "timescales { min_timescale: 1 max_timescale: 10000 }");
  EXPECT_EQ(CanonicalToProto(Checked(Sinusoidal{.width = 8, .ladder = TimescaleLadder{}}))
                .ShortDebugString(),
            "sinusoidal { width: 8 timescales { } }");
}

TEST(SpecToProtoTest, ExplicitLadderHasNoBase) {
  const CanonicalSpec spec = Checked(Sinusoidal{.width = 2, .ladder = ExplicitLadder{{1.0}}});
  EXPECT_FALSE(EffectiveToProto(spec).sinusoidal().has_base());
}

TEST(ElementTypeTest, EveryTypeThereAndBack) {
  for (ElementType type : {ElementType::kFloat32, ElementType::kFloat64, ElementType::kFloat16,
                           ElementType::kBfloat16, ElementType::kInt32}) {
    EXPECT_EQ(v1::ElementType_Name(ElementTypeToProto(type)),
              "ELEMENT_TYPE_" + std::string(ElementTypeName(type)));
    EXPECT_EQ(*ElementTypeFromProto(ElementTypeToProto(type), "x"), type);
  }
  EXPECT_EQ(*ElementTypeFromProto(v1::ELEMENT_TYPE_UNSPECIFIED, "x"), ElementType::kFloat32);
  ExpectError(ElementTypeFromProto(static_cast<v1::ElementType>(6), "rows.element_type").status(),
              "rows.element_type", "6");
}

}  // namespace
}  // namespace phasor
