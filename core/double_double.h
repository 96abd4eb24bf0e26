#ifndef PHASOR_CORE_DOUBLE_DOUBLE_H_
#define PHASOR_CORE_DOUBLE_DOUBLE_H_

/// \file
/// Double-double arithmetic: an unevaluated sum hi + lo of two binary64 with
/// |lo| <= ulp(hi)/2, about 106 bits.
///
/// **Range**: round to nearest, gradual underflow; results and all partial
/// products must stay within 2^-960 ... 2^960 (or be zero).
/// **Accuracy**: relative, as stated at each function, u = 2^-53.
/// Source: Dekker 1971; Joldes, Muller, Popescu, "Tight and rigorous error
/// bounds for basic building blocks of double-word arithmetic", 2017.

#include <cmath>

namespace phasor {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

/// hi + lo = a + b exactly, for any a and b.
inline DoubleDouble TwoSum(double a, double b) {
  const double hi = a + b;
  const double b_part = hi - a;
  const double a_part = hi - b_part;
  return {hi, (a - a_part) + (b - b_part)};
}

/// hi + lo = a + b exactly, if a = 0 or the exponent of a is not below b's.
inline DoubleDouble QuickTwoSum(double a, double b) {
  const double hi = a + b;
  return {hi, b - (hi - a)};
}

/// hi + lo = a * b exactly.
inline DoubleDouble TwoProd(double a, double b) {
  const double hi = a * b;
#ifdef __FMA__
  return {hi, std::fma(a, b, -hi)};
#else
  constexpr double kSplitter = 0x1p27 + 1;
  const double a_scaled = kSplitter * a;
  const double a_hi = a_scaled - (a_scaled - a);
  const double a_lo = a - a_hi;
  const double b_scaled = kSplitter * b;
  const double b_hi = b_scaled - (b_scaled - b);
  const double b_lo = b - b_hi;
  return {hi, ((a_hi * b_hi - hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
#endif
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.hi, -a.lo}; }

/// Within 3u^2 (1 + 4u) of a + b, relative, also under cancellation.
inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble s = TwoSum(a.hi, b.hi);
  const DoubleDouble t = TwoSum(a.lo, b.lo);
  const DoubleDouble v = QuickTwoSum(s.hi, s.lo + t.hi);
  return QuickTwoSum(v.hi, t.lo + v.lo);
}

/// Within 2u^2 of a + b, relative.
inline DoubleDouble operator+(DoubleDouble a, double b) {
  const DoubleDouble s = TwoSum(a.hi, b);
  return QuickTwoSum(s.hi, a.lo + s.lo);
}

/// Within 7u^2 of a * b, relative.
inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = TwoProd(a.hi, b.hi);
  return QuickTwoSum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/// Within 3u^2 of a * b, relative.
inline DoubleDouble operator*(DoubleDouble a, double b) {
  const DoubleDouble p = TwoProd(a.hi, b);
  return QuickTwoSum(p.hi, p.lo + a.lo * b);
}

/// What a test holds the functions above to.
inline constexpr double kDoubleDoubleError = 7 * 0x1p-106;

}  // namespace phasor

#endif  // PHASOR_CORE_DOUBLE_DOUBLE_H_
