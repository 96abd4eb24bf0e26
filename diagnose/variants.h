#ifndef PHASOR_DIAGNOSE_VARIANTS_H_
#define PHASOR_DIAGNOSE_VARIANTS_H_

#include <vector>

#include "diagnose/sample.h"
#include "phasor/diagnose/diagnosis.h"

namespace phasor::diagnose {

/// What explains a sample of a table without sines and cosines: the first of
/// ALiBi's, T5's and the seeded tables' variants that gives it.
struct VariantExplanation {
  std::vector<Finding> findings;
  double explained = 0;  ///< the share of elements that the best one gives
  double right = 0;      ///< that the right table gives
  std::int64_t tried = 0;
};

VariantExplanation ExplainVariants(const CanonicalSpec& spec, const Sample& sample);

}  // namespace phasor::diagnose

#endif  // PHASOR_DIAGNOSE_VARIANTS_H_
