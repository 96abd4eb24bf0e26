#ifndef PHASOR_CORE_NO_POSITION_H_
#define PHASOR_CORE_NO_POSITION_H_

/// \file
/// Tables of layers without positions (NoPE).

#include <cstdint>

#include "phasor/core/sinusoidal.h"

namespace phasor {

/// Rows that change nothing, the same at every position, for code that applies a
/// table in every layer: what turns queries and keys by it gets cosines of 1 and
/// sines of 0, what adds it zeros.
struct NoPosition {
  std::int64_t width = 0;  ///< 2 ... 65536 and even, from 1 on and odd too if additive; required
  Layout layout = Layout::kCosSinHalves;  ///< of cosines and sines; the default if additive
  bool additive = false;                  ///< rows of `width` zeros
  bool operator==(const NoPosition&) const = default;
};

}  // namespace phasor

#endif  // PHASOR_CORE_NO_POSITION_H_
