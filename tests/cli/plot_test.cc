#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <vector>

#include "client/cli/plot_colors.h"
#include "client/cli/plot_data.h"
#include "client/cli/plot_png.h"
#include "client/cli/plot_svg.h"
#include "client/cli/plot_text.h"

namespace phasor::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Plot SmallPlot() {
  Plot plot;
  plot.title = "sinusoidal, width 4, base 10000";
  plot.subtitle = "float32, fingerprint 0123";
  plot.map = {.start = 5,
              .count = 2,
              .row_width = 4,
              .rows = 2,
              .columns = 4,
              .values = {-1, -0.5, 0, 1, 0.5, 0.5, -1, NAN}};
  plot.frequencies = {1, 0.01};
  return plot;
}

/// Decoded by libpng's other interface.
std::vector<Color> Decode(const std::string& png, int* width, int* height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&image, png.data(), png.size()));
  image.format = PNG_FORMAT_RGB;
  *width = static_cast<int>(image.width);
  *height = static_cast<int>(image.height);
  std::vector<Color> pixels(static_cast<std::size_t>(image.width) * image.height);
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr));
  return pixels;
}

TEST(Sampled, TakesTheMiddleOfEachStretch) {
  EXPECT_EQ(Sampled(0, 4, 4), 0);
  EXPECT_EQ(Sampled(3, 4, 4), 3);
  EXPECT_EQ(Sampled(0, 2, 8), 2);
  EXPECT_EQ(Sampled(1, 2, 8), 6);
  EXPECT_EQ(Sampled(1, 2, 7), 5);
  EXPECT_EQ(Sampled(0, 1, std::int64_t{1} << 62), std::int64_t{1} << 61);
  EXPECT_EQ(Sampled(1023, 1024, std::int64_t{1} << 62),
            (std::int64_t{1} << 62) - (std::int64_t{1} << 51));
}

TEST(SampledColumn, KeepsNeighboursTogether) {
  EXPECT_EQ(SampledColumn(3, 4, 4), 3);
  EXPECT_EQ(SampledColumn(3, 5, 5), 3);
  EXPECT_EQ(SampledColumn(0, 4, 16), 4);
  EXPECT_EQ(SampledColumn(1, 4, 16), 5);
  EXPECT_EQ(SampledColumn(2, 4, 16), 12);
  EXPECT_EQ(SampledColumn(3, 4, 16), 13);
  EXPECT_EQ(SampledColumn(0, 1, 16), 8);
}

TEST(LadderBars, AreHighAsLogarithms) {
  const Bars bars = LadderBars({1, 0.01, 0, -0.1}, 10);
  EXPECT_EQ(bars.highest_decade, 0);
  EXPECT_EQ(bars.lowest_decade, -3);
  ASSERT_EQ(bars.heights.size(), 4U);
  EXPECT_DOUBLE_EQ(bars.heights[0], 1);
  EXPECT_NEAR(bars.heights[1], 1.0 / 3, 1e-12);
  EXPECT_EQ(bars.heights[2], 0);
  EXPECT_NEAR(bars.heights[3], 2.0 / 3, 1e-12);
}

TEST(LadderBars, AreNeverMoreThanAskedFor) {
  const Bars bars = LadderBars(std::vector<double>(1000, 2.0), 10);
  EXPECT_EQ(bars.heights.size(), 10U);
  EXPECT_EQ(bars.pairs, 1000);
  for (double height : bars.heights) {
    EXPECT_GT(height, 0);
    EXPECT_LE(height, 1);
  }
  EXPECT_EQ(LadderBars({0, 0}, 10).heights[0], 0);
}

TEST(DivergingColor, IsPaleAtZeroAndAsDarkOnBothSides) {
  const auto lightness = [](Color c) { return 0.3 * c.red + 0.59 * c.green + 0.11 * c.blue; };
  EXPECT_GT(lightness(DivergingColor(0)), 240);
  EXPECT_EQ(DivergingColor(-0.0), DivergingColor(0.0));
  EXPECT_EQ(DivergingColor(7), DivergingColor(1));
  for (double value = 0; value < 1; value += 0.01) {
    EXPECT_GE(lightness(DivergingColor(value)), lightness(DivergingColor(value + 0.01)));
    EXPECT_GE(lightness(DivergingColor(-value)), lightness(DivergingColor(-value - 0.01)));
    EXPECT_NEAR(lightness(DivergingColor(value)), lightness(DivergingColor(-value)), 16);
  }
  EXPECT_GT(DivergingColor(0.5).red, DivergingColor(0.5).blue);
  EXPECT_LT(DivergingColor(-0.5).red, DivergingColor(-0.5).blue);
}

