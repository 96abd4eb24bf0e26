#include "proto/rotary_codec.h"

#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "proto/field_codec.h"

namespace phasor {
namespace {

absl::StatusOr<LinearScaling> FromProto(const v1::LinearScaling& proto) {
  if (!proto.has_factor()) return Required("spec.rotary.linear.factor");
  return LinearScaling{proto.factor()};
}

absl::StatusOr<NtkScaling> FromProto(const v1::NtkScaling& proto) {
  if (!proto.has_factor()) return Required("spec.rotary.ntk.factor");
  return NtkScaling{proto.factor()};
}

absl::StatusOr<DynamicNtkScaling> FromProto(const v1::DynamicNtkScaling& proto) {
  if (!proto.has_factor()) return Required("spec.rotary.dynamic_ntk.factor");
  if (!proto.has_max_position_embeddings()) {
    return Required("spec.rotary.dynamic_ntk.max_position_embeddings");
  }
  if (!proto.has_sequence_length()) return Required("spec.rotary.dynamic_ntk.sequence_length");
  return DynamicNtkScaling{proto.factor(), proto.max_position_embeddings(),
                           proto.sequence_length()};
}

absl::StatusOr<YarnScaling> FromProto(const v1::YarnScaling& proto) {
  if (!proto.has_factor()) return Required("spec.rotary.yarn.factor");
  if (!proto.has_original_max_position_embeddings()) {
    return Required("spec.rotary.yarn.original_max_position_embeddings");
  }
  YarnScaling s;
  s.factor = proto.factor();
  s.original_max_position_embeddings = proto.original_max_position_embeddings();
  if (proto.has_beta_fast()) s.beta_fast = proto.beta_fast();
  if (proto.has_beta_slow()) s.beta_slow = proto.beta_slow();
  if (proto.has_mscale()) s.mscale = proto.mscale();
  if (proto.has_mscale_all_dim()) s.mscale_all_dim = proto.mscale_all_dim();
  if (proto.has_truncate()) s.truncate = proto.truncate();
  return s;
}

absl::StatusOr<LongRopeScaling> FromProto(const v1::LongRopeScaling& proto) {
  if (!proto.has_original_max_position_embeddings()) {
    return Required("spec.rotary.longrope.original_max_position_embeddings");
  }
  if (!proto.has_sequence_length()) return Required("spec.rotary.longrope.sequence_length");
  LongRopeScaling s;
  s.short_factor = VectorOf(proto.short_factor());
  s.long_factor = VectorOf(proto.long_factor());
  s.original_max_position_embeddings = proto.original_max_position_embeddings();
  s.sequence_length = proto.sequence_length();
  if (proto.has_factor()) s.factor = proto.factor();
  return s;
}

absl::StatusOr<Llama3Scaling> FromProto(const v1::Llama3Scaling& proto) {
  if (!proto.has_factor()) return Required("spec.rotary.llama3.factor");
  if (!proto.has_low_freq_factor()) return Required("spec.rotary.llama3.low_freq_factor");
  if (!proto.has_high_freq_factor()) return Required("spec.rotary.llama3.high_freq_factor");
  if (!proto.has_original_max_position_embeddings()) {
    return Required("spec.rotary.llama3.original_max_position_embeddings");
  }
  return Llama3Scaling{proto.factor(), proto.low_freq_factor(), proto.high_freq_factor(),
                       proto.original_max_position_embeddings()};
}

absl::StatusOr<ProportionalScaling> FromProto(const v1::ProportionalScaling& proto) {
  ProportionalScaling s;
  if (proto.has_partial_rotary_factor()) s.partial_rotary_factor = proto.partial_rotary_factor();
  if (proto.has_factor()) s.factor = proto.factor();
  return s;
}

// Reads one scaling into a Rotary.
template <typename Message>
absl::Status TakeScaling(const Message& proto, Rotary& out) {
  auto scaling = FromProto(proto);
  if (!scaling.ok()) return scaling.status();
  out.scaling = *std::move(scaling);
  return absl::OkStatus();
}

absl::Status TakeScaling(const v1::Rotary& proto, Rotary& out) {
  switch (proto.scaling_case()) {
    case v1::Rotary::kNone:
    case v1::Rotary::SCALING_NOT_SET: return absl::OkStatus();
    case v1::Rotary::kLinear: return TakeScaling(proto.linear(), out);
    case v1::Rotary::kNtk: return TakeScaling(proto.ntk(), out);
    case v1::Rotary::kDynamicNtk: return TakeScaling(proto.dynamic_ntk(), out);
    case v1::Rotary::kYarn: return TakeScaling(proto.yarn(), out);
    case v1::Rotary::kLongrope: return TakeScaling(proto.longrope(), out);
    case v1::Rotary::kLlama3: return TakeScaling(proto.llama3(), out);
    case v1::Rotary::kProportional: return TakeScaling(proto.proportional(), out);
    case v1::Rotary::kExplicit:
      out.scaling = ExplicitLadder{VectorOf(proto.explicit_().frequencies())};
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Writes a scaling into a message that has none.
struct ScalingWriter {
  v1::Rotary* out;
  bool fill;

  void operator()(const NoScaling&) const {
    if (fill) out->mutable_none();
  }
  void operator()(const LinearScaling& s) const { out->mutable_linear()->set_factor(s.factor); }
  void operator()(const NtkScaling& s) const { out->mutable_ntk()->set_factor(s.factor); }
  void operator()(const DynamicNtkScaling& s) const {
    v1::DynamicNtkScaling& scaling = *out->mutable_dynamic_ntk();
    scaling.set_factor(s.factor);
    scaling.set_max_position_embeddings(s.max_position_embeddings);
    scaling.set_sequence_length(s.sequence_length);
  }
  void operator()(const YarnScaling& s) const {
    v1::YarnScaling& scaling = *out->mutable_yarn();
    scaling.set_factor(s.factor);
    scaling.set_original_max_position_embeddings(s.original_max_position_embeddings);
    if (fill || s.beta_fast != kDefaultBetaFast) scaling.set_beta_fast(s.beta_fast);
    if (fill || s.beta_slow != kDefaultBetaSlow) scaling.set_beta_slow(s.beta_slow);
    if (s.mscale.has_value()) scaling.set_mscale(*s.mscale);
    if (s.mscale_all_dim.has_value()) scaling.set_mscale_all_dim(*s.mscale_all_dim);
    if (fill || !s.truncate) scaling.set_truncate(s.truncate);
  }
  void operator()(const LongRopeScaling& s) const {
    v1::LongRopeScaling& scaling = *out->mutable_longrope();
    scaling.mutable_short_factor()->Add(s.short_factor.begin(), s.short_factor.end());
    scaling.mutable_long_factor()->Add(s.long_factor.begin(), s.long_factor.end());
    scaling.set_original_max_position_embeddings(s.original_max_position_embeddings);
    scaling.set_sequence_length(s.sequence_length);
    if (s.factor.has_value()) scaling.set_factor(*s.factor);
  }
  void operator()(const Llama3Scaling& s) const {
    v1::Llama3Scaling& scaling = *out->mutable_llama3();
    scaling.set_factor(s.factor);
    scaling.set_low_freq_factor(s.low_freq_factor);
    scaling.set_high_freq_factor(s.high_freq_factor);
    scaling.set_original_max_position_embeddings(s.original_max_position_embeddings);
  }
  void operator()(const ProportionalScaling& s) const {
    v1::ProportionalScaling& scaling = *out->mutable_proportional();
    if (fill || s.partial_rotary_factor != 1) {
      scaling.set_partial_rotary_factor(s.partial_rotary_factor);
    }
    if (fill || s.factor != 1) scaling.set_factor(s.factor);
  }
  void operator()(const ExplicitLadder& ladder) const {
    out->mutable_explicit_()->mutable_frequencies()->Add(ladder.frequencies.begin(),
                                                         ladder.frequencies.end());
  }
};

}  // namespace

absl::StatusOr<Rotary> RotaryFromProto(const v1::Rotary& proto) {
  if (!proto.has_width()) return Required("spec.rotary.width");
  Rotary r;
  r.width = proto.width();
  if (proto.has_base()) r.base = proto.base();
  if (absl::Status status = TakeScaling(proto, r); !status.ok()) return status;
  if (proto.has_attention_factor()) r.attention_factor = proto.attention_factor();
  absl::StatusOr<Layout> layout = LayoutFromProto(proto.layout(), r.layout, "spec.rotary.layout");
  if (!layout.ok()) return layout.status();
  r.layout = *layout;
  r.mrope_section = VectorOf(proto.mrope_section());
  r.mrope_interleaved = proto.mrope_interleaved();
  return r;
}

void RotaryToProto(const Rotary& r, bool fill, v1::Rotary* proto) {
  v1::Rotary& out = *proto;
  out.set_width(r.width);
  if (r.base.has_value() && (fill || *r.base != kDefaultBase)) out.set_base(*r.base);
  std::visit(ScalingWriter{&out, fill}, r.scaling);
  if (r.attention_factor.has_value()) out.set_attention_factor(*r.attention_factor);
  if (fill || r.layout != Layout::kCosSinHalves) out.set_layout(LayoutToProto(r.layout));
  out.mutable_mrope_section()->Add(r.mrope_section.begin(), r.mrope_section.end());
  if (r.mrope_interleaved || (fill && !r.mrope_section.empty())) {
    out.set_mrope_interleaved(r.mrope_interleaved);
  }
}

}  // namespace phasor
