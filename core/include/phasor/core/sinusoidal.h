#ifndef PHASOR_CORE_SINUSOIDAL_H_
#define PHASOR_CORE_SINUSOIDAL_H_

/// \file
/// Sinusoidal position tables: their ladders and layouts.

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "phasor/core/export.h"

namespace phasor {

/// Limits of every table.
inline constexpr std::int64_t kMaxWidth = 65536;
/// Formula tables have rows at positions -kMaxPosition ... kMaxPosition, as
/// requested and after a position offset.
inline constexpr std::int64_t kMaxPosition = std::int64_t{1} << 53;
inline constexpr double kDefaultBase = 10000.0;
inline constexpr double kMaxBase = 18446744073709551616.0;  // 2^64
inline constexpr double kMinAbsFrequency = 0x1p-64;         // of an explicit ladder, unless 0
inline constexpr double kMaxAbsFrequency = 0x1p32;
inline constexpr double kDefaultMinTimescale = 1.0;
inline constexpr double kDefaultMaxTimescale = 10000.0;

/// Where the sines s_i and cosines c_i of a row's h = width/2 pairs stand.
enum class Layout : std::uint8_t {
  kSinCosInterleaved = 0,       ///< s0 c0 s1 c1 ...      (the paper; default)
  kSinCosHalves = 1,            ///< s0 ... | c0 ...      (tensor2tensor, fairseq)
  kCosSinHalves = 2,            ///< c0 ... | s0 ...      (diffusion timesteps)
  kCosSinInterleaved = 3,       ///< c0 s0 c1 s1 ...      (e^{ip w} as pairs)
  kCosSinDuplicatedHalves = 4,  ///< c c | s s, 2*width elements
  kCosSinDuplicatedPairs = 5,   ///< c0 c0 c1 c1 ... | s0 s0 ..., 2*width elements
  kCosOnly = 6,                 ///< c0 c1 ..., width/2 elements
  kSinOnly = 7,                 ///< s0 s1 ..., width/2 elements
};

/// The layout's name in the wire protocol without its prefix.
PHASOR_EXPORT absl::string_view LayoutName(Layout layout);

/// Elements in a row of `width` under `layout`.
constexpr std::int64_t RowWidth(Layout layout, std::int64_t width) {
  switch (layout) {
    case Layout::kSinCosInterleaved:
    case Layout::kSinCosHalves:
    case Layout::kCosSinHalves:
    case Layout::kCosSinInterleaved: return width;
    case Layout::kCosSinDuplicatedHalves:
    case Layout::kCosSinDuplicatedPairs: return 2 * width;
    case Layout::kCosOnly:
    case Layout::kSinOnly: return width / 2;
  }
  return 0;
}

/// What a row of odd width has beside its pairs. Such rows have one of the four
/// layouts of as many elements as the width.
enum class OddColumn : std::uint8_t {
  kNone = 0,  ///< the width is even (default)
  kZero = 1,  ///< h = (width-1)/2, and a last column that is +0 (tensor2tensor, fairseq)
  kSine = 2,  ///< h = (width+1)/2, the last pair without its cosine (the paper, Marian);
              ///< the paper ladder is base^(-2i/width)
};

/// The value's name in the wire protocol without its prefix.
PHASOR_EXPORT absl::string_view OddColumnName(OddColumn odd_column);

/// h, the pairs (of kSine, the sines) of a row.
constexpr std::int64_t PairsOf(std::int64_t width, OddColumn odd_column) {
  return (width + (odd_column == OddColumn::kSine ? 1 : 0)) / 2;
}

/// Ladders of angular frequencies, in radians per position; i = 0 ... h-1.

/// w_i = base^(-i/h): Vaswani et al. 2017. The default.
struct PaperLadder {
  bool operator==(const PaperLadder&) const = default;
};

/// w_i = base^(-i/(h-1)), the last one exactly 1/base; h = 1 gives w = 1
/// (tensor2tensor, fairseq).
struct InclusiveLadder {
  bool operator==(const InclusiveLadder&) const = default;
};

/// w_i = base^(-i/(h-shift)) (diffusion timesteps).
/// **Range**: 0 <= shift <= h - 1/2. There is no default: models use both 0
/// and 1, so an absent one is refused.
struct DownscaledLadder {
  std::optional<double> downscale_shift;
  bool operator==(const DownscaledLadder&) const = default;
};

/// w_i given by the caller: exactly h values, each 0 or
/// 2^-64 <= |w| <= 2^32. The base has to be absent.
struct ExplicitLadder {
  std::vector<double> frequencies;
  bool operator==(const ExplicitLadder&) const = default;
};

/// w_i = min_timescale (max_timescale / min_timescale)^(-i/(h-1)); h = 1 gives
/// w = min_timescale (tensor2tensor, whose code multiplies by min_timescale: it
/// is the first frequency, and the last is min_timescale^2 / max_timescale). The
/// base has to be absent.
struct TimescaleLadder {
  double min_timescale = kDefaultMinTimescale;  ///< 2^-32 ... 2^32
  double max_timescale = kDefaultMaxTimescale;  ///< above min_timescale, at most 2^64
  bool operator==(const TimescaleLadder&) const = default;
};

using Ladder =
    std::variant<PaperLadder, InclusiveLadder, DownscaledLadder, ExplicitLadder, TimescaleLadder>;

/// Rows of sines and cosines: pair i of row p is
/// (sin((p + position_offset) * w_i), cos((p + position_offset) * w_i)).
struct Sinusoidal {
  std::int64_t width = 0;      ///< d: even, 2 ... 65536; odd with odd_column; required
  std::optional<double> base;  ///< 1 < base <= 2^64; 10000 where absent
  Ladder ladder;
  Layout layout = Layout::kSinCosInterleaved;
  std::int64_t position_offset = 0;  ///< added to every position
  /// The row, counted after the offset, that is all +0 (fairseq's padding row).
  std::optional<std::int64_t> zero_row;
  /// Of odd widths: kZero from 3, kSine from 1 on.
  OddColumn odd_column = OddColumn::kNone;
  bool operator==(const Sinusoidal&) const = default;
};

}  // namespace phasor

#endif  // PHASOR_CORE_SINUSOIDAL_H_
