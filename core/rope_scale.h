#ifndef PHASOR_CORE_ROPE_SCALE_H_
#define PHASOR_CORE_ROPE_SCALE_H_

/// \file
/// What the scalings of phasor/core/rotary.h make of a ladder's frequencies.

#include <gmpxx.h>
#include <mpfr.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "phasor/core/rotary.h"

namespace phasor {

/// Bits by which RopeScale::Apply may spoil a frequency. A blend's share is the
/// quotient of two differences. llama3's: of numbers below 2^32, over two factors
/// that differ by 2^-85 or more. YaRN's, both over h / ln base: of logarithms
/// below 2^7, over one that is not below 2^-110. Errors of 2^117 then, beside a
/// result that is 2^-64 of the frequency or more; and some bits to spare.
inline constexpr mpfr_prec_t kRopeScaleGuardBits = 224;

/// Multiplies each frequency b_i by a number of its own. Callers hold an
/// MpfrScope.
class RopeScale {
 public:
  virtual ~RopeScale() = default;

  /// Turns `w`, b_i within 2^(c - precision) relative, into w_i, within
  /// 2^(c + kRopeScaleGuardBits - precision).
  virtual void Apply(std::int64_t i, mpfr_ptr w) const = 0;

  /// w_i / b_i if it is rational. Nothing if it has logarithms or pi in it.
  virtual std::optional<mpq_class> Ratio(std::int64_t i) const = 0;

  virtual bool IsZero(std::int64_t /*i*/) const { return false; }

  virtual std::int64_t memory_bytes() const = 0;
};

/// The scale of a checked spec; null where every w_i is b_i, or given, or
/// only stretched.
std::unique_ptr<const RopeScale> MakeRopeScale(const Rotary& spec);

/// w_i = ratio b_i for all `pairs`; null where the ratio is 1. Below 2^64 both ways.
std::unique_ptr<const RopeScale> MakeUniformScale(const mpq_class& ratio, std::int64_t pairs);

/// t of a ladder (base t^(h/(h-1)))^(-i/h), as NTK scalings have it; 1 for
/// others.
mpq_class StretchOf(const Rotary& spec);

}  // namespace phasor

#endif  // PHASOR_CORE_ROPE_SCALE_H_
