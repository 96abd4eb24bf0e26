#ifndef PHASOR_CORE_ROTARY_H_
#define PHASOR_CORE_ROTARY_H_

/// \file
/// Rotary position tables (RoPE; Su et al. 2021) and the ways in which models
/// stretch them. Fields carry the names of Hugging Face's configuration keys.
///
/// h = width/2 pairs; b_i = base^(-i/h), i = 0 ... h-1, is the frequency before
/// scaling. Formulas are those of transformers' modeling_rope_utils.py (5.16)
/// unless said otherwise, over real numbers: every parameter is the exact value
/// of its binary64, the constants 0.1 and 0.001 there are 1/10 and 1/1000.

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "phasor/core/sinusoidal.h"

namespace phasor {

/// Limits of what scales a ladder.
inline constexpr double kMaxRopeFactor = 0x1p64;   // of `factor`; the least is 1
inline constexpr double kMinPairFactor = 0x1p-32;  // of LongRoPE's lists; the largest as above
inline constexpr double kMinRopeKnob = 0x1p-32;    // of YaRN's betas and mscales and of llama3's
inline constexpr double kMaxRopeKnob = 0x1p32;     // frequency factors
inline constexpr double kMinAttentionFactor = 0x1p-64;
inline constexpr double kMaxAttentionFactor = 0x1p64;
inline constexpr double kDefaultBetaFast = 32;
inline constexpr double kDefaultBetaSlow = 1;

/// w_i = b_i. The default.
struct NoScaling {
  bool operator==(const NoScaling&) const = default;
};

/// w_i = b_i / factor (position interpolation; Chen et al. 2023).
struct LinearScaling {
  double factor = 0;  ///< 1 ... 2^64; required
  bool operator==(const LinearScaling&) const = default;
};

/// w_i = (base * factor^(h/(h-1)))^(-i/h): static NTK-aware scaling
/// (bloc97 2023), the whole ladder at once. Hunyuan's `alpha` is this factor.
struct NtkScaling {
  double factor = 0;  ///< 1 ... 2^64; required; width has to be 4 or more
  bool operator==(const NtkScaling&) const = default;
};

/// NtkScaling at a given length: its factor is factor * L / M - (factor - 1),
/// L = max(sequence_length, M), M = max_position_embeddings.
struct DynamicNtkScaling {
  double factor = 0;                         ///< 1 ... 2^64; required
  std::int64_t max_position_embeddings = 0;  ///< 1 ... 2^53; required
  std::int64_t sequence_length = 0;          ///< 1 ... 2^53; required
  bool operator==(const DynamicNtkScaling&) const = default;
};

/// YaRN (Peng et al. 2023): fast pairs stay, slow ones are interpolated,
///     w_i = b_i ((1 - ramp_i) + ramp_i / factor),
///     ramp_i = (i - low) / (high - low), cut to 0 ... 1,
///     low = max(floor(c(beta_fast)), 0), high = min(ceil(c(beta_slow)), width - 1),
///     c(beta) = h ln(M / (2 pi beta)) / ln base, M = original_max_position_embeddings;
/// without floor and ceil where `truncate` is false; high = low + 1/1000 where
/// both are equal. The attention factor is 1 + ln(factor)/10, or, with both
/// mscales, (1 + mscale ln(factor)/10) / (1 + mscale_all_dim ln(factor)/10).
struct YarnScaling {
  double factor = 0;                                  ///< 1 ... 2^64; required
  std::int64_t original_max_position_embeddings = 0;  ///< 1 ... 2^53; required
  double beta_fast = kDefaultBetaFast;                ///< beta_slow ... 2^32
  double beta_slow = kDefaultBetaSlow;                ///< 2^-32 ... beta_fast
  /// 2^-32 ... 2^32; both or neither.
  std::optional<double> mscale;
  std::optional<double> mscale_all_dim;
  bool truncate = true;
  bool operator==(const YarnScaling&) const = default;
};

/// LongRoPE (Ding et al. 2024): w_i = b_i / e_i, e being long_factor where
/// sequence_length > M = original_max_position_embeddings, else short_factor.
/// The attention factor is sqrt(1 + ln(factor) / ln(M)), for both lists.
struct LongRopeScaling {
  std::vector<double> short_factor;                   ///< h values, each 2^-32 ... 2^64; required
  std::vector<double> long_factor;                    ///< the same
  std::int64_t original_max_position_embeddings = 0;  ///< 2 ... 2^53; required
  std::int64_t sequence_length = 0;                   ///< 1 ... 2^53; required
  /// 1 ... 2^64. Required unless the attention factor is given, which is all
  /// that depends on it.
  std::optional<double> factor;
  bool operator==(const LongRopeScaling&) const = default;
};

/// Llama 3.1 and later: with turns_i = M b_i / (2 pi), which are the turns that
/// pair i makes in M = original_max_position_embeddings positions,
///     w_i = b_i ((1 - g_i) / factor + g_i),
///     g_i = (turns_i - low_freq_factor) / (high_freq_factor - low_freq_factor),
///     cut to 0 ... 1.
struct Llama3Scaling {
  double factor = 0;            ///< 1 ... 2^64; required
  double low_freq_factor = 0;   ///< 2^-32 ... 2^32; required
  double high_freq_factor = 0;  ///< above low_freq_factor, at most 2^32; required
  std::int64_t original_max_position_embeddings = 0;  ///< 1 ... 2^53; required
  bool operator==(const Llama3Scaling&) const = default;
};

/// Proportional RoPE (Gemma 4): width is the whole head's; the first
/// k = floor(partial_rotary_factor * width / 2) pairs have w_i = b_i / factor,
/// the others rest: w_i = 0. (An ordinary partial rotary width is a smaller
/// `width`, which changes the exponents too.)
struct ProportionalScaling {
  double partial_rotary_factor = 1;  ///< above 0, at most 1
  double factor = 1;                 ///< 1 ... 2^64
  bool operator==(const ProportionalScaling&) const = default;
};

/// ExplicitLadder: h frequencies given by the caller; base has to be absent.
using RotaryScaling =
    std::variant<NoScaling, LinearScaling, NtkScaling, DynamicNtkScaling, YarnScaling,
                 LongRopeScaling, Llama3Scaling, ProportionalScaling, ExplicitLadder>;

/// Cosines and sines that turn queries and keys: pair i of row p is
/// (a cos(p w_i), a sin(p w_i)). Attention scores are multiplied by a^2.
struct Rotary {
  std::int64_t width = 0;      ///< rotary width: even, 2 ... 65536; required
  std::optional<double> base;  ///< 1 < base <= 2^64; 10000 where absent
  RotaryScaling scaling;
  /// a: 2^-64 ... 2^64, and small enough not to round to an infinity of the
  /// element type. As the scaling says where absent, 1 but for YaRN and LongRoPE.
  std::optional<double> attention_factor;
  Layout layout = Layout::kCosSinHalves;
  /// Several positions a row, one an axis (M-RoPE; Wang et al. 2024): how many
  /// pairs take each axis, h in all; 2 ... 8 axes. One position on all axes is
  /// ordinary RoPE. Empty for one axis.
  std::vector<std::int64_t> mrope_section;
  /// Three axes only. False: the pairs of an axis stand together, axis 0 first.
  /// True: pair i takes axis i mod 3 as long as that has pairs left, else axis 0.
  bool mrope_interleaved = false;
  bool operator==(const Rotary&) const = default;
};

}  // namespace phasor

#endif  // PHASOR_CORE_ROTARY_H_
