// Rounding of vectors to the element types: rounding.h for every target.

#if defined(PHASOR_CORE_ROUNDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHASOR_CORE_ROUNDING_INL_H_
#undef PHASOR_CORE_ROUNDING_INL_H_
#else
#define PHASOR_CORE_ROUNDING_INL_H_
#endif

#include <hwy/highway.h>

#include "core/double_double-inl.h"
#include "core/rounding.h"

HWY_BEFORE_NAMESPACE();
namespace phasor::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What is rounded: the sum of both parts for FLOAT64, one binary64 for others.
template <ElementType kType>
using Unrounded = std::conditional_t<kType == ElementType::kFloat64, DoubleDoubles, Doubles>;

// A vector of elements, and how many vectors of unrounded values make one.
template <ElementType kType>
using ElementTag = hn::ScalableTag<BitsOf<kType>>;
template <ElementType kType>
using Elements = hn::Vec<ElementTag<kType>>;
template <ElementType kType>
inline constexpr std::size_t kParts = HWY_TARGET == HWY_SCALAR
                                          ? 1
                                          : sizeof(double) / sizeof(BitsOf<kType>);
template <ElementType kType>
inline constexpr std::int64_t kElementLanes =
    static_cast<std::int64_t>(kParts<kType>* HWY_LANES(double));

// `doubt` is not zero where numbers within the error round to different bits.
template <ElementType kType>
struct Rounded {
  Elements<kType> bits;
  Elements<kType> doubt;
};

namespace rounding {

using WideTag = hn::ScalableTag<std::uint64_t>;
using Wide = hn::Vec<WideTag>;

HWY_INLINE Elements<ElementType::kFloat32> ToFloats(
    const Doubles (&v)[kParts<ElementType::kFloat32>]) {
  const ElementTag<ElementType::kFloat32> bits;
  const hn::ScalableTag<float> floats;
#if HWY_TARGET == HWY_SCALAR
  return hn::BitCast(bits, hn::DemoteTo(floats, v[0]));
#else
  const hn::Half<decltype(floats)> half;
  return hn::BitCast(bits, hn::Combine(floats, hn::DemoteTo(half, v[1]), hn::DemoteTo(half, v[0])));
#endif
}

// The lowest 16 bits of each.
template <std::size_t kSize>
HWY_INLINE hn::Vec<hn::ScalableTag<std::uint16_t>> ToShorts(const Wide (&v)[kSize]) {
  const hn::ScalableTag<std::uint16_t> shorts;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(shorts, static_cast<std::uint16_t>(hn::GetLane(v[0])));
#else
  const hn::ScalableTag<std::uint32_t> words;
  const auto join = [](auto d, auto lower, auto upper) HWY_ATTR {
    return hn::ConcatEven(d, hn::BitCast(d, upper), hn::BitCast(d, lower));
  };
  return join(shorts, join(words, v[0], v[1]), join(words, v[2], v[3]));
#endif
}

// One part of a 16-bit type, in lanes of 64 bits. By 2^52 q, q the last place of
// the element: a sum with it has q as its own last place, so that adding rounds,
// and its integer counts the q's. q is that of the value. Where value - error is of
// the binade below, whose q is half as large, both still round to the power of two
// between, if the error is below q/4; larger ones are in doubt, and with them all
// whose sign is. For |value| below 2, and infinite errors.
template <ElementType kType>
HWY_INLINE void RoundNarrowPart(Doubles value, Doubles error, Wide& bits, Wide& doubt) {
  constexpr BinaryFormat kFormat = FormatOf(kType);
  constexpr int kFraction = kFormat.precision - 1;
  constexpr int kLeastNormal = kFormat.quantum_exponent + kFraction;
  constexpr std::uint64_t kBias = 1023;
  const DoubleTag d;
  const WideTag wide;
  const Doubles magnitude = hn::Abs(value);
  const Wide exponent =
      hn::And(hn::BitCast(wide, magnitude), hn::Set(wide, std::uint64_t{0x7ff} << 52));
  const Doubles power = hn::Max(hn::BitCast(d, exponent),
                                hn::BitCast(d, hn::Set(wide, (kLeastNormal + kBias) << 52)));
  const Wide counter =
      hn::Add(hn::BitCast(wide, power), hn::Set(wide, std::uint64_t{52 - kFraction} << 52));
  const Wide below = hn::BitCast(wide, hn::Add(hn::Sub(magnitude, error), hn::BitCast(d, counter)));
  const Wide above = hn::BitCast(wide, hn::Add(hn::Add(magnitude, error), hn::BitCast(d, counter)));
  // q is at least 2^-precision of the magnitude. Where this is not negative the two
  // differ by a q at most.
  const Doubles room =
      hn::NegMulAdd(error, Broadcast(std::uint64_t{4} << kFormat.precision), magnitude);
  doubt = hn::Or(hn::Xor(below, above), hn::ShiftRight<63>(hn::BitCast(wide, room)));
  // The counter's exponent becomes the element's, one too small: the hidden bit adds it.
  constexpr std::uint64_t kOffset = (std::uint64_t{52 - kFraction} + kLeastNormal + kBias)
                                    << kFraction;
  const Wide biased = hn::Sub(hn::ShiftRight<52 - kFraction>(counter), hn::Set(wide, kOffset));
  const Wide sign =
      hn::And(hn::ShiftRight<48>(hn::BitCast(wide, value)), hn::Set(wide, std::uint64_t{0x8000}));
  bits = hn::Or(hn::Add(hn::Sub(below, counter), biased), sign);
}

#if HWY_TARGET != HWY_SCALAR
using FloatBits = Elements<ElementType::kFloat32>;

// float32 numbers rounded to a 16-bit type, in lanes of 32 bits. `open` is not zero
// where that is not the rounding of all real numbers that float32 rounds to the same:
// where it is midway between two elements, and where FLOAT16 is subnormal.
template <ElementType kType>
HWY_INLINE FloatBits RoundFloats(FloatBits floats, FloatBits& open) {
  constexpr int kDrop = 24 - FormatOf(kType).precision;
  const ElementTag<ElementType::kFloat32> d;
  const FloatBits half = hn::Set(d, std::uint32_t{1} << (kDrop - 1));
  const FloatBits rest = hn::And(floats, hn::Set(d, (std::uint32_t{1} << kDrop) - 1));
  open = hn::VecFromMask(d, hn::Eq(rest, half));
  if constexpr (kType == ElementType::kBfloat16) {
    return hn::ShiftRight<kDrop>(hn::Add(floats, half));
  } else {
    constexpr std::uint32_t kLeastNormal = (127 - 14) << 23;
    const FloatBits magnitude = hn::And(floats, hn::Set(d, 0x7fffffff));
    const FloatBits sign = hn::ShiftRight<16>(hn::Xor(floats, magnitude));
    const FloatBits above = hn::Sub(magnitude, hn::Set(d, kLeastNormal));
    // All bits of those below.
    const hn::RebindToSigned<decltype(d)> integers;
    const FloatBits small = hn::BitCast(d, hn::ShiftRight<31>(hn::BitCast(integers, above)));
    open = hn::Or(open, hn::And(small, magnitude));
    constexpr std::uint32_t kExponent = std::uint32_t{1} << 23;  // of the least normal
    const FloatBits bits = hn::ShiftRight<kDrop>(
        hn::Add(above, hn::Set(d, kExponent + (std::uint32_t{1} << (kDrop - 1)))));
    return hn::Or(hn::AndNot(small, bits), sign);
  }
}
#endif

}  // namespace rounding

