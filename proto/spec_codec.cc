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
  }
  absl::StatusOr<Layout> layout =
      LayoutFromProto(proto.layout(), s.layout, "spec.sinusoidal.layout");
  if (!layout.ok()) return layout.status();
  s.layout = *layout;
  s.position_offset = proto.position_offset();
  if (proto.has_zero_row()) s.zero_row = proto.zero_row();
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
  };
};

v1::TableSpec ToProto(const TableSpec& spec, Defaults defaults) {
  const bool fill = defaults == Defaults::kFilledIn;
  v1::TableSpec proto;
  std::visit(SchemeWriter{&proto, fill}, spec.scheme);
  if (fill || spec.element_type != ElementType::kFloat32) {
    proto.set_element_type(ElementTypeToProto(spec.element_type));
  }
  if (fill) proto.set_numerics(v1::NUMERICS_EXACT);
  return proto;
}

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string Join(const std::string& path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

absl::Status RejectUnknownFieldsAt(const std::string& path, const Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const google::protobuf::UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty()) {
    const int number = unknown.field(0).number();
    return Invalid(Join(path, absl::StrCat(number)),
                   absl::StrCat("field number ", number, " of ",
                                message.GetDescriptor()->full_name(), " is not known here"));
  }
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string inner = Join(path, field->name());
    if (!field->is_repeated()) {
      absl::Status status = RejectUnknownFieldsAt(inner, reflection.GetMessage(message, field));
      if (!status.ok()) return status;
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      absl::Status status = RejectUnknownFieldsAt(absl::StrCat(inner, "[", i, "]"),
                                                  reflection.GetRepeatedMessage(message, field, i));
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TableSpec> SpecFromProto(const v1::TableSpec& proto) {
  absl::StatusOr<ElementType> type =
      ElementTypeFromProto(proto.element_type(), "spec.element_type");
  if (!type.ok()) return type.status();
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
      return TableSpec(*std::move(scheme), *type);
    }
    case v1::TableSpec::kLearnedTable: {
      absl::StatusOr<LearnedTable> scheme = FromProto(proto.learned_table());
      if (!scheme.ok()) return scheme.status();
      return TableSpec(*std::move(scheme), *type);
    }
    case v1::TableSpec::SCHEME_NOT_SET: break;
  }
  return Invalid("spec", "no scheme is set; set sinusoidal, learned_init, rotary or learned_table");
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
    default: break;
  }
  return Invalid(field, absl::StrCat(static_cast<int>(type), " is no known element type"));
}

absl::Status RejectUnknownFields(const google::protobuf::Message& message) {
  return RejectUnknownFieldsAt("", message);
}

}  // namespace phasor
