#ifndef PHASOR_CORE_LADDER_H_
#define PHASOR_CORE_LADDER_H_

/// \file
/// Ladders of angular frequencies, to any precision.

#include <mpfr.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/rope_scale.h"
#include "core/stop_check.h"
#include "phasor/core/spec.h"

namespace phasor {

/// The frequencies w_i of a table: all given (explicit), or
/// base^(-i/(h - shift)) with shift 0 (paper, rotary), 1 (inclusive, timescales)
/// or as given (downscaled, timestep), times t^(-i/(h-1)) (StretchOf), times what RopeScale
/// has for i.
/// **Thread safety**: immutable. Callers of what takes an mpfr_t hold an
/// MpfrScope.
class FrequencyLadder {
 public:
  /// **Range**: `spec` as CanonicalSpec::Create leaves it.
  explicit FrequencyLadder(const Sinusoidal& spec);
  explicit FrequencyLadder(const Rotary& spec);
  explicit FrequencyLadder(const Timestep& spec);
  explicit FrequencyLadder(const NoPosition& spec);
  /// Empty for tables without frequencies.
  static FrequencyLadder Of(const CanonicalSpec& spec);

  /// All w_i where they are given, else none.
  const std::vector<double>& given() const { return given_; }

  /// h, the number of pairs.
  std::int64_t size() const { return size_; }

  /// w_i to the precision of `out`.
  /// **Accuracy**: within 2^(1 - precision), relative; exact where w_i is
  /// given, zero or a power of two that no scale changes.
  void Frequency(std::int64_t i, mpfr_ptr out) const;

  /// Calls visit(i, w_i) for i = first ... h-1, until one returns false.
  /// **Accuracy**: each within 2^(kChainLostBits - bits), relative; exact where
  /// Frequency() is. One multiplication a pair: 32 768 of them cost a few ms.
  void ForEach(absl::FunctionRef<bool(std::int64_t i, mpfr_srcptr w)> visit, std::int64_t first = 0,
               mpfr_prec_t bits = kChainBits) const;
  static constexpr mpfr_prec_t kChainBits = 512;
  static constexpr mpfr_exp_t kChainLostBits = 22;
  static constexpr mpfr_exp_t kChainErrorExponent = kChainLostBits - kChainBits;

  /// Whether pair i rests: w_i = 0.
  bool IsZero(std::int64_t i) const {
    return is_given() ? given_[i] == 0 : scale_ != nullptr && scale_->IsZero(i);
  }
  /// w_i if it is a binary64 exactly; `w` is w_i as ForEach() gives it by default.
  /// Where it is one of a stretched or scaled ladder that takes microseconds to tell.
  std::optional<double> ExactFrequency(std::int64_t i, mpfr_srcptr w) const;

  /// All w_i, each rounded to binary64; fewer if `stop` stops it.
  std::vector<double> Rounded(StopCheck& stop) const;

  /// Beside the object itself.
  std::int64_t memory_bytes() const;

 private:
  FrequencyLadder() = default;
  void SetBase(const mpq_class& base);
  bool is_given() const { return !given_.empty(); }
  // k if w_i = 2^-k exactly, before any scale.
  std::optional<std::int64_t> ExactExponent(std::int64_t i) const;
  // -ln(w_1), before any scale, to the precision of `out`.
  void Decrement(mpfr_ptr out) const;
  // w_i before any scale.
  void Unscaled(std::int64_t i, mpfr_ptr out) const;
  // w_i where it has 54 bits or less, from w_i within 2^kChainErrorExponent.
  bool TakeExact(std::int64_t i, mpfr_srcptr w, mpfr_ptr out) const;

  std::int64_t size_ = 0;
  std::vector<double> given_;
  mpq_class base_ = 0;
  double shift_ = 0;
  int base_exponent_ = 0;  // f if base = 2^f and nothing stretches it, else 0
  mpq_class stretch_ = 1;
  std::unique_ptr<const RopeScale> scale_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_LADDER_H_
