#ifndef PHASOR_CORE_TIMESTEP_H_
#define PHASOR_CORE_TIMESTEP_H_

/// \file
/// Timestep embeddings of diffusion models.

#include <cstdint>
#include <optional>

#include "phasor/core/sinusoidal.h"

namespace phasor {

inline constexpr double kDefaultMaxPeriod = 10000.0;

/// Rows of sines, then cosines, of timesteps (diffusers' get_timestep_embedding,
/// whose arguments' names the fields have): pair i of row t is
/// (sin(t w_i), cos(t w_i)), w_i = scale * max_period^(-i/(h - shift)),
/// h = floor(width/2). An odd width has a last column that is +0. Timesteps may
/// be fractional (positions of binary64).
struct Timestep {
  std::int64_t width = 0;                 ///< 2 ... 65536; required
  double max_period = kDefaultMaxPeriod;  ///< 1 < max_period <= 2^64
  /// 0 ... h - 1/2; required, as models use 0 and 1 alike. (So width 2 or 3 has
  /// no shift of 1: its one frequency would be 0/0.)
  std::optional<double> downscale_freq_shift;
  double scale = 1;              ///< what every angle is multiplied by: 2^-32 ... 2^32
  bool flip_sin_to_cos = false;  ///< cosines before sines
  bool operator==(const Timestep&) const = default;
};

}  // namespace phasor

#endif  // PHASOR_CORE_TIMESTEP_H_
