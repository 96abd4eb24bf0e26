#ifndef PHASOR_CORE_LADDER_H_
#define PHASOR_CORE_LADDER_H_

/// \file
/// Ladders of angular frequencies, to any precision.

#include <mpfr.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/stop_check.h"
#include "phasor/core/spec.h"

namespace phasor {

/// The frequencies w_i of a sinusoidal table: base^(-i/(h - shift)) with shift
/// 0 (paper), 1 (inclusive) or as given (downscaled), or all given (explicit).
/// **Thread safety**: immutable. Callers of what takes an mpfr_t hold an
/// MpfrScope.
class FrequencyLadder {
 public:
  /// **Range**: `spec` as CanonicalSpec::Create leaves it.
  explicit FrequencyLadder(const Sinusoidal& spec);

  /// h, the number of pairs.
  std::int64_t size() const { return size_; }

  /// w_i to the precision of `out`.
  /// **Accuracy**: within 2^(1 - precision), relative; exact where w_i is
  /// given, zero or a power of two.
  void Frequency(std::int64_t i, mpfr_ptr out) const;

  /// Calls visit(i, w_i) for i = first ... h-1, until one returns false.
  /// **Accuracy**: each within 2^(kChainLostBits - bits), relative; exact where
  /// Frequency() is. One multiplication a pair: 32 768 of them cost a few ms.
  void ForEach(absl::FunctionRef<bool(std::int64_t i, mpfr_srcptr w)> visit, std::int64_t first = 0,
               mpfr_prec_t bits = kChainBits) const;
  static constexpr mpfr_prec_t kChainBits = 512;
  static constexpr mpfr_exp_t kChainLostBits = 22;
  static constexpr mpfr_exp_t kChainErrorExponent = kChainLostBits - kChainBits;

  /// w_i if it is a binary64 exactly: given, or a power of two.
  std::optional<double> ExactFrequency(std::int64_t i) const;

  /// All w_i, each rounded to binary64; fewer if `stop` stops it.
  std::vector<double> Rounded(StopCheck& stop) const;

  /// Beside the object itself.
  std::int64_t memory_bytes() const {
    return static_cast<std::int64_t>(given_.capacity() * sizeof(double));
  }

 private:
  bool is_given() const { return !given_.empty(); }
  /// k if w_i = 2^-k exactly.
  std::optional<std::int64_t> ExactExponent(std::int64_t i) const;
  /// ln(base) / (h - shift) to the precision of `out`.
  void Decrement(mpfr_ptr out) const;

  std::int64_t size_;
  std::vector<double> given_;
  double base_ = 0;
  double shift_ = 0;
  int base_exponent_ = 0;  // f if base = 2^f, else 0
};

}  // namespace phasor

#endif  // PHASOR_CORE_LADDER_H_
