#include "client/cli/plot_png.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>

namespace phasor::cli {
namespace {

constexpr Color kPaper{255, 255, 255};
constexpr Color kGrid{226, 229, 233};
constexpr int kMargin = 24;
constexpr int kScaleWidth = 18;
constexpr int kScaleGap = 16;
constexpr int kBarsHeight = 150;
constexpr int kTick = 6;

void Append(png_structp png, png_bytep data, png_size_t size) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(data), size);
}
void Flush(png_structp) {}

/// libpng reports errors by longjmp, so nothing with a destructor lives here.
bool WritePng(png_structp png, png_infop info, const Raster& raster, png_textp texts,
              int text_count) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_IHDR(png, info, static_cast<png_uint_32>(raster.width),
               static_cast<png_uint_32>(raster.height), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_text(png, info, texts, text_count);
  png_write_info(png, info);
  static_assert(sizeof(Color) == 3);
  for (int y = 0; y < raster.height; ++y) {
    png_write_row(png, reinterpret_cast<png_const_bytep>(
                           raster.pixels.data() + static_cast<std::ptrdiff_t>(y) * raster.width));
  }
  png_write_end(png, info);
  return true;
}

void DrawFrame(Raster& raster, int x, int y, int w, int h) {
  raster.Fill(x - 1, y - 1, w + 2, 1, kFrameColor);
  raster.Fill(x - 1, y + h, w + 2, 1, kFrameColor);
  raster.Fill(x - 1, y - 1, 1, h + 2, kFrameColor);
  raster.Fill(x + w, y - 1, 1, h + 2, kFrameColor);
}

void DrawScale(Raster& raster, int x, int y, int h) {
  for (int i = 0; i < h; ++i) {
    raster.Fill(x, y + i, kScaleWidth, 1, DivergingColor(1 - 2.0 * i / (h - 1)));
  }
  DrawFrame(raster, x, y, kScaleWidth, h);
  for (int i : {0, h / 2, h - 1}) raster.Fill(x + kScaleWidth + 1, y + i, kTick, 1, kFrameColor);
}

void DrawBars(Raster& raster, const Bars& bars, int x, int y, int w) {
  const int decades = bars.highest_decade - bars.lowest_decade;
  for (int decade = 0; decade <= decades; ++decade) {
    const int line = y + decade * (kBarsHeight - 1) / decades;
    raster.Fill(x, line, w, 1, kGrid);
    raster.Fill(x - 1 - kTick, line, kTick, 1, kFrameColor);
  }
  const auto count = static_cast<int>(bars.heights.size());
  for (int i = 0; i < count; ++i) {
    const int left = x + static_cast<int>(static_cast<std::int64_t>(i) * w / count);
    const int right = x + static_cast<int>(static_cast<std::int64_t>(i + 1) * w / count);
    const int gap = right - left > 3 ? 1 : 0;
    const int height = static_cast<int>(std::lround(bars.heights[i] * kBarsHeight));
    raster.Fill(left, y + kBarsHeight - height, right - left - gap, height, kBarColor);
  }
  DrawFrame(raster, x, y, w, kBarsHeight);
}

}  // namespace

void Raster::Fill(int x, int y, int w, int h, Color color) {
  for (int row = y; row < y + h; ++row) std::fill_n(&at(x, row), w, color);
}

absl::StatusOr<std::string> EncodePng(
    const Raster& raster, const std::vector<std::pair<std::string, std::string>>& texts) {
  std::string encoded;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  if (info == nullptr) {
    png_destroy_write_struct(&png, nullptr);
    return absl::InternalError("libpng does not start");
  }
  png_set_write_fn(png, &encoded, Append, Flush);
  std::vector<png_text> entries(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    entries[i].compression = PNG_TEXT_COMPRESSION_NONE;
    entries[i].key = const_cast<char*>(texts[i].first.c_str());
    entries[i].text = const_cast<char*>(texts[i].second.c_str());
    entries[i].text_length = texts[i].second.size();
  }
  const bool written =
      WritePng(png, info, raster, entries.data(), static_cast<int>(entries.size()));
  png_destroy_write_struct(&png, &info);
  if (!written) return absl::InternalError("libpng cannot write the image");
  return encoded;
}

Raster MapRaster(const HeatMap& map, int most_width, int most_height) {
  const auto rows = static_cast<int>(map.rows), columns = static_cast<int>(map.columns);
  const int across = std::max(1, most_width / columns), down = std::max(1, most_height / rows);
  Raster raster(columns * across, rows * down, kPaper);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      raster.Fill(x * across, y * down, across, down, DivergingColor(map.Value(y, x)));
    }
  }
  return raster;
}

absl::StatusOr<std::string> DrawPng(const Plot& plot) {
  Raster map = MapRaster(plot.map, kPngMostColumns, kPngMostRows);
  const int map_width = map.width, map_height = map.height;
  const int bars_space = plot.frequencies.empty() ? 0 : kMargin + kBarsHeight;
  Raster image(2 * kMargin + map_width + kScaleGap + kScaleWidth + kTick,
               2 * kMargin + map_height + bars_space, kPaper);
  for (int y = 0; y < map_height; ++y) {
    std::copy_n(&map.at(0, y), map_width, &image.at(kMargin, kMargin + y));
  }
  DrawFrame(image, kMargin, kMargin, map_width, map_height);
  DrawScale(image, kMargin + map_width + kScaleGap, kMargin, map_height);
  if (!plot.frequencies.empty()) {
    DrawBars(image, LadderBars(plot.frequencies, map_width), kMargin, 2 * kMargin + map_height,
             map_width);
  }
  return EncodePng(image, {{"Title", plot.title}, {"Description", plot.subtitle}});
}

}  // namespace phasor::cli
