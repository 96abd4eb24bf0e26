#include "core/turn_sincos.h"

#include <array>

#include "core/real.h"
#include "core/turn_series.h"

namespace phasor {
namespace {

std::array<SinCos, kTurnNodes> MakeNodes() {
  const MpfrScope scope;
  constexpr mpfr_prec_t kBits = 256;
  std::array<SinCos, kTurnNodes> nodes;
  Real angle(kBits);
  Real sine(kBits);
  Real cosine(kBits);
  // The first quarter by MPFR, the others by turning it: exact on the axes.
  for (int j = 0; j < kTurnNodes / 4; ++j) {
    mpfr_const_pi(angle, MPFR_RNDN);
    mpfr_mul_si(angle, angle, 2L * j, MPFR_RNDN);
    mpfr_div_si(angle, angle, kTurnNodes, MPFR_RNDN);
    mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
    nodes[j] = {ToDoubleDouble(sine), ToDoubleDouble(cosine)};
  }
  for (int j = kTurnNodes / 4; j < kTurnNodes; ++j) {
    const SinCos& quarter_before = nodes[j - kTurnNodes / 4];
    nodes[j] = {quarter_before.cos, -quarter_before.sin + 0.0};  // + 0.0: no -0
  }
  return nodes;
}

}  // namespace

const std::array<SinCos, kTurnNodes>& TurnNodes() {
  static const std::array<SinCos, kTurnNodes> nodes = MakeNodes();
  return nodes;
}

SinCos TurnSinCos(const SplitTurn& angle) {
  const DoubleDouble y = angle.residue * kRadiansPerTurn;
  const DoubleDouble z = y * y;

  const double sine_tail = kSineTail[0] + z.hi * (kSineTail[1] + z.hi * kSineTail[2]);
  const DoubleDouble sine_factor = z * (k120th + z * sine_tail) + -kSixth;
  const DoubleDouble sine = y + (y * z) * sine_factor;

  const double cosine_tail = kCosineTail[0] + z.hi * (kCosineTail[1] + z.hi * kCosineTail[2]);
  const DoubleDouble cosine_factor = z * (k24th + z * (z * cosine_tail + -k720th)) + -kHalf;
  const DoubleDouble cosine = z * cosine_factor + 1.0;

  return TurnNodes()[angle.node] * SinCos{sine, cosine};
}

}  // namespace phasor
