#include "tests/integration/chaos/walked_rows.h"

#include <quadmath.h>

#include <cstddef>

namespace phasor::chaos {

// Of each range the first row by sincosq; from row to row one rotation, whose
// error after 4096 of them is below 2^-98: far from what decides a rounding to
// float32, but where a sine is 0, at position 0, which is none of them.
WalkedRows::WalkedRows() : rows_(static_cast<std::size_t>(kRanges * kRows * kWidth)) {
  for (std::int64_t i = 0; i < kWidth / 2; ++i) {
    const __float128 exponent = -2 * static_cast<__float128>(i) / static_cast<__float128>(kWidth);
    const __float128 frequency = powq(static_cast<__float128>(10000), exponent);
    __float128 sin_step = 0;
    __float128 cos_step = 0;
    sincosq(frequency, &sin_step, &cos_step);
    for (std::int64_t range = 0; range < kRanges; ++range) {
      __float128 s = 0;
      __float128 c = 0;
      sincosq(static_cast<__float128>(First(range)) * frequency, &s, &c);
      for (std::int64_t row = 0; row < kRows; ++row) {
        float* const pair =
            &rows_[static_cast<std::size_t>((range * kRows + row) * kWidth + 2 * i)];
        pair[0] = static_cast<float>(s);
        pair[1] = static_cast<float>(c);
        const __float128 next = s * cos_step + c * sin_step;
        c = c * cos_step - s * sin_step;
        s = next;
      }
    }
  }
}

const float* WalkedRows::At(std::int64_t position) const {
  const std::int64_t range = (position - 1) / kStride;
  if (position < 1 || range >= kRanges) return nullptr;
  const std::int64_t row = position - First(range);
  if (row < 0 || row >= kRows) return nullptr;
  return &rows_[static_cast<std::size_t>((range * kRows + row) * kWidth)];
}

}  // namespace phasor::chaos
