// Vectors of sines and cosines put where a layout has them: PlaceRow of layout.h
// for every target, a vector at a time.

#if defined(PHASOR_CORE_LAYOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHASOR_CORE_LAYOUT_INL_H_
#undef PHASOR_CORE_LAYOUT_INL_H_
#else
#define PHASOR_CORE_LAYOUT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/layout.h"

HWY_BEFORE_NAMESPACE();
namespace phasor::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE void Put(V v, std::uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  const auto lane = hn::GetLane(v);
  std::memcpy(to, &lane, sizeof(lane));
#else
  const hn::ScalableTag<std::uint8_t> bytes;
  hn::StoreU(hn::BitCast(bytes, v), bytes, to);
#endif
}

// a[0] b[0] a[1] b[1] ...: two vectors.
template <class V>
HWY_INLINE void PutInterleaved(V a, V b, std::uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  Put(a, to);
  Put(b, to + sizeof(hn::TFromV<V>));
#else
  const hn::DFromV<V> d;
  constexpr std::size_t kBytes = hn::MaxLanes(d) * sizeof(hn::TFromV<V>);
  // Within blocks of 16 bytes; the blocks then have to alternate.
  const V lower = hn::InterleaveLower(d, a, b);
  const V upper = hn::InterleaveUpper(d, a, b);
  if constexpr (kBytes == 16) {
    Put(lower, to);
    Put(upper, to + kBytes);
  } else {
    V first = hn::ConcatLowerLower(d, upper, lower);
    V second = hn::ConcatUpperUpper(d, upper, lower);
    if constexpr (kBytes == 64) {
      const hn::ScalableTag<std::uint64_t> words;
      alignas(64) static constexpr std::uint64_t kAlternate[] = {0, 1, 4, 5, 2, 3, 6, 7};
      const auto order = hn::SetTableIndices(words, kAlternate);
      first = hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(words, first), order));
      second = hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(words, second), order));
    }
    Put(first, to);
    Put(second, to + kBytes);
  }
#endif
}

// Puts a vector of sines and one of cosines, `offset` bytes into the streams.
template <RowForm kForm, class V>
HWY_INLINE void PutPairs(V sines, V cosines, const RowStreams& streams, std::int64_t offset) {
  const auto to = [&](int k) HWY_ATTR {
    return reinterpret_cast<std::uint8_t*>(streams.start[k] + offset);
  };
  if constexpr (kForm == RowForm::kSineFirst) {
    PutInterleaved(sines, cosines, to(0));
  } else if constexpr (kForm == RowForm::kCosineFirst) {
    PutInterleaved(cosines, sines, to(0));
  } else if constexpr (kForm == RowForm::kTwins) {
    PutInterleaved(sines, sines, to(0));
    PutInterleaved(cosines, cosines, to(1));
  } else if constexpr (kForm == RowForm::kSineOnly) {
    Put(sines, to(0));
  } else if constexpr (kForm == RowForm::kCosineOnly) {
    Put(cosines, to(0));
  } else {
    Put(sines, to(0));
    Put(cosines, to(1));
    if (streams.count == 4) {
      Put(sines, to(2));
      Put(cosines, to(3));
    }
  }
}

// The same for the first `pairs` of the vectors alone.
template <RowForm kForm, class V>
HWY_INLINE void PutSomePairs(V sines, V cosines, const RowStreams& streams, std::int64_t offset,
                             std::int64_t pairs) {
  constexpr int kDifferent = 2;  // streams 2 and 3 are copies of 0 and 1
  alignas(64) std::byte whole[kDifferent][2 * sizeof(V)];
  RowStreams local;
  local.start = {whole[0], whole[1]};
  local.count = std::min(streams.count, kDifferent);
  PutPairs<kForm>(sines, cosines, local, 0);
  for (int k = 0; k < streams.count; ++k) {
    std::memcpy(streams.start[k] + offset, whole[k % kDifferent],
                static_cast<std::size_t>(pairs * streams.pair_bytes));
  }
}

}  // namespace phasor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
