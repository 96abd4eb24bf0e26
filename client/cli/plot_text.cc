#include "client/cli/plot_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/output.h"
#include "client/cli/plot_colors.h"

namespace phasor::cli {
namespace {

constexpr int kBarLines = 5;
// Title, subtitle, axis, a blank line, bars, their axis, and the prompt.
constexpr int kOtherLines = 6 + kBarLines + 1;
constexpr int kFewestMapLines = 4;
constexpr absl::string_view kPositionLabel = "position";

constexpr std::string_view kShadeGlyphs[] = {" ", "░", "▒", "▓", "█"};
constexpr std::string_view kBarGlyphs[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kReset = "\x1b[0m";

absl::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int MapLines(const Screen& screen) { return std::max(kFewestMapLines, screen.lines - kOtherLines); }

int RowsInLine(const Screen& screen) { return screen.ink == Ink::kShades ? 1 : 2; }

/// Characters of what stands at the left of each line.
int LabelWidth(std::int64_t start, std::int64_t last) {
  return static_cast<int>(
      std::max({kPositionLabel.size(), absl::StrCat(start).size(), absl::StrCat(last).size()}));
}

std::string ColorCode(Color color, Ink ink, bool foreground) {
  const int selector = foreground ? 38 : 48;
  if (ink == Ink::kColors256) {
    return absl::StrFormat("\x1b[%d;5;%dm", selector, TerminalColor(color));
  }
  return absl::StrFormat("\x1b[%d;2;%d;%d;%dm", selector, color.red, color.green, color.blue);
}

std::string_view Shade(double value) {
  if (std::isnan(value)) return "?";
  const double place = (std::clamp(value, -1.0, 1.0) + 1) / 2 * 4;
  return kShadeGlyphs[static_cast<std::size_t>(std::lround(place))];
}

/// The cells of one line, each `repeat` characters wide.
std::string MapLine(const HeatMap& map, std::int64_t row, int repeat, Ink ink) {
  std::string line;
  std::string before;
  for (std::int64_t column = 0; column < map.columns; ++column) {
    if (ink == Ink::kShades) {
      for (int i = 0; i < repeat; ++i) line += Shade(map.Value(row, column));
      continue;
    }
    const bool has_lower = row + 1 < map.rows;
    std::string code = ColorCode(DivergingColor(map.Value(row, column)), ink, true);
    if (has_lower) {
      code += ColorCode(DivergingColor(map.Value(row + 1, column)), ink, false);
    }
    // Neighbours are often alike: a code is said once.
    if (code != before) line += code;
    before = code;
    for (int i = 0; i < repeat; ++i) line += "▀";
  }
  if (ink != Ink::kShades) line += kReset;
  return line;
}

/// A line of `width` characters with `left` and `right` at its ends.
std::string Ends(absl::string_view left, absl::string_view right, std::int64_t width) {
  const auto used = static_cast<std::int64_t>(left.size() + right.size());
  return absl::StrCat(
      left, std::string(static_cast<std::size_t>(std::max<std::int64_t>(1, width - used)), ' '),
      right);
}

std::string DrawBars(const Bars& bars, int repeat, int label_width) {
  std::string text;
  const int units = kBarLines * 8;
  for (int line = kBarLines - 1; line >= 0; --line) {
    std::string label;
    if (line == kBarLines - 1) label = absl::StrCat("1e", bars.highest_decade);
    if (line == 0) label = absl::StrCat("1e", bars.lowest_decade);
    absl::StrAppendFormat(&text, "%*s ", label_width, label);
    for (double height : bars.heights) {
      const int filled = static_cast<int>(std::ceil(height * units)) - line * 8;
      const std::string_view glyph = kBarGlyphs[std::clamp(filled, 0, 8)];
      for (int i = 0; i < repeat; ++i) text += glyph;
    }
    text += '\n';
  }
  return text;
}

}  // namespace

Screen StdoutScreen() {
  Screen screen;
  if (!StdoutIsTerminal()) return screen;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    screen.columns = size.ws_col;
    screen.lines = size.ws_row;
  }
  const absl::string_view color_term = Environment("COLORTERM");
  if (!Environment("NO_COLOR").empty() || Environment("TERM") == "dumb") return screen;
  screen.ink = color_term == "truecolor" || color_term == "24bit"   ? Ink::kColors24
               : absl::StrContains(Environment("TERM"), "256color") ? Ink::kColors256
                                                                    : Ink::kShades;
  return screen;
}

std::int64_t MostRows(const Screen& screen) {
  return std::int64_t{MapLines(screen)} * RowsInLine(screen);
}

std::int64_t MostColumns(const Screen& screen, std::int64_t start, std::int64_t last) {
  return std::max(1, screen.columns - LabelWidth(start, last) - 1);
}

std::string DrawText(const Plot& plot, const Screen& screen) {
  const HeatMap& map = plot.map;
  const int label_width = LabelWidth(map.start, map.start + map.count - 1);
  // A small table is shown in wide cells, but not absurdly wide ones.
  const int repeat = static_cast<int>(
      std::clamp<std::int64_t>((screen.columns - label_width - 1) / map.columns, 1, 8));
  const std::int64_t width = map.columns * repeat;
  std::string text = absl::StrCat(plot.title, "\n", plot.subtitle, "\n");
  absl::StrAppendFormat(&text, "%*s %s\n", label_width, kPositionLabel,
                        Ends("column 0", absl::StrCat(map.row_width - 1), width));
  const int rows_in_line = RowsInLine(screen);
  for (std::int64_t row = 0; row < map.rows; row += rows_in_line) {
    absl::StrAppendFormat(&text, "%*d ", label_width,
                          map.start + Sampled(row, map.rows, map.count));
    absl::StrAppend(&text, MapLine(map, row, repeat, screen.ink), "\n");
  }
  if (plot.frequencies.empty()) return text;

  const Bars bars = LadderBars(plot.frequencies, width);
  const int bar_repeat = static_cast<int>(
      std::clamp<std::int64_t>(width / std::max<std::int64_t>(1, std::ssize(bars.heights)), 1, 16));
  absl::StrAppend(&text, "\n", DrawBars(bars, bar_repeat, label_width));
  absl::StrAppendFormat(&text, "%*s %s\n", label_width, "pair",
                        Ends("0  (radians per position, log scale)", absl::StrCat(bars.pairs - 1),
                             std::ssize(bars.heights) * bar_repeat));
  return text;
}

}  // namespace phasor::cli
