#ifndef PHASOR_TESTS_ORACLE_ORACLE_H_
#define PHASOR_TESTS_ORACLE_ORACLE_H_

/// \file
/// What every test of exact values compares with: the formulas, directly, by
/// MPFR, with a precision that is doubled until its own error bound decides the
/// rounding. Shares no code and no method with core.

#include <mpfr.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "phasor/core/element_type.h"
#include "phasor/core/spec.h"

namespace phasor::oracle {

/// An MPFR number that clears itself.
class Number {
 public:
  explicit Number(mpfr_prec_t bits) { mpfr_init2(v, bits); }
  ~Number() { mpfr_clear(v); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  mpfr_t v;
};

/// `value` rounded once to `type`, to nearest, ties to even, by MPFR's own
/// emulation of IEEE 754 formats.
std::uint64_t Round(ElementType type, mpfr_srcptr value);

/// The value of an element, exact.
double Value(ElementType type, std::uint64_t bits);
/// Element `index` of a buffer.
std::uint64_t Element(ElementType type, const std::byte* data, std::int64_t index);

/// A position (or a shift): integer + fraction, exactly.
struct Position {
  std::int64_t integer = 0;
  double fraction = 0;
};

/// A sinusoidal table by its definition.
class Table {
 public:
  explicit Table(Sinusoidal spec, ElementType type = ElementType::kFloat32);
  /// A table of timesteps, whose angles have a scale.
  explicit Table(const Timestep& spec, ElementType type = ElementType::kFloat32);

  const Sinusoidal& spec() const { return spec_; }
  std::int64_t pairs() const {
    return spec_.odd_column == OddColumn::kSine ? (spec_.width + 1) / 2 : spec_.width / 2;
  }

  /// w_i, within 2^(8 - bits) relative, to `bits` bits.
  void Frequency(std::int64_t i, mpfr_ptr out) const;
  /// w_i rounded to binary64.
  double Frequency(std::int64_t i) const;

  /// Elements of pair `i` at a position as requested (before the offset; the
  /// zero row left out of account).
  std::uint64_t Sine(std::int64_t i, Position p) const { return SineOrCosine(i, p, true); }
  std::uint64_t Cosine(std::int64_t i, Position p) const { return SineOrCosine(i, p, false); }

  /// The bits of column `column` of the row at `p`: layout and zero row too.
  std::uint64_t Column(Position p, std::int64_t column) const;

  /// (s, c) turned by -k w_i, each rounded.
  std::pair<std::uint64_t, std::uint64_t> Shifted(std::int64_t i, Position k, double s,
                                                  double c) const;

 private:
  std::uint64_t SineOrCosine(std::int64_t i, Position p, bool sine) const;
  void Angle(std::int64_t i, Position p, mpfr_ptr out) const;
  bool IsZeroAngle(std::int64_t i, Position p) const;

  Sinusoidal spec_;
  ElementType type_;
  double scale_ = 1;
  // w_i at the first precision, made when first asked for.
  mutable std::vector<std::unique_ptr<Number>> cache_;
};

/// (x, y) turned by `angle` radians, each rounded.
std::pair<std::uint64_t, std::uint64_t> Turned(ElementType type, double angle, double x, double y);

/// Which of a layout's pairs stands in a column, and whether as its sine.
struct Place {
  std::int64_t pair;
  bool sine;
};
Place PlaceOf(Layout layout, std::int64_t pairs, std::int64_t column);

}  // namespace phasor::oracle

#endif  // PHASOR_TESTS_ORACLE_ORACLE_H_
