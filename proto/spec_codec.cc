#include "proto/spec_codec.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"
#include "phasor/core/errors.h"
#include "proto/field_codec.h"
#include "proto/rotary_codec.h"

namespace phasor {
namespace {

absl::Status Invalid(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, what);
}

absl::StatusOr<Sinusoidal> FromProto(const v1::Sinusoidal& proto) {
  if (!proto.has_width()) return Required("spec.sinusoidal.width");
  Sinusoidal s;
  s.width = proto.width();
  if (proto.has_base()) s.base = proto.base();
  switch (proto.ladder_case()) {
    case v1::Sinusoidal::kPaper:
    case v1::Sinusoidal::LADDER_NOT_SET: break;
    case v1::Sinusoidal::kInclusive: s.ladder = InclusiveLadder{}; break;
    case v1::Sinusoidal::kDownscaled: {
      DownscaledLadder ladder;
      if (proto.downscaled().has_downscale_shift()) {
        ladder.downscale_shift = proto.downscaled().downscale_shift();
      }
      s.ladder = ladder;
      break;
    }
    case v1::Sinusoidal::kExplicit: {
      s.ladder = ExplicitLadder{VectorOf(proto.explicit_().frequencies())};
      break;
    }
    case v1::Sinusoidal::kTimescales: {
      TimescaleLadder ladder;
      const v1::TimescaleLadder& given = proto.timescales();
      if (given.has_min_timescale()) ladder.min_timescale = given.min_timescale();
      if (given.has_max_timescale()) ladder.max_timescale = given.max_timescale();
      s.ladder = ladder;
      break;
    }
  }
  absl::StatusOr<Layout> layout =
      LayoutFromProto(proto.layout(), s.layout, "spec.sinusoidal.layout");
  if (!layout.ok()) return layout.status();
  s.layout = *layout;
  s.position_offset = proto.position_offset();
  if (proto.has_zero_row()) s.zero_row = proto.zero_row();
  switch (proto.odd_column()) {
    case v1::ODD_COLUMN_UNSPECIFIED: break;
    case v1::ODD_COLUMN_ZERO: s.odd_column = OddColumn::kZero; break;
    case v1::ODD_COLUMN_SINE: s.odd_column = OddColumn::kSine; break;
    default:
      return Invalid("spec.sinusoidal.odd_column",
                     absl::StrCat(static_cast<int>(proto.odd_column()), " is no known odd column"));
  }
  return s;
}

absl::StatusOr<LearnedInit> FromProto(const v1::LearnedInit& proto) {
  if (!proto.has_max_positions()) return Required("spec.learned_init.max_positions");
  if (!proto.has_width()) return Required("spec.learned_init.width");
  LearnedInit l;
  l.max_positions = proto.max_positions();
  l.width = proto.width();
  if (proto.has_stddev()) l.stddev = proto.stddev();
  l.seed = proto.seed();
  l.stream = proto.stream();
  return l;
}

absl::StatusOr<LearnedTable> FromProto(const v1::LearnedTable& proto) {
  if (!proto.has_name()) return Required("spec.learned_table.name");
  LearnedTable l;
  l.name = proto.name();
  // Absent ones stand for what the server has, and an empty text for nothing.
  if (proto.has_content_sha256() && proto.content_sha256().empty()) {
    return Invalid("spec.learned_table.content_sha256",
                   "is empty; leave it out, or give 64 lower-case hexadecimal digits");
  }
  const bool shape = proto.has_max_positions() || proto.has_width();
  if (proto.has_content_sha256() != shape || proto.has_max_positions() != proto.has_width()) {
    return Invalid("spec.learned_table",
                   "content_sha256, max_positions and width belong together; leave all of them "
                   "out, or send what GetTable gave");
  }
  l.content_sha256 = proto.content_sha256();
  l.max_positions = proto.max_positions();
  l.width = proto.width();
  return l;
}

absl::StatusOr<Timestep> FromProto(const v1::Timestep& proto) {
  if (!proto.has_width()) return Required("spec.timestep.width");
  Timestep t;
  t.width = proto.width();
  if (proto.has_max_period()) t.max_period = proto.max_period();
  if (proto.has_downscale_freq_shift()) t.downscale_freq_shift = proto.downscale_freq_shift();
  if (proto.has_scale()) t.scale = proto.scale();
  t.flip_sin_to_cos = proto.flip_sin_to_cos();
  return t;
}

absl::StatusOr<NoPosition> FromProto(const v1::NoPosition& proto) {
  if (!proto.has_width()) return Required("spec.none.width");
  NoPosition n;
  n.width = proto.width();
  absl::StatusOr<Layout> layout = LayoutFromProto(proto.layout(), n.layout, "spec.none.layout");
  if (!layout.ok()) return layout.status();
  n.layout = *layout;
  n.additive = proto.additive();
  return n;
}

absl::StatusOr<Alibi> FromProto(const v1::Alibi& proto) {
  if (!proto.has_head_count()) return Required("spec.alibi.head_count");
  Alibi a;
  a.head_count = proto.head_count();
  if (proto.has_bias_max()) a.bias_max = proto.bias_max();
  switch (proto.form()) {
    case v1::ALIBI_FORM_UNSPECIFIED:
    case v1::ALIBI_FORM_DISTANCE: break;
    case v1::ALIBI_FORM_KEY_POSITION: a.form = AlibiForm::kKeyPosition; break;
    default:
      return Invalid("spec.alibi.form",
                     absl::StrCat(static_cast<int>(proto.form()), " is no known form"));
  }
  return a;
}

absl::StatusOr<RelativeBuckets> FromProto(const v1::RelativeBuckets& proto) {
  RelativeBuckets b;
  if (proto.has_num_buckets()) b.num_buckets = proto.num_buckets();
  if (proto.has_max_distance()) b.max_distance = proto.max_distance();
  if (proto.has_bidirectional()) b.bidirectional = proto.bidirectional();
  return b;
}

enum class Defaults { kLeftOut, kFilledIn };

// Writes the fields of a scheme into a message that is empty.
struct SchemeWriter {
  v1::TableSpec* proto;
  bool fill;

