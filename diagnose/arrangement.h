#ifndef PHASOR_DIAGNOSE_ARRANGEMENT_H_
#define PHASOR_DIAGNOSE_ARRANGEMENT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "phasor/core/spec.h"

namespace phasor::diagnose {

/// Where sines and cosines stand in a row: Phasor's layouts, and what else is met.
struct Arrangement {
  enum class Form : std::uint8_t {
    kInterleaved,       ///< x0 y0 x1 y1 ...
    kHalves,            ///< x ... | y ...
    kDuplicatedHalves,  ///< x x | y y
    kDuplicatedPairs,   ///< x0 x0 x1 x1 ... | y0 y0 ...
    kOne,               ///< x ...
    kOneTwice,          ///< x x
    kOneInPairs,        ///< x0 x0 x1 x1 ...
  };

  Form form = Form::kInterleaved;
  bool sine_first = true;
  std::int64_t pairs = 0;
  bool odd_sine = false;  ///< the last pair has a sine alone (OddColumn::kSine)

  bool has_both() const {
    return form != Form::kOne && form != Form::kOneTwice && form != Form::kOneInPairs;
  }
  bool Has(bool sine) const { return has_both() || sine == sine_first; }
  /// The columns of pair i's sine or cosine: one or two of them, -1 for none.
  std::array<std::int64_t, 2> Columns(std::int64_t i, bool sine) const;
  /// The layout that it is, if it is one.
  std::optional<Layout> layout() const;
  /// "SIN_COS_HALVES (sines, then cosines)".
  std::string words() const;
};

/// The arrangement of a spec's rows.
Arrangement ArrangementOf(const CanonicalSpec& spec);

/// Arrangements of `pairs` pairs that have so many columns.
std::vector<Arrangement> ArrangementsOf(std::int64_t pairs, std::int64_t columns);

}  // namespace phasor::diagnose

#endif  // PHASOR_DIAGNOSE_ARRANGEMENT_H_
