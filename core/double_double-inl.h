// Double-double arithmetic on vectors: double_double.h once more, for every
// target. Included by foreach_target.h, so once for each of them.

#if defined(PHASOR_CORE_DOUBLE_DOUBLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHASOR_CORE_DOUBLE_DOUBLE_INL_H_
#undef PHASOR_CORE_DOUBLE_DOUBLE_INL_H_
#else
#define PHASOR_CORE_DOUBLE_DOUBLE_INL_H_
#endif

#include <hwy/highway.h>

#include "core/double_double.h"

HWY_BEFORE_NAMESPACE();
namespace phasor::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using Doubles = hn::Vec<DoubleTag>;

// With constructors of its own: implicit ones would not be of this target.
struct DoubleDoubles {
  HWY_INLINE DoubleDoubles() {}
  HWY_INLINE DoubleDoubles(Doubles high, Doubles low) : hi(high), lo(low) {}
  Doubles hi;
  Doubles lo;
};

HWY_INLINE Doubles Broadcast(double value) { return hn::Set(DoubleTag(), value); }

HWY_INLINE DoubleDoubles Broadcast(DoubleDouble value) {
  return {Broadcast(value.hi), Broadcast(value.lo)};
}

// hi + lo = a + b exactly.
HWY_INLINE DoubleDoubles TwoSum(Doubles a, Doubles b) {
  const Doubles hi = hn::Add(a, b);
  const Doubles b_part = hn::Sub(hi, a);
  const Doubles a_part = hn::Sub(hi, b_part);
  return {hi, hn::Add(hn::Sub(a, a_part), hn::Sub(b, b_part))};
}

// The same if a = 0 or the exponent of a is not below b's.
HWY_INLINE DoubleDoubles QuickTwoSum(Doubles a, Doubles b) {
  const Doubles hi = hn::Add(a, b);
  return {hi, hn::Sub(b, hn::Sub(hi, a))};
}

#if !HWY_NATIVE_FMA
// hi + lo = a, each of 26 bits at most.
HWY_INLINE DoubleDoubles Halve(Doubles a) {
  const Doubles scaled = hn::Mul(Broadcast(0x1p27 + 1), a);
  const Doubles hi = hn::Sub(scaled, hn::Sub(scaled, a));
  return {hi, hn::Sub(a, hi)};
}
#endif

// hi + lo = a * b exactly.
HWY_INLINE DoubleDoubles TwoProd(Doubles a, Doubles b) {
  const Doubles hi = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {hi, hn::MulSub(a, b, hi)};
#else
  const DoubleDoubles x = Halve(a);
  const DoubleDoubles y = Halve(b);
  const Doubles high = hn::Sub(hn::Mul(x.hi, y.hi), hi);
  const Doubles middle = hn::Add(hn::Add(high, hn::Mul(x.hi, y.lo)), hn::Mul(x.lo, y.hi));
  return {hi, hn::Add(middle, hn::Mul(x.lo, y.lo))};
#endif
}

HWY_INLINE DoubleDoubles Negated(DoubleDoubles a) { return {hn::Neg(a.hi), hn::Neg(a.lo)}; }

// Within 3u^2 (1 + 4u), relative.
HWY_INLINE DoubleDoubles Sum(DoubleDoubles a, DoubleDoubles b) {
  const DoubleDoubles s = TwoSum(a.hi, b.hi);
  const DoubleDoubles t = TwoSum(a.lo, b.lo);
  const DoubleDoubles v = QuickTwoSum(s.hi, hn::Add(s.lo, t.hi));
  return QuickTwoSum(v.hi, hn::Add(t.lo, v.lo));
}

// Within 4u^2, relative, if |a| is 2 |b| or more: the three low parts are below
// 2u |a| together, and their two sums round within u of that.
HWY_INLINE DoubleDoubles SumOfUnequal(DoubleDoubles a, DoubleDoubles b) {
  const DoubleDoubles s = QuickTwoSum(a.hi, b.hi);
  return QuickTwoSum(s.hi, hn::Add(s.lo, hn::Add(a.lo, b.lo)));
}

// Within 7u^2, relative.
HWY_INLINE DoubleDoubles Product(DoubleDoubles a, DoubleDoubles b) {
  const DoubleDoubles p = TwoProd(a.hi, b.hi);
  return QuickTwoSum(p.hi, hn::Add(p.lo, hn::MulAdd(a.hi, b.lo, hn::Mul(a.lo, b.hi))));
}

// Within 3u^2, relative.
HWY_INLINE DoubleDoubles Product(DoubleDoubles a, Doubles b) {
  const DoubleDoubles p = TwoProd(a.hi, b);
  return QuickTwoSum(p.hi, hn::MulAdd(a.lo, b, p.lo));
}

// a * b + c * d. Within 2^-100 of |a b| + |c d| =: P: both products and the sum
// of their high parts are exact; what is left, seven numbers below 2 * 2^-53 P
// each, is summed within seven times 2^-53 of their sum, and the two products of
// low parts that are left out are below 2^-106 P.
HWY_INLINE DoubleDoubles SumOfProducts(DoubleDoubles a, DoubleDoubles b, DoubleDoubles c,
                                       DoubleDoubles d) {
  const DoubleDoubles p = TwoProd(a.hi, b.hi);
  const DoubleDoubles q = TwoProd(c.hi, d.hi);
  const DoubleDoubles s = TwoSum(p.hi, q.hi);
  const Doubles cross_p = hn::MulAdd(a.hi, b.lo, hn::MulAdd(a.lo, b.hi, p.lo));
  const Doubles cross_q = hn::MulAdd(c.hi, d.lo, hn::MulAdd(c.lo, d.hi, q.lo));
  return {s.hi, hn::Add(s.lo, hn::Add(cross_p, cross_q))};
}

}  // namespace phasor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
