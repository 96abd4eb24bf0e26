#ifndef PHASOR_CORE_ATTENTION_FACTOR_H_
#define PHASOR_CORE_ATTENTION_FACTOR_H_

/// \file
/// What a rotary table's sines and cosines are multiplied by.

#include <mpfr.h>

#include <cstdint>
#include <optional>

#include "core/double_double.h"
#include "core/wide_real.h"
#include "phasor/core/element_type.h"
#include "phasor/core/rotary.h"

namespace phasor {

/// The factor a of a checked Rotary, given or as its scaling says
/// (phasor/core/rotary.h).
///
/// **Thread safety**: immutable.
class AttentionFactor {
 public:
  /// 1.
  AttentionFactor() = default;
  explicit AttentionFactor(const Rotary& spec);

  bool is_one() const { return exact_ == 1.0; }
  /// a, if it is a binary64 exactly; else it is not midway between two either.
  std::optional<double> exact() const { return exact_; }

  /// a to the precision of `out`, within 2^(1 - precision), relative. Callers
  /// hold an MpfrScope.
  void Value(mpfr_ptr out) const;

  /// a within 2^-254, relative.
  const WideReal<4>& wide() const { return wide_; }
  /// a within 2^-106, relative.
  DoubleDouble approximate() const { return approximate_; }
  /// a rounded to binary64.
  double rounded() const { return approximate_.hi; }
  /// a rounded to `type`.
  std::uint64_t Rounded(ElementType type) const;

 private:
  struct Derive;

  void SetExact(double value);

  // a = sqrt(1 + ln(factor) / ln(length)) if there is a length, else
  // (1 + mscale ln(factor) / 10) / (1 + mscale_all_dim ln(factor) / 10).
  double factor_ = 1;
  std::int64_t length_ = 0;
  double mscale_ = 0;
  double mscale_all_dim_ = 0;

  std::optional<double> exact_ = 1.0;
  WideReal<4> wide_ = MakeWide<4>(1.0);
  DoubleDouble approximate_ = {1, 0};
};

}  // namespace phasor

#endif  // PHASOR_CORE_ATTENTION_FACTOR_H_
