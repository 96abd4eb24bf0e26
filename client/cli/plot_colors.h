#ifndef PHASOR_CLIENT_CLI_PLOT_COLORS_H_
#define PHASOR_CLIENT_CLI_PLOT_COLORS_H_

#include <cstdint>

namespace phasor::cli {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Color&) const = default;
};

/// The colour of a value in -1 ... 1: blue below zero, almost white at zero,
/// red above; equally dark at equal distance from zero, so that it can be told
/// apart in grey but for the sign. Grey for NaN.
Color DivergingColor(double value);

/// The nearest colour of a terminal's 256, by its number.
int TerminalColor(Color color);

inline constexpr Color kBarColor{58, 110, 165};
inline constexpr Color kFrameColor{110, 116, 124};

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_PLOT_COLORS_H_