  void operator()(const Sinusoidal& s) const {
    v1::Sinusoidal& out = *proto->mutable_sinusoidal();
    out.set_width(s.width);
    if (s.base.has_value() && (fill || *s.base != kDefaultBase)) out.set_base(*s.base);
    std::visit(LadderWriter{&out, fill}, s.ladder);
    if (fill || s.layout != Layout::kSinCosInterleaved) out.set_layout(LayoutToProto(s.layout));
    if (fill || s.position_offset != 0) out.set_position_offset(s.position_offset);
    if (s.zero_row.has_value()) out.set_zero_row(*s.zero_row);
    switch (s.odd_column) {
      case OddColumn::kNone: break;
      case OddColumn::kZero: out.set_odd_column(v1::ODD_COLUMN_ZERO); break;
      case OddColumn::kSine: out.set_odd_column(v1::ODD_COLUMN_SINE); break;
    }
  }
  void operator()(const LearnedInit& l) const {
    v1::LearnedInit& out = *proto->mutable_learned_init();
    out.set_max_positions(l.max_positions);
    out.set_width(l.width);
    if (fill || l.stddev != kDefaultStddev) out.set_stddev(l.stddev);
    if (fill || l.seed != 0) out.set_seed(l.seed);
    if (fill || l.stream != 0) out.set_stream(l.stream);
  }

  void operator()(const LearnedTable& l) const {
    v1::LearnedTable& out = *proto->mutable_learned_table();
    out.set_name(l.name);
    if (!l.resolved()) return;
    out.set_content_sha256(l.content_sha256);
    out.set_max_positions(l.max_positions);
    out.set_width(l.width);
  }

