#ifndef PHASOR_DIAGNOSE_LADDER_GUESS_H_
#define PHASOR_DIAGNOSE_LADDER_GUESS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "phasor/diagnose/diagnosis.h"

namespace phasor::diagnose {

/// Frequencies that a table may have, and what that would be.
struct LadderGuess {
  std::vector<double> frequencies;
  double factor = 1;  ///< attention factor
  std::vector<Finding> findings;
  /// How far-fetched it is: 0 is what it should be.
  double cost = 0;
};

/// The ladder of `spec` itself, at the front, then those that it is taken for: of
/// another usual base, without its scaling or with it twice, with the other
/// exponents, ... Not for tables without frequencies.
std::vector<LadderGuess> LaddersLike(const CanonicalSpec& spec,
                                     const std::vector<DiagnoseOptions::Other>& others);

/// Angles as they were measured: see measurement.h.
struct Measurement;

/// Geometric ladders that fit measured frequencies: of any base, of exponents over
/// another width, all divided by a number.
std::vector<LadderGuess> LaddersThatFit(const CanonicalSpec& spec, const Measurement& measured);

/// A number for people: as short as it may be within its relative error.
double ShortestWithin(double value, double relative_error);

}  // namespace phasor::diagnose

#endif  // PHASOR_DIAGNOSE_LADDER_GUESS_H_
