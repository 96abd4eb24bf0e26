#include "models/rope_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace phasor::models {
namespace {

// A scaling, and what the configuration says about the attention factor.
struct Scaled {
  RotaryScaling scaling;
  std::optional<double> attention_factor;
};

// Reads one table's parameters.
class RopeReader {
 public:
  RopeReader(const RopeSource& source, const ModelOptions& options)
      : source_(source), options_(options), type_(Type()) {}

  void AddTables(ModelTable table, std::vector<ModelTable>* tables) const {
    if (type_ != "longrope" || options_.sequence_length.has_value()) {
      return AddTable(std::move(table), Read(options_.sequence_length), tables);
    }
    const std::int64_t original = Original();
    const std::int64_t most = MaxPositions().value_or(0);
    ModelTable far = table;
    if (most > original) table.name += "_short";
    AddTable(std::move(table), Read(original), tables);
    if (most <= original) return;
    far.name += "_long";
    AddTable(std::move(far), Read(most), tables);
  }

 private:
  bool is_before(TransformersVersion version) const { return options_.version < version; }

  std::string Type() const {
    std::string type = "default";
    if (source_.parameters.has_value()) {
      const std::optional<std::string> older = source_.parameters->Text("type");
      type = source_.parameters->Text("rope_type").value_or(older.value_or(type));
    }
    if (type == "mrope") return "default";  // as transformers and vLLM rewrite it
    if (type == "su") return "longrope";
    if (type == "yarn" && absl::StartsWith(source_.family.model_type, "phi3")) {
      Parameters().Warn(
          "phi3's rope type \"yarn\" is read as longrope; transformers before 4.43 had another "
          "attention factor for it");
      return "longrope";
    }
    return type;
  }

  const Config& Parameters() const {
    return source_.parameters.has_value() ? *source_.parameters : source_.model;
  }

  std::optional<std::int64_t> MaxPositions() const {
    return source_.model.Integer("max_position_embeddings");
  }

  // The length before the model was stretched.
  std::int64_t Original() const {
    const std::optional<std::int64_t> outer =
        source_.model.Integer("original_max_position_embeddings");
    const std::optional<std::int64_t> inner =
        Parameters().Integer("original_max_position_embeddings");
    if (is_before(TransformersVersion::k5_16) && type_ == "yarn") {
      if (options_.version == TransformersVersion::k5_0 && inner.has_value()) return *inner;
    } else if (is_before(TransformersVersion::k5_16) && type_ == "longrope") {
      if (outer.has_value()) return *outer;
    } else if (outer.has_value() || inner.has_value()) {
      return outer.has_value() ? *outer : *inner;
    }
    return source_.model.RequiredInteger("max_position_embeddings",
                                         absl::StrCat("rope type ", type_));
  }

  // The factor by which it was stretched, of the types that may leave it out.
  double StretchFactor(std::int64_t original) const {
    const std::optional<double> given = Parameters().Number("factor");
    const std::string key = "original_max_position_embeddings";
    const std::optional<std::int64_t> most = MaxPositions();
    bool by_ratio = !given.has_value();
    if (options_.version == TransformersVersion::k5_0 && type_ == "yarn") {
      by_ratio = Parameters().Has(key);
    } else if (is_before(TransformersVersion::k5_16) && type_ == "longrope") {
      by_ratio = source_.model.Has(key);
    } else if (options_.version == TransformersVersion::k4_46) {
      by_ratio = false;
    }
    if (by_ratio && most.has_value() && original > 0) {
      return static_cast<double>(*most) / static_cast<double>(original);
    }
    return Parameters().RequiredNumber("factor", absl::StrCat("rope type ", type_));
  }

