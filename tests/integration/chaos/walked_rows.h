#ifndef PHASOR_TESTS_INTEGRATION_CHAOS_WALKED_ROWS_H_
#define PHASOR_TESTS_INTEGRATION_CHAOS_WALKED_ROWS_H_

#include <cstdint>
#include <vector>

namespace phasor::chaos {

/// The rows that sequences may walk, made by the formula in binary128: rows
/// First(range) ... + kRows - 1 of the sinusoidal table of width kWidth, base
/// 10000, float32. Nothing of core's is used.
class WalkedRows {
 public:
  static constexpr std::int64_t kWidth = 512;
  static constexpr std::int64_t kRanges = 8;
  static constexpr std::int64_t kRows = 4096;       // a range
  static constexpr std::int64_t kStride = 131'000;  // from range to range

  WalkedRows();

  static std::int64_t First(std::int64_t range) { return range * kStride + 1; }
  /// kWidth floats; null if the row is none of the walked.
  const float* At(std::int64_t position) const;

 private:
  std::vector<float> rows_;
};

}  // namespace phasor::chaos

#endif  // PHASOR_TESTS_INTEGRATION_CHAOS_WALKED_ROWS_H_
