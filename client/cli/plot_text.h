#ifndef PHASOR_CLIENT_CLI_PLOT_TEXT_H_
#define PHASOR_CLIENT_CLI_PLOT_TEXT_H_

/// \file
/// Plots as text.

#include <cstdint>
#include <string>

#include "client/cli/plot_data.h"

namespace phasor::cli {

/// How a terminal, or something that is none, shows cells.
enum class Ink : std::uint8_t {
  kShades,     ///< " ░▒▓█" from -limit to limit; no escape sequences
  kColors256,  ///< half blocks in the terminal's 256 colours: two rows a line
  kColors24,   ///< half blocks in 24-bit colours
};

struct Screen {
  int columns = 80;
  int lines = 24;
  Ink ink = Ink::kShades;
};

/// The screen that stdout is: its size, and the colours that TERM, COLORTERM
/// and NO_COLOR say; 80 x 24 in shades where it is not a terminal.
Screen StdoutScreen();

/// Most cells, down and across, that the heat map of rows up to position
/// `last` has on `screen`.
std::int64_t MostRows(const Screen& screen);
std::int64_t MostColumns(const Screen& screen, std::int64_t start, std::int64_t last);

/// Title, heat map (positions down, columns across), and the ladder as bars.
/// `plot` has at most that many cells.
std::string DrawText(const Plot& plot, const Screen& screen);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_PLOT_TEXT_H_