  void operator()(const Rotary& r) const { RotaryToProto(r, fill, proto->mutable_rotary()); }
  void operator()(const Timestep& t) const {
    v1::Timestep& out = *proto->mutable_timestep();
    out.set_width(t.width);
    if (fill || t.max_period != kDefaultMaxPeriod) out.set_max_period(t.max_period);
    out.set_downscale_freq_shift(*t.downscale_freq_shift);
    if (fill || t.scale != 1) out.set_scale(t.scale);
    if (fill || t.flip_sin_to_cos) out.set_flip_sin_to_cos(t.flip_sin_to_cos);
  }
  void operator()(const RelativeBuckets& b) const {
    const RelativeBuckets standard;
    v1::RelativeBuckets& out = *proto->mutable_relative_buckets();
    if (fill || b.num_buckets != standard.num_buckets) out.set_num_buckets(b.num_buckets);
    if (fill || b.max_distance != standard.max_distance) out.set_max_distance(b.max_distance);
    if (fill || b.bidirectional != standard.bidirectional) out.set_bidirectional(b.bidirectional);
  }
  void operator()(const Alibi& a) const {
    v1::Alibi& out = *proto->mutable_alibi();
    out.set_head_count(a.head_count);
    if (fill || a.bias_max != kDefaultBiasMax) out.set_bias_max(a.bias_max);
    switch (a.form) {
      case AlibiForm::kDistance:
        if (fill) out.set_form(v1::ALIBI_FORM_DISTANCE);
        break;
      case AlibiForm::kKeyPosition: out.set_form(v1::ALIBI_FORM_KEY_POSITION); break;
    }
  }
  void operator()(const NoPosition& n) const {
    v1::NoPosition& out = *proto->mutable_none();
    out.set_width(n.width);
    if ((fill && !n.additive) || n.layout != NoPosition().layout) {
      out.set_layout(LayoutToProto(n.layout));
    }
    if (fill || n.additive) out.set_additive(n.additive);
  }

  struct LadderWriter {
    v1::Sinusoidal* out;
    bool fill;

    void operator()(const PaperLadder&) const {
      if (fill) out->mutable_paper();
    }
    void operator()(const InclusiveLadder&) const { out->mutable_inclusive(); }
    void operator()(const DownscaledLadder& ladder) const {
      out->mutable_downscaled()->set_downscale_shift(*ladder.downscale_shift);
    }
    void operator()(const ExplicitLadder& ladder) const {
      out->mutable_explicit_()->mutable_frequencies()->Add(ladder.frequencies.begin(),
                                                           ladder.frequencies.end());
    }
    void operator()(const TimescaleLadder& ladder) const {
      v1::TimescaleLadder& timescales = *out->mutable_timescales();
      if (fill || ladder.min_timescale != kDefaultMinTimescale) {
        timescales.set_min_timescale(ladder.min_timescale);
      }
      if (fill || ladder.max_timescale != kDefaultMaxTimescale) {
        timescales.set_max_timescale(ladder.max_timescale);
      }
    }
  };
};

v1::TableSpec ToProto(const TableSpec& spec, Defaults defaults) {
  const bool fill = defaults == Defaults::kFilledIn;
  v1::TableSpec proto;
  std::visit(SchemeWriter{&proto, fill}, spec.scheme);
  if (fill || spec.element_type != DefaultElementType(spec.scheme)) {
    proto.set_element_type(ElementTypeToProto(spec.element_type));
  }
  if (fill) proto.set_numerics(v1::NUMERICS_EXACT);
  return proto;
}

}  // namespace

