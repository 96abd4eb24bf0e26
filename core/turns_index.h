#ifndef PHASOR_CORE_TURNS_INDEX_H_
#define PHASOR_CORE_TURNS_INDEX_H_

/// \file
/// Which pair of a rotary ladder makes a given number of turns in a given
/// number of positions: where YaRN and llama3 set their thresholds.

#include <mpfr.h>

#include <cstdint>

namespace phasor {

/// c(turns) = h ln(M / (2 pi turns)) / ln base: pair i makes more turns than
/// that in M positions exactly if i < c(turns).
///
/// c is never rational: base^(c/h) is M / (2 pi turns), which is transcendental.
/// So it is on a known side of every rational number. Callers hold an MpfrScope.
class TurnsIndex {
 public:
  TurnsIndex(std::int64_t pairs, double base, std::int64_t positions)
      : pairs_(pairs), base_(base), positions_(positions) {}

  /// c(turns) to the precision of `out`.
  /// **Accuracy**: within 2^(e - precision), where e is the result.
  mpfr_exp_t Value(double turns, mpfr_ptr out) const;

  /// floor(c(turns) + thousandths/1000), cut to -4 h ... 4 h. Exact.
  std::int64_t Floor(double turns, std::int64_t thousandths = 0) const;

 private:
  std::int64_t pairs_;
  double base_;
  std::int64_t positions_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_TURNS_INDEX_H_
