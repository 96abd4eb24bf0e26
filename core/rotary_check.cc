#include "core/rotary_check.h"

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/attention_factor.h"
#include "core/field_check.h"
#include "core/real.h"
#include "core/rounding.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

constexpr std::int64_t kMaxAxes = 8;

// Takes the fields of one scaling one after the other and keeps the first
// error, so that a check is a list of fields.
class Fields {
 public:
  explicit Fields(absl::string_view path) : path_(path) {}

  const absl::Status& status() const { return status_; }

  void Fail(absl::string_view name, absl::string_view what) {
    status_.Update(Invalid(absl::StrCat(path_, ".", name), what));
  }
  void Real(absl::string_view name, double value, double low, double high,
            absl::string_view range) {
    if (IsBetween(low, value, high)) return;
    Fail(name, absl::StrCat(Text(value), " is not in ", range));
  }
  void Factor(absl::string_view name, double value) {
    Real(name, value, 1, kMaxRopeFactor, "1 ... 2^64");
  }
  void Knob(absl::string_view name, double value) {
    Real(name, value, kMinRopeKnob, kMaxRopeKnob, "2^-32 ... 2^32");
  }
  void Length(absl::string_view name, std::int64_t value, std::int64_t least = 1) {
    if (value >= least && value <= kMaxPosition) return;
    Fail(name, absl::StrCat(value, " is not in ", least, " ... 2^53"));
  }
  void PairFactors(absl::string_view name, const std::vector<double>& values, std::int64_t pairs) {
    if (static_cast<std::int64_t>(values.size()) != pairs) {
      return Fail(name, absl::StrCat(values.size(), " values given, exactly ", pairs,
                                     " (width/2) are needed"));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      Real(absl::StrCat(name, "[", i, "]"), values[i], kMinPairFactor, kMaxRopeFactor,
           "2^-32 ... 2^64");
    }
  }

 private:
  const std::string path_;
  absl::Status status_;
};

struct ScalingCheck {
  const Rotary& spec;

  absl::Status operator()(const NoScaling&) const { return absl::OkStatus(); }
  absl::Status operator()(const LinearScaling& s) const {
    Fields fields("spec.rotary.linear");
    fields.Factor("factor", s.factor);
    return fields.status();
  }
  absl::Status operator()(const NtkScaling& s) const {
    Fields fields("spec.rotary.ntk");
    fields.Factor("factor", s.factor);
    return CheckStretchable(fields.status());
  }
  absl::Status operator()(const DynamicNtkScaling& s) const {
    Fields fields("spec.rotary.dynamic_ntk");
    fields.Factor("factor", s.factor);
    fields.Length("max_position_embeddings", s.max_position_embeddings);
    fields.Length("sequence_length", s.sequence_length);
    return CheckStretchable(fields.status());
  }
  absl::Status operator()(const YarnScaling& s) const {
    Fields fields("spec.rotary.yarn");
    fields.Factor("factor", s.factor);
    fields.Length("original_max_position_embeddings", s.original_max_position_embeddings);
    fields.Knob("beta_fast", s.beta_fast);
    fields.Knob("beta_slow", s.beta_slow);
    if (s.beta_fast < s.beta_slow) {
      fields.Fail("beta_fast",
                  absl::StrCat(Text(s.beta_fast), " is below beta_slow = ", Text(s.beta_slow)));
    }
    if (s.mscale.has_value()) fields.Knob("mscale", *s.mscale);
    if (s.mscale_all_dim.has_value()) fields.Knob("mscale_all_dim", *s.mscale_all_dim);
    if (s.mscale.has_value() != s.mscale_all_dim.has_value()) {
      fields.Fail(s.mscale.has_value() ? "mscale_all_dim" : "mscale",
                  "is required beside the other mscale: implementations differ on what one alone "
                  "means; or give the attention_factor itself");
    }
    return fields.status();
  }
  absl::Status operator()(const LongRopeScaling& s) const {
    Fields fields("spec.rotary.longrope");
    fields.PairFactors("short_factor", s.short_factor, spec.width / 2);
    fields.PairFactors("long_factor", s.long_factor, spec.width / 2);
    fields.Length("original_max_position_embeddings", s.original_max_position_embeddings, 2);
    fields.Length("sequence_length", s.sequence_length);
    if (s.factor.has_value()) {
      fields.Factor("factor", *s.factor);
    } else if (!spec.attention_factor.has_value()) {
      fields.Fail("factor", "is required unless attention_factor is given");
    }
    return fields.status();
  }
  absl::Status operator()(const Llama3Scaling& s) const {
    Fields fields("spec.rotary.llama3");
    fields.Factor("factor", s.factor);
    fields.Knob("low_freq_factor", s.low_freq_factor);
    fields.Knob("high_freq_factor", s.high_freq_factor);
    if (!(s.high_freq_factor > s.low_freq_factor)) {
      fields.Fail("high_freq_factor",
                  absl::StrCat(Text(s.high_freq_factor),
                               " is not above low_freq_factor = ", Text(s.low_freq_factor)));
    }
    fields.Length("original_max_position_embeddings", s.original_max_position_embeddings);
    return fields.status();
  }
  absl::Status operator()(const ProportionalScaling& s) const {
    Fields fields("spec.rotary.proportional");
    if (!(s.partial_rotary_factor > 0 && s.partial_rotary_factor <= 1)) {
      fields.Fail("partial_rotary_factor",
                  absl::StrCat(Text(s.partial_rotary_factor), " is not above 0 and at most 1"));
    }
    fields.Factor("factor", s.factor);
    return fields.status();
  }
  absl::Status operator()(const ExplicitLadder& ladder) const {
    return CheckFrequencies("spec.rotary.explicit.frequencies", ladder, spec.width / 2);
  }

