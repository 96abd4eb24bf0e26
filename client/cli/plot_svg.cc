#include "client/cli/plot_svg.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/plot_colors.h"
#include "client/cli/plot_png.h"

namespace phasor::cli {
namespace {

// Where things stand, in user units.
constexpr double kWidth = 992;
constexpr double kLeft = 128;
constexpr double kMapTop = 92;
constexpr double kMapWidth = 752;
constexpr double kMapHeight = 376;
// Pixels of the map's image: many, as not every viewer keeps the edges of cells
// sharp when it enlarges an image.
constexpr int kImageWidth = 2048;
constexpr int kImageHeight = 1024;
constexpr double kScaleLeft = kLeft + kMapWidth + 24;
constexpr double kScaleWidth = 14;
constexpr double kBarsTop = kMapTop + kMapHeight + 84;
constexpr double kBarsHeight = 150;
constexpr double kBottom = 56;

std::string Hex(Color color) {
  return absl::StrFormat("#%02x%02x%02x", color.red, color.green, color.blue);
}

/// Round numbers, about five of them, between `first` and `last`.
std::vector<std::int64_t> Ticks(std::int64_t first, std::int64_t last) {
  const double span = static_cast<double>(last) - static_cast<double>(first);
  if (span <= 0) return {first};
  double step = std::pow(10.0, std::floor(std::log10(span / 5)));
  for (double factor : {2.0, 5.0, 10.0}) {
    if (span / step > 6) step *= factor == 2.0 ? 2.0 : factor == 5.0 ? 2.5 : 2.0;
  }
  const auto whole = std::max<std::int64_t>(1, std::llround(step));
  std::vector<std::int64_t> ticks;
  std::int64_t tick = first - ((first % whole) + whole) % whole;
  if (tick < first) tick += whole;
  for (; tick <= last; tick += whole) ticks.push_back(tick);
  return ticks;
}

class Drawing {
 public:
  void Text(double x, double y, absl::string_view css, absl::string_view text) {
    absl::StrAppendFormat(&body_, "<text x=\"%.6g\" y=\"%.6g\" class=\"%s\">%s</text>\n", x, y, css,
                          text);
  }
  void Line(double x1, double y1, double x2, double y2, absl::string_view css) {
    absl::StrAppendFormat(&body_,
                          "<line x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\" class=\"%s\"/>\n",
                          x1, y1, x2, y2, css);
  }
  void Box(double x, double y, double w, double h, absl::string_view attributes) {
    absl::StrAppendFormat(&body_,
                          "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" %s/>\n", x, y,
                          w, h, attributes);
  }
  void Raw(absl::string_view text) { absl::StrAppend(&body_, text); }
  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

/// Where the middle of thing number `index` of `count` stands on an axis.
double Place(std::int64_t index, std::int64_t count, double length) {
  return (static_cast<double>(index) + 0.5) * length / static_cast<double>(count);
}

absl::Status DrawMap(const HeatMap& map, Drawing& drawing) {
  absl::StatusOr<std::string> png = EncodePng(MapRaster(map, kImageWidth, kImageHeight), {});
  if (!png.ok()) return png.status();
  drawing.Raw(absl::StrFormat(
      "<image x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,%s\"/>\n",
      kLeft, kMapTop, kMapWidth, kMapHeight, absl::Base64Escape(*png)));
  drawing.Box(kLeft, kMapTop, kMapWidth, kMapHeight, "class=\"frame\"");
  for (std::int64_t tick : Ticks(0, map.row_width - 1)) {
    const double x = kLeft + Place(tick, map.row_width, kMapWidth);
    drawing.Line(x, kMapTop + kMapHeight, x, kMapTop + kMapHeight + 5, "tick");
    drawing.Text(x, kMapTop + kMapHeight + 20, "m", absl::StrCat(tick));
  }
  for (std::int64_t tick : Ticks(map.start, map.start + map.count - 1)) {
    const double y = kMapTop + Place(tick - map.start, map.count, kMapHeight);
    drawing.Line(kLeft - 5, y, kLeft, y, "tick");
    drawing.Text(kLeft - 9, y + 4, "e", absl::StrCat(tick));
  }
  drawing.Text(kLeft + kMapWidth / 2, kMapTop + kMapHeight + 42, "m axis", "column");
  drawing.Text(kLeft, kMapTop - 12, "e axis", "position");
  return absl::OkStatus();
}

void DrawScale(const HeatMap& map, Drawing& drawing) {
  drawing.Raw("<defs><linearGradient id=\"scale\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">\n");
  for (int i = 0; i <= 12; ++i) {
    drawing.Raw(absl::StrFormat("<stop offset=\"%.4g\" stop-color=\"%s\"/>\n", i / 12.0,
                                Hex(DivergingColor(1 - i / 6.0))));
  }
  drawing.Raw("</linearGradient></defs>\n");
  drawing.Box(kScaleLeft, kMapTop, kScaleWidth, kMapHeight,
              "fill=\"url(#scale)\" stroke=\"#6e747c\"");
  for (int i : {-1, 0, 1}) {
    const double y = kMapTop + (1 - i) * kMapHeight / 2;
    drawing.Line(kScaleLeft + kScaleWidth, y, kScaleLeft + kScaleWidth + 5, y, "tick");
    drawing.Text(kScaleLeft + kScaleWidth + 9, y + 4, "s", absl::StrFormat("%.3g", i * map.limit));
  }
}

void DrawBars(const std::vector<double>& frequencies, Drawing& drawing) {
  const Bars bars = LadderBars(frequencies, static_cast<std::int64_t>(kMapWidth));
  const int decades = bars.highest_decade - bars.lowest_decade;
  const int step = (decades + 9) / 10;
  for (int decade = 0; decade <= decades; decade += step) {
    const double y = kBarsTop + kBarsHeight - kBarsHeight * decade / decades;
    drawing.Line(kLeft, y, kLeft + kMapWidth, y, "grid");
    drawing.Text(kLeft - 9, y + 4, "e",
                 absl::StrFormat("10<tspan dy=\"-5\" class=\"power\">%d</tspan>",
                                 bars.lowest_decade + decade));
  }
  const auto count = static_cast<double>(bars.heights.size());
  const double width = kMapWidth / count;
  for (std::size_t i = 0; i < bars.heights.size(); ++i) {
    const double height = bars.heights[i] * kBarsHeight;
    drawing.Box(kLeft + static_cast<double>(i) * width + width * 0.08,
                kBarsTop + kBarsHeight - height, width * 0.84, height, "class=\"bar\"");
  }
  drawing.Box(kLeft, kBarsTop, kMapWidth, kBarsHeight, "class=\"frame\"");
  for (std::int64_t tick : Ticks(0, bars.pairs - 1)) {
    const double x = kLeft + Place(tick, bars.pairs, kMapWidth);
    drawing.Line(x, kBarsTop + kBarsHeight, x, kBarsTop + kBarsHeight + 5, "tick");
    drawing.Text(x, kBarsTop + kBarsHeight + 20, "m", absl::StrCat(tick));
  }
  drawing.Text(kLeft + kMapWidth / 2, kBarsTop + kBarsHeight + 42, "m axis", "pair");
  drawing.Text(kLeft, kBarsTop - 12, "s axis", "frequency, radians per position");
}

}  // namespace

absl::StatusOr<std::string> DrawSvg(const Plot& plot) {
  Drawing drawing;
  drawing.Text(kLeft, 38, "title", plot.title);
  drawing.Text(kLeft, 60, "subtitle", plot.subtitle);
  absl::Status status = DrawMap(plot.map, drawing);
  if (!status.ok()) return status;
  DrawScale(plot.map, drawing);
  double height = kMapTop + kMapHeight + kBottom;
  if (!plot.frequencies.empty()) {
    DrawBars(plot.frequencies, drawing);
    height = kBarsTop + kBarsHeight + kBottom;
  }
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
      "height=\"%g\" role=\"img\">\n"
      "<title>%s</title>\n"
      "<style>\n"
      "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#3b4148}\n"
      ".title{font-size:18px;font-weight:600;fill:#1d2126}\n"
      ".subtitle{fill:#6e747c}.axis{fill:#6e747c}.power{font-size:9px}\n"
      ".m{text-anchor:middle}.e{text-anchor:end}\n"
      ".frame{fill:none;stroke:#6e747c}.tick{stroke:#6e747c}.grid{stroke:#e2e5e9}\n"
      ".bar{fill:%s}\n"
      "</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
      "%s</svg>\n",
      kWidth, height, kWidth, height, plot.title, Hex(kBarColor), drawing.body());
}

}  // namespace phasor::cli
