#include "core/canonical_text.h"

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace phasor {
namespace {

std::string Value(std::int64_t value) { return absl::StrCat(value); }

std::string Value(double value) {
  return absl::StrCat(absl::Hex(std::bit_cast<std::uint64_t>(value), absl::kZeroPad16));
}

std::string Value(const std::string& value) { return value; }

std::string Value(bool value) { return value ? "true" : "false"; }

template <typename T>
std::string Value(const std::vector<T>& values) {
  return absl::StrJoin(values, ",", [](std::string* out, T v) { out->append(Value(v)); });
}

class Lines {
 public:
  template <typename T>
  void Add(std::string path, const T& value) {
    lines_[std::move(path)] = Value(value);
  }
  template <typename T>
  void AddUnless(T standard, std::string path, T value) {
    if (value != standard) Add(std::move(path), value);
  }
  template <typename T>
  void AddIfSet(std::string path, const std::optional<T>& value) {
    if (value.has_value()) Add(std::move(path), *value);
  }
  void AddEmptyMessage(std::string path) { lines_[std::move(path)] = "{}"; }
  void AddEnum(std::string path, absl::string_view prefix, absl::string_view name) {
    lines_[std::move(path)] = absl::StrCat(prefix, name);
  }

  std::string Text() const {
    std::string text;
    for (const auto& [path, value] : lines_) absl::StrAppend(&text, path, "=", value, "\n");
    return text;
  }

 private:
  std::map<std::string, std::string> lines_;
};

struct LadderLines {
  Lines* lines;

  void operator()(const PaperLadder&) const {}
  void operator()(const InclusiveLadder&) const { lines->AddEmptyMessage("sinusoidal.inclusive"); }
  void operator()(const DownscaledLadder& ladder) const {
    lines->Add("sinusoidal.downscaled.downscale_shift", *ladder.downscale_shift);
  }
  void operator()(const ExplicitLadder& ladder) const {
    lines->Add("sinusoidal.explicit.frequencies", ladder.frequencies);
  }
  void operator()(const TimescaleLadder& ladder) const {
    if (ladder == TimescaleLadder{}) lines->AddEmptyMessage("sinusoidal.timescales");
    lines->AddUnless(kDefaultMinTimescale, "sinusoidal.timescales.min_timescale",
                     ladder.min_timescale);
    lines->AddUnless(kDefaultMaxTimescale, "sinusoidal.timescales.max_timescale",
                     ladder.max_timescale);
  }
};

struct ScalingLines {
  Lines* lines;

  void operator()(const NoScaling&) const {}
  void operator()(const LinearScaling& s) const { lines->Add("rotary.linear.factor", s.factor); }
  void operator()(const NtkScaling& s) const { lines->Add("rotary.ntk.factor", s.factor); }
  void operator()(const DynamicNtkScaling& s) const {
    lines->Add("rotary.dynamic_ntk.factor", s.factor);
    lines->Add("rotary.dynamic_ntk.max_position_embeddings", s.max_position_embeddings);
    lines->Add("rotary.dynamic_ntk.sequence_length", s.sequence_length);
  }
  void operator()(const YarnScaling& s) const {
    lines->Add("rotary.yarn.factor", s.factor);
    lines->Add("rotary.yarn.original_max_position_embeddings", s.original_max_position_embeddings);
    lines->AddUnless(kDefaultBetaFast, "rotary.yarn.beta_fast", s.beta_fast);
    lines->AddUnless(kDefaultBetaSlow, "rotary.yarn.beta_slow", s.beta_slow);
    lines->AddIfSet("rotary.yarn.mscale", s.mscale);
    lines->AddIfSet("rotary.yarn.mscale_all_dim", s.mscale_all_dim);
    lines->AddUnless(true, "rotary.yarn.truncate", s.truncate);
  }
  void operator()(const LongRopeScaling& s) const {
    lines->Add("rotary.longrope.short_factor", s.short_factor);
    lines->Add("rotary.longrope.long_factor", s.long_factor);
    lines->Add("rotary.longrope.original_max_position_embeddings",
               s.original_max_position_embeddings);
    lines->Add("rotary.longrope.sequence_length", s.sequence_length);
    lines->AddIfSet("rotary.longrope.factor", s.factor);
  }
  void operator()(const Llama3Scaling& s) const {
    lines->Add("rotary.llama3.factor", s.factor);
    lines->Add("rotary.llama3.low_freq_factor", s.low_freq_factor);
    lines->Add("rotary.llama3.high_freq_factor", s.high_freq_factor);
    lines->Add("rotary.llama3.original_max_position_embeddings",
               s.original_max_position_embeddings);
  }
  void operator()(const ProportionalScaling& s) const {
    if (s == ProportionalScaling{}) lines->AddEmptyMessage("rotary.proportional");
    lines->AddUnless(1.0, "rotary.proportional.partial_rotary_factor", s.partial_rotary_factor);
    lines->AddUnless(1.0, "rotary.proportional.factor", s.factor);
  }
  void operator()(const ExplicitLadder& ladder) const {
    lines->Add("rotary.explicit.frequencies", ladder.frequencies);
  }
};

struct SchemeLines {
  Lines* lines;

  void operator()(const Sinusoidal& s) const {
    lines->Add("sinusoidal.width", s.width);
    if (s.base.has_value()) lines->AddUnless(kDefaultBase, "sinusoidal.base", *s.base);
    std::visit(LadderLines{lines}, s.ladder);
    if (s.layout != Layout::kSinCosInterleaved) {
      lines->AddEnum("sinusoidal.layout", "LAYOUT_", LayoutName(s.layout));
    }
    lines->AddUnless(std::int64_t{0}, "sinusoidal.position_offset", s.position_offset);
    if (s.zero_row.has_value()) lines->Add("sinusoidal.zero_row", *s.zero_row);
    if (s.odd_column != OddColumn::kNone) {
      lines->AddEnum("sinusoidal.odd_column", "ODD_COLUMN_", OddColumnName(s.odd_column));
    }
  }
  void operator()(const Rotary& r) const {
    lines->Add("rotary.width", r.width);
    if (r.base.has_value()) lines->AddUnless(kDefaultBase, "rotary.base", *r.base);
    std::visit(ScalingLines{lines}, r.scaling);
    lines->AddIfSet("rotary.attention_factor", r.attention_factor);
    if (r.layout != Layout::kCosSinHalves) {
      lines->AddEnum("rotary.layout", "LAYOUT_", LayoutName(r.layout));
    }
    if (!r.mrope_section.empty()) lines->Add("rotary.mrope_section", r.mrope_section);
    lines->AddUnless(false, "rotary.mrope_interleaved", r.mrope_interleaved);
  }
  void operator()(const Timestep& t) const {
    lines->Add("timestep.width", t.width);
    lines->AddUnless(kDefaultMaxPeriod, "timestep.max_period", t.max_period);
    lines->Add("timestep.downscale_freq_shift", *t.downscale_freq_shift);
    lines->AddUnless(1.0, "timestep.scale", t.scale);
    lines->AddUnless(false, "timestep.flip_sin_to_cos", t.flip_sin_to_cos);
  }
  void operator()(const RelativeBuckets& b) const {
    const RelativeBuckets standard;
    if (b == standard) lines->AddEmptyMessage("relative_buckets");
    lines->AddUnless(standard.num_buckets, "relative_buckets.num_buckets", b.num_buckets);
    lines->AddUnless(standard.max_distance, "relative_buckets.max_distance", b.max_distance);
    lines->AddUnless(standard.bidirectional, "relative_buckets.bidirectional", b.bidirectional);
  }
  void operator()(const Alibi& a) const {
    lines->Add("alibi.head_count", a.head_count);
    lines->AddUnless(kDefaultBiasMax, "alibi.bias_max", a.bias_max);
    if (a.form != AlibiForm::kDistance) {
      lines->AddEnum("alibi.form", "ALIBI_FORM_", AlibiFormName(a.form));
    }
  }
  void operator()(const NoPosition& n) const {
    lines->Add("none.width", n.width);
    if (n.layout != NoPosition().layout) {
      lines->AddEnum("none.layout", "LAYOUT_", LayoutName(n.layout));
    }
    lines->AddUnless(false, "none.additive", n.additive);
  }
  void operator()(const LearnedInit& l) const {
    lines->Add("learned_init.max_positions", l.max_positions);
    lines->Add("learned_init.width", l.width);
    lines->AddUnless(kDefaultStddev, "learned_init.stddev", l.stddev);
    lines->AddUnless(std::int64_t{0}, "learned_init.seed", l.seed);
    lines->AddUnless(std::int64_t{0}, "learned_init.stream", l.stream);
  }
  void operator()(const LearnedTable& l) const {
    lines->Add("learned_table.content_sha256", l.content_sha256);
    lines->Add("learned_table.max_positions", l.max_positions);
    lines->Add("learned_table.name", l.name);
    lines->Add("learned_table.width", l.width);
  }
};

}  // namespace

std::string CanonicalText(const TableSpec& spec) {
  Lines lines;
  std::visit(SchemeLines{&lines}, spec.scheme);
  if (spec.element_type != DefaultElementType(spec.scheme)) {
    lines.AddEnum("element_type", "ELEMENT_TYPE_", ElementTypeName(spec.element_type));
  }
  // Numerics has one value so far, its default.
  return lines.Text();
}

}  // namespace phasor
