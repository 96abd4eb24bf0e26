#ifndef PHASOR_TESTS_PROOF_HARD_CASES_H_
#define PHASOR_TESTS_PROOF_HARD_CASES_H_

/// \file
/// Elements whose real value lies next to a rounding midpoint of their type, or
/// next to zero (tests/golden/hard_cases.tsv, found by mine.cc).

#include <cstdint>
#include <string>
#include <vector>

#include "phasor/core/element_type.h"
#include "phasor/core/spec.h"

namespace phasor::proof {

struct HardCase {
  ElementType type;
  std::string ladder;  ///< paper, inclusive, downscaled, explicit
  std::int64_t width;  ///< 2 for explicit
  double base;         ///< 0 for explicit
  double parameter;    ///< the downscale shift, or the one frequency
  std::int64_t position;
  std::int64_t pair;
  bool sine;
  std::uint64_t bits;  ///< as it has to be rounded
  bool near_zero;      ///< else near a midpoint
  /// log2 of the distance from the midpoint in units of the last place, or of
  /// the value itself.
  double log2_distance;
  /// Formats (float32, binary64, extended) by way of which the rounding is
  /// wrong, separated by commas; "-" if there is none.
  std::string wrong_through;

  Sinusoidal Spec() const;
};

/// The cases in a file, in its order.
std::vector<HardCase> LoadHardCases(const std::string& path);
/// Writes them, with lines of comment above.
void SaveHardCases(const std::string& path, const std::string& head,
                   const std::vector<HardCase>& cases);

}  // namespace phasor::proof

#endif  // PHASOR_TESTS_PROOF_HARD_CASES_H_
