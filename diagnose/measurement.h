#ifndef PHASOR_DIAGNOSE_MEASUREMENT_H_
#define PHASOR_DIAGNOSE_MEASUREMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/arrangement.h"
#include "diagnose/sample.h"

namespace phasor::diagnose {

/// What the rows say of themselves, if pairs stand as an arrangement has them.
struct Measurement {
  /// Radians a row, of either sign, and how far they may be off.
  std::vector<double> frequencies;
  std::vector<double> errors;
  /// The length of pairs, the same for all.
  double factor = 1;
  /// Most angles grow (1) or fall (-1) from row to row.
  int direction = 1;
  /// The position of the sample's first row, sines having that direction; nothing
  /// where it cannot be told.
  std::optional<double> first_position;
};

/// Nothing where these are no pairs of sines and cosines of an angle that grows
/// evenly, or there are too few rows.
std::optional<Measurement> Measure(const Sample& sample, const Arrangement& arrangement);

}  // namespace phasor::diagnose

#endif  // PHASOR_DIAGNOSE_MEASUREMENT_H_
