#ifndef PHASOR_TESTS_ORACLE_ROTARY_H_
#define PHASOR_TESTS_ORACLE_ROTARY_H_

/// \file
/// Rotary tables by MPFR: the functions of transformers' modeling_rope_utils.py
/// step by step, in that order, on numbers so long that their errors do not
/// count. Shares no code and no method with core.

#include <cstdint>

#include "phasor/core/rotary.h"
#include "tests/oracle/oracle.h"

namespace phasor::oracle {

class RotaryTable {
 public:
  explicit RotaryTable(Rotary spec, ElementType type = ElementType::kFloat32);

  std::int64_t pairs() const { return spec_.width / 2; }

  /// w_i, within 2^(8 - bits) relative, to `bits` bits.
  void Frequency(std::int64_t i, mpfr_ptr out) const;
  /// w_i rounded to binary64. For w_i that are not midway between two.
  double Frequency(std::int64_t i) const;

  /// The factor a, as Frequency().
  void AttentionFactor(mpfr_ptr out) const;
  double AttentionFactor() const;

  /// Elements of pair `i` at a position.
  std::uint64_t Sine(std::int64_t i, Position p) const { return SineOrCosine(i, p, true); }
  std::uint64_t Cosine(std::int64_t i, Position p) const { return SineOrCosine(i, p, false); }
  /// The bits of column `column` of the row at `p`.
  std::uint64_t Column(Position p, std::int64_t column) const;

 private:
  std::uint64_t SineOrCosine(std::int64_t i, Position p, bool sine) const;

  Rotary spec_;
  ElementType type_;
};

}  // namespace phasor::oracle

#endif  // PHASOR_TESTS_ORACLE_ROTARY_H_
