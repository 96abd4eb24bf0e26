#ifndef PHASOR_CORE_PAIR_ROWS_H_
#define PHASOR_CORE_PAIR_ROWS_H_

/// \file
/// Sines and cosines of many pairs in binary64, laid out for vectors.

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/turn_sincos.h"

namespace phasor {

/// One row: arrays over the pairs. The low parts are null where there are none.
template <typename Double>
struct BasicPairRow {
  Double* sin = nullptr;
  Double* cos = nullptr;
  Double* sin_lo = nullptr;
  Double* cos_lo = nullptr;

  /// The same without the first pairs.
  BasicPairRow From(std::int64_t first) const {
    const auto from = [first](Double* p) { return p == nullptr ? p : p + first; };
    return {from(sin), from(cos), from(sin_lo), from(cos_lo)};
  }
  SinCos At(std::int64_t i) const {
    SinCos value = {{sin[i], 0}, {cos[i], 0}};
    if (sin_lo == nullptr) return value;
    value.sin.lo = sin_lo[i];
    value.cos.lo = cos_lo[i];
    return value;
  }
  void Set(std::int64_t i, const SinCos& value) const {
    sin[i] = value.sin.hi;
    cos[i] = value.cos.hi;
    if (sin_lo == nullptr) return;
    sin_lo[i] = value.sin.lo;
    cos_lo[i] = value.cos.lo;
  }
};
using PairRow = BasicPairRow<const double>;
using MutablePairRow = BasicPairRow<double>;

/// Rows of pairs, with low parts (a double-double each) or without. Everything
/// is zero at first. Vectors may read up to kOverrun doubles past a row, and
/// write zeros there where the row is the last.
class PairRows {
 public:
  static constexpr std::int64_t kOverrun = 64;

  PairRows(std::int64_t rows, std::int64_t pairs, bool with_low_parts)
      : rows_(rows),
        pairs_(pairs),
        stride_((pairs + kAlignment - 1) / kAlignment * kAlignment),
        array_(rows * stride_ + kOverrun),
        size_(array_ * (with_low_parts ? 4 : 2)),
        with_low_parts_(with_low_parts),
        data_(hwy::AllocateAligned<double>(static_cast<std::size_t>(size_))) {
    std::fill_n(data_.get(), size_, 0.0);
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t pairs() const { return pairs_; }
  bool with_low_parts() const { return with_low_parts_; }
  std::int64_t memory_bytes() const { return size_ * static_cast<std::int64_t>(sizeof(double)); }

  PairRow operator[](std::int64_t r) const { return RowAt<const double>(r); }
  MutablePairRow operator[](std::int64_t r) { return RowAt<double>(r); }

 private:
  // A cache line of 64 bytes.
  static constexpr std::int64_t kAlignment = 8;

  template <typename Double>
  BasicPairRow<Double> RowAt(std::int64_t r) const {
    Double* first = data_.get() + r * stride_;
    if (!with_low_parts_) return {first, first + array_, nullptr, nullptr};
    return {first, first + array_, first + 2 * array_, first + 3 * array_};
  }

  std::int64_t rows_;
  std::int64_t pairs_;
  std::int64_t stride_;
  std::int64_t array_;
  std::int64_t size_;
  bool with_low_parts_;
  hwy::AlignedFreeUniquePtr<double[]> data_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_PAIR_ROWS_H_