absl::StatusOr<TableSpec> SpecFromProto(const v1::TableSpec& proto) {
  absl::StatusOr<ElementType> type =
      ElementTypeFromProto(proto.element_type(), "spec.element_type");
  if (!type.ok()) return type.status();
  if (proto.element_type() == v1::ELEMENT_TYPE_UNSPECIFIED && proto.has_relative_buckets()) {
    type = ElementType::kInt32;
  }
  if (proto.numerics() != v1::NUMERICS_UNSPECIFIED && proto.numerics() != v1::NUMERICS_EXACT) {
    return Invalid("spec.numerics",
                   absl::StrCat(static_cast<int>(proto.numerics()), " is no known numerics"));
  }
  switch (proto.scheme_case()) {
    case v1::TableSpec::kSinusoidal: {
      absl::StatusOr<Sinusoidal> scheme = FromProto(proto.sinusoidal());
      if (!scheme.ok()) return scheme.status();
      return TableSpec(*std::move(scheme), *type);
    }
    case v1::TableSpec::kLearnedInit: {
      absl::StatusOr<LearnedInit> scheme = FromProto(proto.learned_init());
      if (!scheme.ok()) return scheme.status();
      return TableSpec(*scheme, *type);
    }
    case v1::TableSpec::kRotary: {
      absl::StatusOr<Rotary> scheme = RotaryFromProto(proto.rotary());
      if (!scheme.ok()) return scheme.status();
      TableSpec spec(*std::move(scheme), *type);
      return spec;
    }
    case v1::TableSpec::kTimestep: {
      absl::StatusOr<Timestep> scheme = FromProto(proto.timestep());
      if (!scheme.ok()) return scheme.status();
      return TableSpec(*scheme, *type);
    }
    case v1::TableSpec::kNone: {
      absl::StatusOr<NoPosition> scheme = FromProto(proto.none());
      if (!scheme.ok()) return scheme.status();
      return TableSpec(*scheme, *type);
    }
    case v1::TableSpec::kAlibi: {
      absl::StatusOr<Alibi> scheme = FromProto(proto.alibi());
      if (!scheme.ok()) return scheme.status();
      return TableSpec(*scheme, *type);
    }
    case v1::TableSpec::kRelativeBuckets: {
      absl::StatusOr<RelativeBuckets> scheme = FromProto(proto.relative_buckets());
      if (!scheme.ok()) return scheme.status();
      return TableSpec(*scheme, *type);
    }
    case v1::TableSpec::kLearnedTable: {
      absl::StatusOr<LearnedTable> scheme = FromProto(proto.learned_table());
      if (!scheme.ok()) return scheme.status();
      return TableSpec(*std::move(scheme), *type);
    }
    case v1::TableSpec::SCHEME_NOT_SET: break;
  }
  return Invalid("spec", "no scheme is set; set one, sinusoidal for example");
}

v1::TableSpec NameToProto(const LearnedTable& table, ElementType type) {
  LearnedTable name;
  name.name = table.name;
  return ToProto(TableSpec(std::move(name), type), Defaults::kLeftOut);
}

v1::TableSpec CanonicalToProto(const CanonicalSpec& spec) {
  return ToProto(spec.spec(), Defaults::kLeftOut);
}

v1::TableSpec EffectiveToProto(const CanonicalSpec& spec) {
  return ToProto(spec.spec(), Defaults::kFilledIn);
}

v1::ElementType ElementTypeToProto(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return v1::ELEMENT_TYPE_FLOAT32;
    case ElementType::kFloat64: return v1::ELEMENT_TYPE_FLOAT64;
    case ElementType::kFloat16: return v1::ELEMENT_TYPE_FLOAT16;
    case ElementType::kBfloat16: return v1::ELEMENT_TYPE_BFLOAT16;
    case ElementType::kInt32: return v1::ELEMENT_TYPE_INT32;
  }
  return v1::ELEMENT_TYPE_UNSPECIFIED;
}

absl::StatusOr<ElementType> ElementTypeFromProto(v1::ElementType type, absl::string_view field) {
  switch (type) {
    case v1::ELEMENT_TYPE_UNSPECIFIED:
    case v1::ELEMENT_TYPE_FLOAT32: return ElementType::kFloat32;
    case v1::ELEMENT_TYPE_FLOAT64: return ElementType::kFloat64;
    case v1::ELEMENT_TYPE_FLOAT16: return ElementType::kFloat16;
    case v1::ELEMENT_TYPE_BFLOAT16: return ElementType::kBfloat16;
    case v1::ELEMENT_TYPE_INT32: return ElementType::kInt32;
    default: break;
  }
  return Invalid(field, absl::StrCat(static_cast<int>(type), " is no known element type"));
}

}  // namespace phasor
