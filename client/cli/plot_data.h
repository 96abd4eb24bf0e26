#ifndef PHASOR_CLIENT_CLI_PLOT_DATA_H_
#define PHASOR_CLIENT_CLI_PLOT_DATA_H_

/// \file
/// What a plot shows, whatever draws it.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "phasor/table.h"

namespace phasor::cli {

/// A table's rows start ... start+count-1 seen at no more than so many cells:
/// of every stretch of rows the one in its middle is shown as it is, and of
/// every stretch of columns the two neighbours in its middle, as they are often
/// a sine and its cosine. Nearest, not mean: means of fast pairs are all zero,
/// and would hide that they turn at all.
struct HeatMap {
  std::int64_t start = 0;      ///< position of the first row
  std::int64_t count = 0;      ///< rows that the map stands for
  std::int64_t row_width = 0;  ///< columns that the map stands for
  std::int64_t rows = 0;       ///< cells down
  std::int64_t columns = 0;    ///< cells across
  std::vector<double> values;  ///< [rows, columns]
  /// The value that is shown in the strongest colour: 1 for sines and cosines,
  /// else the largest magnitude shown.
  double limit = 1;

  double Value(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)] / limit;
  }
};

/// Which of `total` things stands for cell `cell` of `cells`.
std::int64_t Sampled(std::int64_t cell, std::int64_t cells, std::int64_t total);

/// The column that cell `cell` of a map of `cells` across stands for.
std::int64_t SampledColumn(std::int64_t cell, std::int64_t cells, std::int64_t row_width);

struct Plot {
  std::string title;     ///< the spec in words
  std::string subtitle;  ///< element type and fingerprint
  HeatMap map;
  std::vector<double> frequencies;  ///< empty for a table without any
};

/// Reads what a plot of those rows at no more than `max_rows` x `max_columns`
/// cells needs. `count` > 0.
///
/// **Errors**: those of Table.
absl::StatusOr<Plot> ReadPlot(const Table& table, std::int64_t start, std::int64_t count,
                              std::int64_t max_rows, std::int64_t max_columns);

/// Bars for a ladder on a logarithmic scale.
struct Bars {
  std::vector<double> heights;  ///< 0 ... 1; 0 for a frequency of zero
  std::int64_t pairs = 0;       ///< frequencies that the bars stand for
  int lowest_decade = 0;        ///< the scale goes from 10^lowest
  int highest_decade = 0;       ///< to 10^highest
};

/// At most `max_bars` bars, each the magnitude of the frequency in the middle
/// of its stretch.
Bars LadderBars(const std::vector<double>& frequencies, std::int64_t max_bars);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_PLOT_DATA_H_