  Scaled Yarn() const {
    YarnScaling yarn;
    yarn.original_max_position_embeddings = Original();
    yarn.factor = StretchFactor(yarn.original_max_position_embeddings);
    // Zero counts as absent there.
    const auto knob = [&](absl::string_view key) {
      const std::optional<double> value = Parameters().Number(key);
      return value == 0 ? std::nullopt : value;
    };
    yarn.beta_fast = knob("beta_fast").value_or(kDefaultBetaFast);
    yarn.beta_slow = knob("beta_slow").value_or(kDefaultBetaSlow);
    if (!is_before(TransformersVersion::k5_0)) {
      const std::optional<double> mscale = knob("mscale");
      const std::optional<double> mscale_all_dim = knob("mscale_all_dim");
      if (mscale.has_value() && mscale_all_dim.has_value()) {
        yarn.mscale = mscale;
        yarn.mscale_all_dim = mscale_all_dim;
      }
      yarn.truncate = Parameters().Boolean("truncate").value_or(true);
    }
    return {yarn, Parameters().Number("attention_factor")};
  }

  Scaled LongRope(std::int64_t length) const {
    LongRopeScaling longrope;
    longrope.short_factor = Parameters().RequiredNumbers("short_factor", "rope type longrope");
    longrope.long_factor = Parameters().RequiredNumbers("long_factor", "rope type longrope");
    longrope.original_max_position_embeddings = Original();
    longrope.sequence_length = length;
    const double factor = StretchFactor(longrope.original_max_position_embeddings);
    std::optional<double> attention = Parameters().Number("attention_factor");
    if (factor < 1 && !attention.has_value()) attention = 1;  // as there
    if (factor >= 1) longrope.factor = factor;
    // PhiMoE's.
    const bool is_long = length > longrope.original_max_position_embeddings;
    const std::optional<double> mscale =
        Parameters().Number(is_long ? "long_mscale" : "short_mscale");
    if (mscale.has_value()) attention = mscale;
    return {longrope, attention};
  }

  Scaled Proportional() const {
    ProportionalScaling scaling;
    const double partial = Partial().value_or(1);
    scaling.factor = Parameters().Number("factor").value_or(1);
    scaling.partial_rotary_factor = partial;
    // transformers floors the product in binary64, Phasor the exact one.
    const double pairs = std::floor(partial * static_cast<double>(source_.head_dim) / 2);
    const double half = static_cast<double>(source_.head_dim) / 2;
    if (partial > 0 && partial <= 1 && half >= 1) {
      while (scaling.partial_rotary_factor < 1 &&
             std::fma(scaling.partial_rotary_factor, half, -pairs) < 0) {
        scaling.partial_rotary_factor = std::nextafter(scaling.partial_rotary_factor, 1.0);
      }
    }
    return {scaling, std::nullopt};
  }

  Scaled Read(std::optional<std::int64_t> length) const {
    const std::string what = absl::StrCat("rope type ", type_);
    if (type_ == "default") return {NoScaling(), std::nullopt};
    if (type_ == "linear") {
      return {LinearScaling{Parameters().RequiredNumber("factor", what)}, std::nullopt};
    }
    if (type_ == "dynamic") {
      // Hunyuan's; static whatever the length.
      if (const std::optional<double> alpha = Parameters().Number("alpha")) {
        return {NtkScaling{*alpha}, std::nullopt};
      }
      const std::int64_t most = source_.model.RequiredInteger("max_position_embeddings", what);
      if (!length.has_value()) {
        Parameters().Warn(
            absl::StrCat("rope type dynamic depends on the sequence's length: this "
                         "table is for lengths up to ",
                         most, "; give a sequence length for more"));
      }
      return {DynamicNtkScaling{.factor = Parameters().RequiredNumber("factor", what),
                                .max_position_embeddings = most,
                                .sequence_length = length.value_or(most)},
              std::nullopt};
    }
    if (type_ == "yarn") return Yarn();
    if (type_ == "longrope") return LongRope(length.value_or(0));
    if (type_ == "llama3") {
      return {
          Llama3Scaling{.factor = Parameters().RequiredNumber("factor", what),
                        .low_freq_factor = Parameters().RequiredNumber("low_freq_factor", what),
                        .high_freq_factor = Parameters().RequiredNumber("high_freq_factor", what),
                        .original_max_position_embeddings = Original()},
          std::nullopt};
    }
    if (type_ == "proportional") return Proportional();
    Parameters().Refuse("rope_type",
                        absl::StrCat("\"", type_.substr(0, 64),
                                     "\" is not known; default, linear, dynamic, yarn, "
                                     "longrope, llama3, proportional are"));
    return {NoScaling(), std::nullopt};
  }

