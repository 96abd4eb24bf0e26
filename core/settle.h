#ifndef PHASOR_CORE_SETTLE_H_
#define PHASOR_CORE_SETTLE_H_

/// \file
/// The last resort: elements whose rounding nothing cheaper could decide, by
/// MPFR, with more and more precision until it is decided (Ziv 1991).

#include <cstdint>

#include "core/ladder.h"
#include "core/position.h"
#include "core/real.h"
#include "core/rounding.h"
#include "phasor/core/element_type.h"

namespace phasor {

inline constexpr mpfr_prec_t kFirstSettleBits = 256;

/// The bits of a real number that `compute` gives to any precision:
/// compute(out) sets `out` to its own precision, and returns an e such that it
/// is within 2^e. The real number must be neither an element nor midway
/// between two, or this does not end. Callers hold an MpfrScope.
template <typename Compute>
std::uint64_t SettleBits(ElementType type, const Compute& compute) {
  for (mpfr_prec_t bits = kFirstSettleBits;; bits *= 2) {
    Real value(bits);
    const mpfr_exp_t error_exponent = compute(static_cast<mpfr_ptr>(value));
    if (const auto decided = DecideBits(type, value, error_exponent)) return *decided;
  }
}

enum class Trig : std::uint8_t { kSine, kCosine };

/// The angle position * w_i to the precision of `out`, within
/// 2^(3 - precision), relative. Callers hold an MpfrScope.
void AngleOf(const FrequencyLadder& ladder, std::int64_t i, Position position, mpfr_ptr out);

/// Sine or cosine of position * w_i, rounded to `type`; any position. Costs
/// 10 us or so.
///
/// A zero angle gives +0 or 1. All other angles are algebraic, so that sine
/// and cosine are transcendental (Lindemann 1882) and the loop ends.
std::uint64_t Settle(const FrequencyLadder& ladder, ElementType type, Trig trig, std::int64_t i,
                     Position position);

}  // namespace phasor

#endif  // PHASOR_CORE_SETTLE_H_
