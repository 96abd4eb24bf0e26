#ifndef PHASOR_DIAGNOSE_HYPOTHESIS_H_
#define PHASOR_DIAGNOSE_HYPOTHESIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/arrangement.h"
#include "diagnose/ladder_guess.h"
#include "diagnose/sample.h"

namespace phasor::diagnose {

/// How precisely angles are computed, from the best on.
enum class Angles : std::uint8_t { kFloat64, kFloat32, kFloat32Product, kFloat16, kBfloat16 };

/// One way in which a table of sines and cosines may have come about:
/// sign * factor * sin((first + direction * position) * w_i), and so on.
struct Hypothesis {
  Arrangement arrangement;
  const LadderGuess* ladder = nullptr;
  double first = 0;
  int direction = 1;  ///< 0: the same row everywhere
  int sign = 1;       ///< of sines
  double factor = 1;
  std::vector<Finding> findings;
  double cost = 0;

  // By Try():
  Angles angles = Angles::kFloat64;
  std::int64_t tried = 0;
  std::int64_t given = 0;  ///< of those, elements that it gives
  double share() const {
    return tried == 0 ? 0 : static_cast<double>(given) / static_cast<double>(tried);
  }
};

/// Tries a hypothesis: its angles are the best ones that give the sample's
/// elements, if any do.
bool Try(const Sample& sample, Hypothesis* hypothesis);

/// The share of elements that it gives by angles of float64.
double PreciseShare(const Sample& sample, const Hypothesis& hypothesis);

/// What explains a sample of a table of sines and cosines.
struct Explanation {
  std::optional<Hypothesis> best;
  std::vector<std::string> also;
  std::vector<LadderGuess> ladders;  ///< what hypotheses refer to
  std::vector<LadderGuess> fitted;
  /// Of the right table.
  double right = 0;
  std::int64_t tried = 0;
  /// Where nothing explains the sample, but its pairs turn evenly.
  std::optional<Finding> frequencies;
};

Explanation Explain(const CanonicalSpec& spec, const Sample& sample,
                    const std::vector<DiagnoseOptions::Other>& others);

}  // namespace phasor::diagnose

#endif  // PHASOR_DIAGNOSE_HYPOTHESIS_H_
