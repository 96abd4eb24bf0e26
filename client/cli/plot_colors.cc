#include "client/cli/plot_colors.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace phasor::cli {
namespace {

// From zero outwards.
constexpr Color kNegative[] = {{247, 246, 242}, {156, 193, 221}, {64, 125, 182}, {18, 50, 105}};
constexpr Color kPositive[] = {{247, 246, 242}, {240, 178, 142}, {207, 86, 62}, {112, 16, 38}};
constexpr int kSteps = 3;

std::uint8_t Mix(std::uint8_t a, std::uint8_t b, double share) {
  return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
}

/// Index 0 ... 5 in the terminal's cube of colours, whose levels are not even.
int CubeIndex(int level) { return level < 48 ? 0 : level < 115 ? 1 : (level - 35) / 40; }
int CubeLevel(int index) { return index == 0 ? 0 : 55 + 40 * index; }

}  // namespace

Color DivergingColor(double value) {
  if (std::isnan(value)) return {128, 128, 128};
  const Color* stops = value < 0 ? kNegative : kPositive;
  const double place = std::min(std::abs(value), 1.0) * kSteps;
  const int below = std::min(static_cast<int>(place), kSteps - 1);
  const double share = place - below;
  const Color a = stops[below], b = stops[below + 1];
  return {Mix(a.red, b.red, share), Mix(a.green, b.green, share), Mix(a.blue, b.blue, share)};
}

int TerminalColor(Color color) {
  const int r = CubeIndex(color.red), g = CubeIndex(color.green), b = CubeIndex(color.blue);
  const int grey = std::clamp((color.red + color.green + color.blue) / 3, 8, 238);
  const int grey_index = (grey - 8 + 5) / 10;
  const auto distance = [color](int red, int green, int blue) {
    const auto square = [](int x) { return x * x; };
    return square(color.red - red) + square(color.green - green) + square(color.blue - blue);
  };
  const int grey_level = 8 + 10 * grey_index;
  const bool cube_is_nearer = distance(CubeLevel(r), CubeLevel(g), CubeLevel(b)) <=
                              distance(grey_level, grey_level, grey_level);
  return cube_is_nearer ? 16 + 36 * r + 6 * g + b : 232 + grey_index;
}

}  // namespace phasor::cli