// Rounds values that are known within `error`; the bits are right where there is
// no doubt.
template <ElementType kType>
HWY_INLINE Rounded<kType> Round(const Unrounded<kType> (&value)[kParts<kType>],
                                const Doubles (&error)[kParts<kType>]) {
  const ElementTag<kType> tag;
  if constexpr (kType == ElementType::kFloat64) {
    const auto below = hn::BitCast(tag, hn::Add(value[0].hi, hn::Sub(value[0].lo, error[0])));
    const auto above = hn::BitCast(tag, hn::Add(value[0].hi, hn::Add(value[0].lo, error[0])));
    return {below, hn::Xor(below, above)};
  } else if constexpr (kType == ElementType::kFloat32) {
    Doubles lower[kParts<kType>];
    Doubles upper[kParts<kType>];
    for (std::size_t k = 0; k < kParts<kType>; ++k) {
      lower[k] = hn::Sub(value[k], error[k]);
      upper[k] = hn::Add(value[k], error[k]);
    }
    const auto below = rounding::ToFloats(lower);
    return {below, hn::Xor(below, rounding::ToFloats(upper))};
  } else {
    rounding::Wide bits[kParts<kType>];
    rounding::Wide doubt[kParts<kType>];
    for (std::size_t k = 0; k < kParts<kType>; ++k) {
      rounding::RoundNarrowPart<kType>(value[k], error[k], bits[k], doubt[k]);
    }
    return {rounding::ToShorts(bits), rounding::ToShorts(doubt)};
  }
}

#if HWY_TARGET != HWY_SCALAR
// The same for the 16-bit types at half the cost, by way of float32; false where that
// leaves anything open, less than once in a hundred vectors.
// Where all numbers within the error round to one float32 number, and that is not
// midway between two elements, they are all on one side of every midpoint.
template <ElementType kType>
HWY_INLINE bool RoundByFloats(const Doubles (&value)[4], const Doubles (&error)[4],
                              Elements<kType>& bits) {
  const ElementTag<ElementType::kFloat32> d;
  rounding::FloatBits halves[2];
  rounding::FloatBits open = hn::Zero(d);
  for (std::size_t k = 0; k < 4; k += 2) {
    const Doubles lower[2] = {hn::Sub(value[k], error[k]), hn::Sub(value[k + 1], error[k + 1])};
    const Doubles upper[2] = {hn::Add(value[k], error[k]), hn::Add(value[k + 1], error[k + 1])};
    const rounding::FloatBits below = rounding::ToFloats(lower);
    rounding::FloatBits midway;
    halves[k / 2] = rounding::RoundFloats<kType>(below, midway);
    open = hn::Or(open, hn::Or(midway, hn::Xor(below, rounding::ToFloats(upper))));
  }
  const ElementTag<kType> shorts;
  bits = hn::ConcatEven(shorts, hn::BitCast(shorts, halves[1]), hn::BitCast(shorts, halves[0]));
  return hn::AllTrue(d, hn::Eq(open, hn::Zero(d)));
}
#endif

}  // namespace phasor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
