#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "client/cli/array_writer.h"
#include "client/cli/connection.h"
#include "client/cli/output.h"
#include "client/cli/plot_data.h"
#include "client/cli/plot_png.h"
#include "client/cli/plot_svg.h"
#include "client/cli/plot_text.h"
#include "client/cli/spec_flags.h"
#include "client/cli/verbs.h"
#include "phasor/core/errors.h"

namespace phasor::cli {
namespace {

/// Rows of a plot without --count, or as many as there are.
constexpr std::int64_t kDefaultCount = 256;

absl::StatusOr<std::string> Draw(const Table& table, std::int64_t start, std::int64_t count,
                                 const std::string& path) {
  const Screen screen = StdoutScreen();
  const bool svg = absl::EndsWith(path, ".svg"), png = absl::EndsWith(path, ".png");
  absl::StatusOr<Plot> plot = ReadPlot(table, start, count,
                                       svg   ? kSvgMostRows
                                       : png ? kPngMostRows
                                             : MostRows(screen),
                                       svg   ? kSvgMostColumns
                                       : png ? kPngMostColumns
                                             : MostColumns(screen, start, start + count - 1));
  if (!plot.ok()) return plot.status();
  if (svg) return DrawSvg(*plot);
  if (png) return DrawPng(*plot);
  return DrawText(*plot, screen);
}

}  // namespace

absl::Status RunPlot(const Arguments& arguments) {
  absl::StatusOr<std::int64_t> start = IntegerFlag(arguments, "start", 0);
  if (!start.ok()) return start.status();
  absl::StatusOr<std::int64_t> count = IntegerFlag(arguments, "count", kDefaultCount);
  if (!count.ok()) return count.status();
  absl::StatusOr<std::string> path = OutputFlag(arguments);
  if (!path.ok()) return path.status();
  if (*path != "-" && !absl::EndsWith(*path, ".svg") && !absl::EndsWith(*path, ".png")) {
    return arguments.Wrong("output", "a plot goes to the terminal, or to a file .svg or .png");
  }
  absl::StatusOr<Table> table = OpenTable(arguments);
  if (!table.ok()) return table.status();
  if (!arguments.Text("count").has_value() && *start >= table->spec().first_position() &&
      *start <= table->spec().last_position()) {
    *count = std::min(*count, table->spec().last_position() - *start + 1);
  }
  absl::Status status = table->spec().CheckRange(*start, *count);
  if (!status.ok()) return status;
  if (*count == 0) return arguments.Wrong("count", "there is nothing to plot");
  absl::StatusOr<std::string> picture = Draw(*table, *start, *count, *path);
  if (!picture.ok()) return picture.status();
  absl::StatusOr<Output> output = Output::Open(*path);
  if (!output.ok()) return output.status();
  status = output->Write(*picture);
  return status.ok() ? output->Commit() : status;
}

}  // namespace phasor::cli