 private:
  absl::Status CheckStretchable(const absl::Status& status) const {
    if (!status.ok() || spec.width >= 4) return status;
    return Invalid("spec.rotary.width",
                   "2 leaves NTK scaling nothing to stretch (its exponent is width/(width-2)); "
                   "use 4 or more, or no scaling");
  }
};

absl::Status CheckSections(const Rotary& spec) {
  constexpr absl::string_view kField = "spec.rotary.mrope_section";
  const std::vector<std::int64_t>& sections = spec.mrope_section;
  const std::int64_t pairs = spec.width / 2;
  if (sections.empty()) {
    if (!spec.mrope_interleaved) return absl::OkStatus();
    return Invalid("spec.rotary.mrope_interleaved", "means something beside mrope_section alone");
  }
  const auto axes = static_cast<std::int64_t>(sections.size());
  if (axes < 2 || axes > kMaxAxes) {
    return Invalid(kField, absl::StrCat(axes, " axes given; there are 2 ... ", kMaxAxes));
  }
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < axes; ++k) {
    if (sections[k] < 0 || sections[k] > pairs) {
      return Invalid(absl::StrCat(kField, "[", k, "]"),
                     absl::StrCat(sections[k], " is not in 0 ... ", pairs, " (width/2)"));
    }
    sum += sections[k];
  }
  if (sum != pairs) {
    return Invalid(kField, absl::StrCat("has ", sum, " pairs in all, not ", pairs, " (width/2)"));
  }
  if (!spec.mrope_interleaved) return absl::OkStatus();
  if (axes != 3) {
    return Invalid(kField, absl::StrCat(axes, " axes given; interleaved sections have 3"));
  }
  for (std::int64_t k = 1; k < axes; ++k) {
    // Pairs k, k + 3, k + 6, ... take axis k.
    const std::int64_t room = (pairs - k + 2) / 3;
    if (sections[k] <= room) continue;
    return Invalid(absl::StrCat(kField, "[", k, "]"),
                   absl::StrCat(sections[k], " pairs of every third do not fit; at most ", room,
                                " of ", pairs, " do"));
  }
  return absl::OkStatus();
}

absl::Status CheckAttentionFactor(ElementType type, const Rotary& spec) {
  constexpr absl::string_view kField = "spec.rotary.attention_factor";
  if (spec.attention_factor.has_value() &&
      !IsBetween(kMinAttentionFactor, *spec.attention_factor, kMaxAttentionFactor)) {
    return Invalid(kField, absl::StrCat(Text(*spec.attention_factor), " is not in 2^-64 ... 2^64"));
  }
  const AttentionFactor factor(spec);
  if (IsFiniteBits(type, factor.Rounded(type))) return absl::OkStatus();
  return FieldError(absl::StatusCode::kOutOfRange, kField,
                    absl::StrCat(Text(factor.rounded()), " rounds to an infinity of ",
                                 ElementTypeName(type), "; use a wider type"));
}

}  // namespace

absl::Status CheckRotary(ElementType type, Rotary& spec) {
  if (absl::Status status = CheckWidth("spec.rotary.width", spec.width, /*pairs=*/true);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckBase("spec.rotary.base", spec.base,
                                      std::holds_alternative<ExplicitLadder>(spec.scaling));
      !status.ok()) {
    return status;
  }
  if (absl::Status status = std::visit(ScalingCheck{spec}, spec.scaling); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckLayout("spec.rotary.layout", spec.layout); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckSections(spec); !status.ok()) return status;
  return CheckAttentionFactor(type, spec);
}

}  // namespace phasor
