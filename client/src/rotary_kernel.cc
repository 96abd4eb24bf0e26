#include "client/src/rotary_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "client/src/rotary_kernel.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace phasor::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What is left of a head takes vectors of one lane, by the same code.
using Wide = hn::ScalableTag<float>;
using Single = hn::CappedTag<float, 1>;

template <typename D>
using Bits = hn::Rebind<std::uint32_t, D>;

// The bits of v rounded to bfloat16, in the upper half of each lane; NaN stays
// NaN. hn::DemoteTo truncates.
template <typename D, typename V = hn::Vec<D>>
HWY_INLINE hn::Vec<Bits<D>> UpperHalfRounded(D /*d*/, V v) {
  const Bits<D> u;
  const auto bits = hn::BitCast(u, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1));
  const auto rounded = hn::Add(bits, hn::Add(hn::Set(u, 0x7FFF), odd));
  const auto quiet = hn::Or(bits, hn::Set(u, 0x400000));
  const auto chosen = hn::IfThenElse(hn::RebindMask(u, hn::IsNaN(v)), quiet, rounded);
  return hn::And(chosen, hn::Set(u, 0xFFFF0000));
}

template <typename D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <typename D>
HWY_INLINE void StoreFloats(D d, hn::Vec<D> v, float* to) {
  hn::StoreU(v, d, to);
}
template <typename D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const Bfloat16* from) {
  const hn::Rebind<std::uint16_t, D> half;
  const auto wide =
      hn::PromoteTo(Bits<D>(), hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(wide));
}
template <typename D>
HWY_INLINE void StoreFloats(D d, hn::Vec<D> v, Bfloat16* to) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::Rebind<std::int32_t, D> i;
  const auto narrow = hn::BitCast(i, hn::ShiftRight<16>(UpperHalfRounded(d, v)));
  hn::StoreU(hn::DemoteTo(half, narrow), half, reinterpret_cast<std::uint16_t*>(to));
}

// a c - b s and a s + b c.
template <typename V>
struct Pair {
  V a;
  V b;
};
template <typename V>
HWY_INLINE Pair<V> Turned(Pair<V> x, V c, V s) {
  return {hn::Sub(hn::Mul(x.a, c), hn::Mul(x.b, s)), hn::Add(hn::Mul(x.a, s), hn::Mul(x.b, c))};
}

template <typename D, typename T>
HWY_INLINE void TurnHalves(D d, T* x, std::int64_t pairs, const float* cos, const float* sin) {
  const Pair<hn::Vec<D>> turned = Turned<hn::Vec<D>>({LoadFloats(d, x), LoadFloats(d, x + pairs)},
                                                     LoadFloats(d, cos), LoadFloats(d, sin));
  StoreFloats(d, turned.a, x);
  StoreFloats(d, turned.b, x + pairs);
}

template <typename T>
HWY_INLINE void HalfSplit(T* x, const Heads& heads, const float* cos, const float* sin) {
  const Wide wide;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  for (std::int64_t head = 0; head < heads.count; ++head, x += heads.width) {
    std::int64_t i = 0;
    for (; i + lanes <= heads.pairs; i += lanes) {
      TurnHalves(wide, x + i, heads.pairs, cos + i, sin + i);
    }
    for (; i < heads.pairs; ++i) TurnHalves(Single(), x + i, heads.pairs, cos + i, sin + i);
  }
}

template <typename D>
HWY_INLINE void TurnNeighbours(D d, float* x, const float* cos, const float* sin) {
  Pair<hn::Vec<D>> pair;
  hn::LoadInterleaved2(d, x, pair.a, pair.b);
  pair = Turned(pair, LoadFloats(d, cos), LoadFloats(d, sin));
  hn::StoreInterleaved2(pair.a, pair.b, d, x);
}
// Two neighbours are one word, the second in its upper half.
template <typename D>
HWY_INLINE void TurnNeighbours(D d, Bfloat16* x, const float* cos, const float* sin) {
  const Bits<D> u;
  auto* const words = reinterpret_cast<std::uint32_t*>(x);
  const auto both = hn::LoadU(u, words);
  const Pair<hn::Vec<D>> pair = {hn::BitCast(d, hn::ShiftLeft<16>(both)),
                                 hn::BitCast(d, hn::And(both, hn::Set(u, 0xFFFF0000)))};
  const Pair<hn::Vec<D>> turned = Turned(pair, LoadFloats(d, cos), LoadFloats(d, sin));
  hn::StoreU(
      hn::Or(UpperHalfRounded(d, turned.b), hn::ShiftRight<16>(UpperHalfRounded(d, turned.a))), u,
      words);
}

template <typename T>
HWY_INLINE void Interleaved(T* x, const Heads& heads, const float* cos, const float* sin) {
  const Wide wide;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  for (std::int64_t head = 0; head < heads.count; ++head, x += heads.width) {
    std::int64_t i = 0;
    for (; i + lanes <= heads.pairs; i += lanes) TurnNeighbours(wide, x + 2 * i, cos + i, sin + i);
    for (; i < heads.pairs; ++i) TurnNeighbours(Single(), x + 2 * i, cos + i, sin + i);
  }
}

void HalfSplitFloat(float* x, const Heads& heads, const float* cos, const float* sin) {
  HalfSplit(x, heads, cos, sin);
}
void HalfSplitBfloat16(Bfloat16* x, const Heads& heads, const float* cos, const float* sin) {
  HalfSplit(x, heads, cos, sin);
}
void InterleavedFloat(float* x, const Heads& heads, const float* cos, const float* sin) {
  Interleaved(x, heads, cos, sin);
}
void InterleavedBfloat16(Bfloat16* x, const Heads& heads, const float* cos, const float* sin) {
  Interleaved(x, heads, cos, sin);
}

}  // namespace phasor::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phasor::internal {

HWY_EXPORT(HalfSplitFloat);
HWY_EXPORT(HalfSplitBfloat16);
HWY_EXPORT(InterleavedFloat);
HWY_EXPORT(InterleavedBfloat16);

void RotateHalfSplit(float* x, const Heads& heads, const float* cos, const float* sin) {
  HWY_DYNAMIC_DISPATCH(HalfSplitFloat)(x, heads, cos, sin);
}
void RotateHalfSplit(Bfloat16* x, const Heads& heads, const float* cos, const float* sin) {
  HWY_DYNAMIC_DISPATCH(HalfSplitBfloat16)(x, heads, cos, sin);
}
void RotateInterleaved(float* x, const Heads& heads, const float* cos, const float* sin) {
  HWY_DYNAMIC_DISPATCH(InterleavedFloat)(x, heads, cos, sin);
}
void RotateInterleaved(Bfloat16* x, const Heads& heads, const float* cos, const float* sin) {
  HWY_DYNAMIC_DISPATCH(InterleavedBfloat16)(x, heads, cos, sin);
}

}  // namespace phasor::internal
#endif  // HWY_ONCE
