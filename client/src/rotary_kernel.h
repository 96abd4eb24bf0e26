#ifndef PHASOR_CLIENT_SRC_ROTARY_KERNEL_H_
#define PHASOR_CLIENT_SRC_ROTARY_KERNEL_H_

#include <cstdint>

#include "phasor/elements.h"

namespace phasor::internal {

/// Heads that follow each other in memory, of which the first 2 * pairs elements
/// are turned.
struct Heads {
  std::int64_t count;
  std::int64_t width;
  std::int64_t pairs;
};

/// Turns the pairs x[i], x[pairs + i] of every head: (a c - b s, a s + b c) with
/// c = cos[i], s = sin[i]. Without fused operations, so that the bits are the
/// same for every vector length.
void RotateHalfSplit(float* x, const Heads& heads, const float* cos, const float* sin);
void RotateHalfSplit(Bfloat16* x, const Heads& heads, const float* cos, const float* sin);

/// The same for pairs x[2i], x[2i + 1].
void RotateInterleaved(float* x, const Heads& heads, const float* cos, const float* sin);
void RotateInterleaved(Bfloat16* x, const Heads& heads, const float* cos, const float* sin);

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_ROTARY_KERNEL_H_
