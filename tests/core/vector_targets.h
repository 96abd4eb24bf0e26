#ifndef PHASOR_TESTS_CORE_VECTOR_TARGETS_H_
#define PHASOR_TESTS_CORE_VECTOR_TARGETS_H_

/// \file
/// Tests of what core computes with vectors, for every kind of vector there is.

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>
#include <string>
#include <vector>

namespace phasor {

/// The kinds of vectors that core is built for and this machine has: Highway's
/// bits, the widest first.
inline std::vector<std::int64_t> VectorTargets() {
  std::vector<std::int64_t> targets;
  hwy::SetSupportedTargetsForTest(0);
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    targets.push_back(left & -left);
  }
  return targets;
}

/// Calls `test` once for each of them, with core using that one alone.
template <typename Test>
void ForEachVectorTarget(const Test& test) {
  for (const std::int64_t target : VectorTargets()) {
    SCOPED_TRACE(std::string("vectors of ") + hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace phasor

#endif  // PHASOR_TESTS_CORE_VECTOR_TARGETS_H_
