#ifndef PHASOR_CLIENT_CLI_PLOT_PNG_H_
#define PHASOR_CLIENT_CLI_PLOT_PNG_H_

/// \file
/// Plots, and parts of them, as PNG.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/plot_colors.h"
#include "client/cli/plot_data.h"

namespace phasor::cli {

/// An image, row by row from the top.
struct Raster {
  Raster(int w, int h, Color color)
      : width(w),
        height(h),
        pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), color) {}

  Color& at(int x, int y) {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(x)];
  }
  /// Fills x ... x+w-1, y ... y+h-1, all of it inside.
  void Fill(int x, int y, int w, int h, Color color);

  int width;
  int height;
  std::vector<Color> pixels;
};

/// The PNG file of an image, with texts (keyword, Latin-1 text) beside it.
///
/// **Errors**: INTERNAL if libpng refuses.
absl::StatusOr<std::string> EncodePng(
    const Raster& raster, const std::vector<std::pair<std::string, std::string>>& texts);

/// The cells alone: each as many whole pixels wide and high as fit `most_width`
/// and `most_height`, but at least one.
Raster MapRaster(const HeatMap& map, int most_width, int most_height);

/// Most cells of a PNG's heat map.
inline constexpr std::int64_t kPngMostRows = 560;
inline constexpr std::int64_t kPngMostColumns = 960;

/// Heat map, scale of its colours, and the ladder as bars. Title and subtitle
/// are the file's texts Title and Description.
absl::StatusOr<std::string> DrawPng(const Plot& plot);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_PLOT_PNG_H_