  std::optional<double> Partial() const {
    if (const auto outer = source_.model.Number("partial_rotary_factor")) return outer;
    if (source_.parameters.has_value()) {
      if (const auto inner = source_.parameters->Number("partial_rotary_factor")) return inner;
    }
    return source_.model.Number("rotary_pct");
  }

  std::int64_t Width() const {
    if (source_.width.has_value()) return *source_.width;
    if (type_ == "proportional") return source_.head_dim;
    if (source_.family.plain && type_ == "default" && !is_before(TransformersVersion::k5_0)) {
      return source_.head_dim;
    }
    const std::optional<double> partial = Partial();
    const double width = static_cast<double>(source_.head_dim) *
                         partial.value_or(source_.family.partial_rotary_factor);
    if (width >= 0 && width <= static_cast<double>(kMaxWidth))
      return static_cast<std::int64_t>(width);
    source_.model.Refuse("partial_rotary_factor", absl::StrCat(*partial, " is not in 0 ... 1"));
    return source_.head_dim;
  }

  void AddTable(ModelTable table, Scaled scaled, std::vector<ModelTable>* tables) const {
    Rotary rotary{.width = Width(),
                  .base = Theta(),
                  .scaling = std::move(scaled.scaling),
                  .attention_factor = scaled.attention_factor,
                  .layout = options_.rotary_layout};
    if (source_.parameters.has_value()) {
      rotary.mrope_section =
          source_.parameters->Integers("mrope_section").value_or(std::vector<std::int64_t>());
      rotary.mrope_interleaved = source_.parameters->Boolean("mrope_interleaved").value_or(false);
    }
    table.description =
        absl::StrCat("RoPE, rotary width ", rotary.width, " of ", source_.head_dim, ", base ",
                     *rotary.base, type_ == "default" ? "" : absl::StrCat(", ", type_, " scaling"),
                     rotary.mrope_section.empty() ? "" : ", one position an axis");
    if (const auto* yarn = std::get_if<YarnScaling>(&rotary.scaling)) {
      table.softmax_factor = SoftmaxFactor(yarn->factor);
    }
    const TableSpec spec(std::move(rotary), options_.element_type);
    const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(spec);
    if (!canonical.ok()) {
      Parameters().Refuse("", absl::StrCat("means no table: ", canonical.status().message()));
    }
    table.spec = spec;
    tables->push_back(std::move(table));
  }

  double Theta() const {
    std::optional<double> theta;
    if (source_.parameters.has_value()) theta = source_.parameters->Number("rope_theta");
    return theta.value_or(source_.rope_theta);
  }

  // DeepSeek's: its scores are multiplied by the square of YaRN's mscale.
  std::optional<double> SoftmaxFactor(double factor) const {
    if (!source_.model.Has("qk_rope_head_dim")) return std::nullopt;
    const std::optional<double> mscale = Parameters().Number("mscale_all_dim");
    if (!mscale.has_value() || *mscale == 0 || factor <= 1) return std::nullopt;
    const double g = 0.1 * *mscale * std::log(factor) + 1;
    return g * g;
  }

  const RopeSource& source_;
  const ModelOptions& options_;
  const std::string type_;
};

}  // namespace

void AddRotaryTables(const RopeSource& source, const ModelOptions& options, ModelTable table,
                     std::vector<ModelTable>* tables) {
  RopeReader(source, options).AddTables(std::move(table), tables);
}

}  // namespace phasor::models
