#include "client/cli/plot_data.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/element_text.h"

namespace phasor::cli {
namespace {

/// A piece of rows asked for at a time, in bytes.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

struct LadderWords {
  std::string base;

  std::string operator()(const PaperLadder&) const { return base; }
  std::string operator()(const InclusiveLadder&) const { return base + ", inclusive"; }
  std::string operator()(const DownscaledLadder& ladder) const {
    return absl::StrCat(base, ", downscaled by ", ladder.downscale_shift.value_or(0));
  }
  std::string operator()(const ExplicitLadder&) const { return "explicit frequencies"; }
  std::string operator()(const TimescaleLadder& ladder) const {
    return absl::StrCat("timescales ", ladder.min_timescale, " to ", ladder.max_timescale);
  }
};

struct ScalingWords {
  std::string operator()(const NoScaling&) const { return ""; }
  std::string operator()(const LinearScaling& s) const { return Factor("linear", s.factor); }
  std::string operator()(const NtkScaling& s) const { return Factor("ntk", s.factor); }
  std::string operator()(const DynamicNtkScaling& s) const {
    return absl::StrCat(Factor("dynamic ntk", s.factor), " at length ", s.sequence_length);
  }
  std::string operator()(const YarnScaling& s) const { return Factor("yarn", s.factor); }
  std::string operator()(const LongRopeScaling& s) const {
    return absl::StrCat(", longrope at length ", s.sequence_length);
  }
  std::string operator()(const Llama3Scaling& s) const { return Factor("llama3", s.factor); }
  std::string operator()(const ProportionalScaling& s) const {
    return absl::StrCat(", proportional ", s.partial_rotary_factor);
  }
  std::string operator()(const ExplicitLadder&) const { return ", explicit frequencies"; }

