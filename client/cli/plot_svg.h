#ifndef PHASOR_CLIENT_CLI_PLOT_SVG_H_
#define PHASOR_CLIENT_CLI_PLOT_SVG_H_

/// \file
/// Plots as SVG.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/plot_data.h"

namespace phasor::cli {

/// Most cells of an SVG's heat map.
inline constexpr std::int64_t kSvgMostRows = 512;
inline constexpr std::int64_t kSvgMostColumns = 1024;

/// Title, heat map with axes and the scale of its colours, and the ladder as
/// bars. The cells are an image inside the drawing.
absl::StatusOr<std::string> DrawSvg(const Plot& plot);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_PLOT_SVG_H_