TEST(TerminalColor, FindsTheCubeAndTheGreys) {
  EXPECT_EQ(TerminalColor({0, 0, 0}), 16);
  EXPECT_EQ(TerminalColor({255, 255, 255}), 231);
  EXPECT_EQ(TerminalColor({255, 0, 0}), 196);
  EXPECT_EQ(TerminalColor({95, 135, 175}), 67);
  EXPECT_EQ(TerminalColor({128, 128, 128}), 244);
}

TEST(DrawText, ShowsCellsAsShadesWithoutEscapes) {
  const std::string text = DrawText(SmallPlot(), {.columns = 13, .lines = 24});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("sinusoidal, width 4, base 10000\nfloat32, fingerprint 0123\n"));
  EXPECT_THAT(text, HasSubstr("\n       5  ░▒█\n"));
  EXPECT_THAT(text, HasSubstr("\n       6 ▓▓ ?\n"));
  EXPECT_THAT(text, HasSubstr("1e0 ██"));
  EXPECT_THAT(text, HasSubstr("1e-3 ██"));
}

TEST(DrawText, PaintsTwoRowsALine) {
  const std::string text =
      DrawText(SmallPlot(), {.columns = 13, .lines = 24, .ink = Ink::kColors24});
  const Color above = DivergingColor(-1), below = DivergingColor(0.5);
  EXPECT_THAT(text, HasSubstr("\n       5 \x1b[38;2;" + std::to_string(above.red) + ";"));
  EXPECT_THAT(text, HasSubstr("\x1b[48;2;" + std::to_string(below.red) + ";"));
  EXPECT_THAT(text, Not(HasSubstr("       6 ")));
  EXPECT_THAT(DrawText(SmallPlot(), {.ink = Ink::kColors256}), HasSubstr("\x1b[38;5;"));
}

TEST(DrawPng, ShowsMapScaleAndBars) {
  const auto png = DrawPng(SmallPlot());
  ASSERT_TRUE(png.ok()) << png.status();
  int width = 0, height = 0;
  const std::vector<Color> pixels = Decode(*png, &width, &height);
  const auto at = [&](int x, int y) { return pixels[static_cast<std::size_t>(y * width + x)]; };
  // Four columns of 240 and two rows of 280 pixels, 24 from the corner.
  EXPECT_EQ(at(24 + 120, 24 + 140), DivergingColor(-1));
  EXPECT_EQ(at(24 + 840, 24 + 140), DivergingColor(1));
  EXPECT_EQ(at(24 + 360, 24 + 420), DivergingColor(0.5));
  EXPECT_EQ(at(24 + 100, 48 + 560 + 75), kBarColor);
  EXPECT_EQ(at(0, 0), (Color{255, 255, 255}));
  EXPECT_THAT(*png, HasSubstr("fingerprint 0123"));
}

TEST(EncodePng, KeepsEveryPixel) {
  Raster raster(3, 2, {1, 2, 3});
  raster.at(2, 1) = {250, 0, 9};
  int width = 0, height = 0;
  EXPECT_EQ(Decode(*EncodePng(raster, {}), &width, &height), raster.pixels);
  EXPECT_EQ(width, 3);
  EXPECT_EQ(height, 2);
}

TEST(DrawSvg, LabelsItsAxes) {
  const auto svg = DrawSvg(SmallPlot());
  ASSERT_TRUE(svg.ok()) << svg.status();
  for (const char* text : {"sinusoidal, width 4", "fingerprint 0123", ">column<", ">position<",
                           ">pair<", "radians per position", "data:image/png;base64,"}) {
    EXPECT_THAT(*svg, HasSubstr(text));
  }
}

}  // namespace
}  // namespace phasor::cli
