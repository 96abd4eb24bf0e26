#ifndef PHASOR_CORE_SETTLE_H_
#define PHASOR_CORE_SETTLE_H_

/// \file
/// Elements whose rounding the rows kernel or an anchor leaves open.
///
/// Four stages, each only for what the one before left open:
/// - 128 bits of integer arithmetic (wide_sincos.h).
/// - Sines of small angles that are binary numbers exactly, by algebra. Whole
///   columns of those look like ties, for powers of two are ladders too.
/// - 256 bits of integer arithmetic.
/// - MPFR, with more and more precision until it is decided (Ziv 1991). No
///   table is known of which an element comes this far; a search for one has
///   to bring position * w_i within 2^-190 of an angle whose sine is a midpoint.

#include <cstdint>
#include <optional>

#include "core/ladder.h"
#include "core/phase.h"
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

/// For metrics: elements that were settled at all, and those by MPFR.
struct SettleCounts {
  std::int64_t settled = 0;
  std::int64_t costly = 0;
};

/// About what an element costs by MPFR, in the units of StopCheck.
inline constexpr std::int64_t kCostOfMpfr = 20'000;

/// The angle position * w_i to the precision of `out`, within
/// 2^(3 - precision), relative. Callers hold an MpfrScope.
void AngleOf(const FrequencyLadder& ladder, std::int64_t i, Position position, mpfr_ptr out);

/// Its sine or cosine to the precision of `out`; returns an e such that it is
/// within 2^e. Callers hold an MpfrScope.
mpfr_exp_t TrigOf(const FrequencyLadder& ladder, Trig trig, std::int64_t i, Position position,
                  mpfr_ptr out);

/// Sine or cosine of position * w_i, rounded to `type`; any position. `phases`
/// are those of `ladder`. Counts MPFR's in `counts`.
///
/// A zero angle gives +0 or 1. All other angles are algebraic, so that sine
/// and cosine are transcendental (Lindemann 1882) and it ends.
std::uint64_t Settle(const FrequencyLadder& ladder, const PhaseLadder& phases, ElementType type,
                     Trig trig, std::int64_t i, Position position, SettleCounts& counts);

/// The stages, of angles that are not zero. The algebraic one is for sines,
/// where w_i and the position are binary numbers and the angle is below 2^-20.
std::optional<std::uint64_t> SettleSmallSine(const FrequencyLadder& ladder, ElementType type,
                                             std::int64_t i, Position position);
template <std::size_t kLimbs>
std::optional<std::uint64_t> SettleWide(const PhaseLadder& phases, ElementType type, Trig trig,
                                        std::int64_t i, Position position);
std::uint64_t SettleByMpfr(const FrequencyLadder& ladder, ElementType type, Trig trig,
                           std::int64_t i, Position position);

}  // namespace phasor

#endif  // PHASOR_CORE_SETTLE_H_