  static std::string Factor(absl::string_view name, double factor) {
    return absl::StrCat(", ", name, " by ", factor);
  }
};

struct TitleOf {
  std::string operator()(const Sinusoidal& s) const {
    std::string title = absl::StrCat(
        "sinusoidal, width ", s.width, ", ",
        std::visit(LadderWords{absl::StrCat("base ", s.base.value_or(kDefaultBase))}, s.ladder));
    if (s.layout != Layout::kSinCosInterleaved) {
      absl::StrAppend(&title, ", ", absl::AsciiStrToLower(LayoutName(s.layout)));
    }
    if (s.position_offset != 0) absl::StrAppend(&title, ", offset ", s.position_offset);
    if (s.zero_row.has_value()) absl::StrAppend(&title, ", zero row ", *s.zero_row);
    if (s.odd_column != OddColumn::kNone) {
      absl::StrAppend(&title, ", odd column ", absl::AsciiStrToLower(OddColumnName(s.odd_column)));
    }
    return title;
  }
  std::string operator()(const Rotary& r) const {
    std::string title = absl::StrCat("rotary, width ", r.width);
    if (r.base.has_value()) absl::StrAppend(&title, ", base ", *r.base);
    title += std::visit(ScalingWords{}, r.scaling);
    if (r.attention_factor.has_value()) {
      absl::StrAppend(&title, ", attention factor ", *r.attention_factor);
    }
    if (r.layout != Layout::kCosSinHalves) {
      absl::StrAppend(&title, ", ", absl::AsciiStrToLower(LayoutName(r.layout)));
    }
    return title;
  }
  std::string operator()(const Timestep& t) const {
    std::string title = absl::StrCat("timestep, width ", t.width, ", max period ", t.max_period,
                                     ", shift ", t.downscale_freq_shift.value_or(0));
    if (t.scale != 1) absl::StrAppend(&title, ", scale ", t.scale);
    if (t.flip_sin_to_cos) absl::StrAppend(&title, ", cosines first");
    return title;
  }
  std::string operator()(const Alibi& a) const {
    std::string title = absl::StrCat("alibi, ", a.head_count, " heads");
    if (a.bias_max != kDefaultBiasMax) absl::StrAppend(&title, ", bias max ", a.bias_max);
    if (a.form == AlibiForm::kKeyPosition) absl::StrAppend(&title, ", of key positions");
    return title;
  }
  std::string operator()(const RelativeBuckets& b) const {
    return absl::StrCat("relative_buckets, ", b.num_buckets, " of them, max distance ",
                        b.max_distance, b.bidirectional ? "" : ", not bidirectional");
  }
  std::string operator()(const NoPosition& n) const {
    return absl::StrCat("none, width ", n.width, n.additive ? ", additive" : "");
  }
  std::string operator()(const LearnedInit& l) const {
    return absl::StrCat("learned_init, ", l.max_positions, " x ", l.width, ", stddev ", l.stddev,
                        ", seed ", l.seed, ", stream ", l.stream);
  }
  std::string operator()(const LearnedTable& l) const {
    return absl::StrCat("learned_table ", l.name, ", ", l.max_positions, " x ", l.width);
  }
};

}  // namespace

std::int64_t Sampled(std::int64_t cell, std::int64_t cells, std::int64_t total) {
  // floor((2 cell + 1) total / (2 cells)), in steps that do not overflow.
  const std::int64_t odd = 2 * cell + 1;
  return (odd * (total / cells) + odd * (total % cells) / cells) / 2;
}

std::int64_t SampledColumn(std::int64_t cell, std::int64_t cells, std::int64_t row_width) {
  if (cells % 2 != 0 || cells >= row_width) return Sampled(cell, cells, row_width);
  return 2 * Sampled(cell / 2, cells / 2, row_width / 2) + cell % 2;
}

absl::StatusOr<Plot> ReadPlot(const Table& table, std::int64_t start, std::int64_t count,
                              std::int64_t max_rows, std::int64_t max_columns) {
  Plot plot;
  const TableSpec& spec = table.spec().spec();
  plot.title = std::visit(TitleOf{}, spec.scheme);
  plot.subtitle = absl::StrCat(absl::AsciiStrToLower(ElementTypeName(table.element_type())),
                               ", fingerprint ", table.fingerprint());
  HeatMap& map = plot.map;
  map.start = start;
  map.count = count;
  map.row_width = table.row_width();
  map.rows = std::min(count, max_rows);
  map.columns =
      map.row_width <= max_columns ? map.row_width : std::max<std::int64_t>(1, max_columns / 2 * 2);

  const std::int64_t piece_rows =
      std::clamp<std::int64_t>(kPieceBytes / table.row_bytes(), 1, map.rows);
  std::vector<std::byte> piece(static_cast<std::size_t>(piece_rows * table.row_bytes()));
  for (std::int64_t row = 0; row < map.rows;) {
    std::vector<std::int64_t> positions;
    for (; row < map.rows && std::ssize(positions) < piece_rows; ++row) {
      positions.push_back(start + Sampled(row, map.rows, count));
    }
    absl::Status status = table.Gather(
        positions, absl::MakeSpan(piece).first(positions.size() *
                                               static_cast<std::size_t>(table.row_bytes())));
    if (!status.ok()) return status;
    for (std::int64_t i = 0; i < std::ssize(positions); ++i) {
      for (std::int64_t column = 0; column < map.columns; ++column) {
        const std::byte* element =
            piece.data() + i * table.row_bytes() +
            SampledColumn(column, map.columns, map.row_width) * ElementBytes(table.element_type());
        map.values.push_back(ElementValue(table.element_type(), element));
      }
    }
  }

  map.limit = table.spec().attention_factor().value_or(1);
  if (table.spec().pairs() == 0) {
    map.limit = 0;
    for (double value : map.values) map.limit = std::fmax(map.limit, std::fabs(value));
    if (map.limit == 0) map.limit = 1;
    return plot;
  }
  absl::StatusOr<std::vector<double>> frequencies = table.Frequencies();
  if (!frequencies.ok()) return frequencies.status();
  plot.frequencies = *std::move(frequencies);
  return plot;
}

Bars LadderBars(const std::vector<double>& frequencies, std::int64_t max_bars) {
  Bars bars;
  bars.pairs = std::ssize(frequencies);
  double least = HUGE_VAL, most = 0;
  for (double frequency : frequencies) {
    if (frequency == 0) continue;
    least = std::min(least, std::fabs(frequency));
    most = std::max(most, std::fabs(frequency));
  }
  if (most == 0) least = most = 1;
  bars.highest_decade = static_cast<int>(std::ceil(std::log10(most)));
  // A quarter of a decade of room at least, so that the lowest bar is still seen.
  bars.lowest_decade =
      std::min(static_cast<int>(std::floor(std::log10(least) - 0.25)), bars.highest_decade - 1);
  const std::int64_t count = std::min(bars.pairs, max_bars);
  for (std::int64_t i = 0; i < count; ++i) {
    const double magnitude =
        std::fabs(frequencies[static_cast<std::size_t>(Sampled(i, count, bars.pairs))]);
    bars.heights.push_back(magnitude == 0 ? 0
                                          : (std::log10(magnitude) - bars.lowest_decade) /
                                                (bars.highest_decade - bars.lowest_decade));
  }
  return bars;
}

}  // namespace phasor::cli
