#ifndef PHASOR_CORE_SETTLE_H_
#define PHASOR_CORE_SETTLE_H_

/// \file
/// Elements whose rounding the rows kernel leaves open: a sin(position * w_i) or
/// a cos(position * w_i), a being the attention factor.
///
/// Stages, each only for what the one before left open:
/// - Double-double, for many elements at a time: their sines and cosines come from
///   phase_row.h. What strangers put next to midpoints on purpose, by frequencies
///   of 53 bits, ends here.
/// - Small angles by algebra, where w_i, a and the position are binary numbers
///   exactly. Whole columns of those look like ties, for powers of two are
///   ladders too. Before double-double where the angle is tiny.
/// - 128 bits of integer arithmetic (wide_sincos.h).
/// - 256 bits of integer arithmetic.
/// - MPFR, with more and more precision until it is decided (Ziv 1991). No
///   table is known of which an element comes this far; a search for one has
///   to bring position * w_i within 2^-190 of an angle whose sine is a midpoint.

#include <cstdint>
#include <optional>

#include "core/attention_factor.h"
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

/// What came to which stage: all; those that double-double left open; those left to
/// MPFR.
struct SettleCounts {
  std::int64_t settled = 0;
  std::int64_t beyond_double_double = 0;
  std::int64_t costly = 0;
};

/// About what an element costs by integers, and by MPFR, in the units of StopCheck.
inline constexpr std::int64_t kCostOfIntegers = 300;
inline constexpr std::int64_t kCostOfMpfr = 20'000;

/// The angle position * w_i to the precision of `out`, within
/// 2^(3 - precision), relative. Callers hold an MpfrScope.
void AngleOf(const FrequencyLadder& ladder, std::int64_t i, Position position, mpfr_ptr out);

/// Double-double, from sine and cosine of the angle, both times a.
template <ElementType kType>
std::optional<BitsOf<kType>> SettlePoint(const PhasePoint& point, Trig trig) {
  const bool sine = trig == Trig::kSine;
  // Of the product, 7 * 2^-106 are its own and 2^-106 the factor's, a small part of
  // kSinCosError.
  const double error = (sine ? point.sin_error() : point.cos_error()) * 1.5;
  return DecideBits<kType>(sine ? point.value.sin : point.value.cos, error);
}

/// Angles that are zero, or so small that algebra is cheaper and surer than
/// double-double.
std::optional<std::uint64_t> SettleTiny(const PhaseLadder& phases, const AttentionFactor& factor,
                                        ElementType type, Trig trig, std::int64_t i,
                                        Position position);

/// The other stages, one after another; any position. `phases` are those of `ladder`.
/// Counts in `counts`.
///
/// A zero angle gives +0 or a. All other angles are algebraic, so that sine and
/// cosine are transcendental (Lindemann 1882), their products with an algebraic a
/// are no binary numbers, and it ends. Where angle or a are not, by the logarithms of
/// YaRN or llama3's pi, that follows from Schanuel's conjecture.
std::uint64_t Settle(const FrequencyLadder& ladder, const PhaseLadder& phases,
                     const AttentionFactor& factor, ElementType type, Trig trig, std::int64_t i,
                     Position position, SettleCounts& counts);

/// The stages by themselves, of angles that are not zero.
std::optional<std::uint64_t> SettleSmall(const PhaseLadder& phases, const AttentionFactor& factor,
                                         ElementType type, Trig trig, std::int64_t i,
                                         Position position);
template <std::size_t kLimbs>
std::optional<std::uint64_t> SettleWide(const PhaseLadder& phases, const AttentionFactor& factor,
                                        ElementType type, Trig trig, std::int64_t i,
                                        Position position);
std::uint64_t SettleByMpfr(const FrequencyLadder& ladder, const AttentionFactor& factor,
                           ElementType type, Trig trig, std::int64_t i, Position position);

}  // namespace phasor

#endif  // PHASOR_CORE_SETTLE_H_
