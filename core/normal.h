#ifndef PHASOR_CORE_NORMAL_H_
#define PHASOR_CORE_NORMAL_H_

/// \file
/// Normal deviates from a generator's integers.
///
/// Integers a, b of 32 bits stand for u = (a + 1/2) / 2^32 and
/// v = (b + 1/2) / 2^32 and give two independent deviates of N(0, 1),
/// sqrt(-2 ln u) cos(2 pi v) and sqrt(-2 ln u) sin(2 pi v). None is zero, none
/// is below 2^-47 or above 6.77 in magnitude, none is rational.
/// Source: Box and Muller, "A note on the generation of random normal
/// deviates", 1958.
///
/// Three ways to the same two numbers, each dearer than the one before. All
/// want the floating-point environment of fp_environment.h; any thread.

#include <cstdint>

#include "core/double_double.h"
#include "phasor/core/element_type.h"

namespace phasor {

/// What the deviates are made of.
struct UniformPair {
  std::uint32_t a;
  std::uint32_t b;
};

template <typename T>
struct NormalPair {
  T cosine;
  T sine;
};

/// Bound of the relative error of each number below.
inline constexpr double kEstimateNormalsError = 0x1p-48;
inline constexpr double kNormalsError = 0x1p-97;

/// In binary64, within kEstimateNormalsError.
NormalPair<double> EstimateNormals(UniformPair uniforms);

/// In double-double, within kNormalsError.
NormalPair<DoubleDouble> Normals(UniformPair uniforms);

/// stddev times the cosine's deviate, or the sine's, rounded once. Precision
/// grows until the rounding is beyond doubt; it ends, for no deviate is a tie.
std::uint64_t RoundNormal(ElementType type, double stddev, UniformPair uniforms, bool sine);

}  // namespace phasor

#endif  // PHASOR_CORE_NORMAL_H_
