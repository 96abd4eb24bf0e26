#include "core/turn_sincos.h"

#include <array>

#include "core/real.h"

namespace phasor {
namespace {

// 1/n to double-double.
constexpr DoubleDouble kHalf = {0x1p-1, 0};
constexpr DoubleDouble kSixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
constexpr DoubleDouble k24th = {0x1.5555555555555p-5, 0x1.5555555555555p-59};
constexpr DoubleDouble k120th = {0x1.1111111111111p-7, 0x1.1111111111111p-63};
constexpr DoubleDouble k720th = {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65};

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

const std::array<SinCos, kTurnNodes>& Nodes() {
  static const std::array<SinCos, kTurnNodes> nodes = MakeNodes();
  return nodes;
}

}  // namespace

// With y = 2 pi residue, |y| < 2^-6.34. First omitted terms, relative: sine
// y^12/13! < 2^-108, cosine y^14/14! < 2^-125. What is left to binary64 is
// below 2^-50.4 of the sine and 2^-66 of the cosine, so costs 2^-102.4 at most;
// y itself is within 2^-102.5. Joining at a node adds four products and two
// sums whose parts are at most three times the result: below 2^-99 in all.
SinCos TurnSinCos(const SplitTurn& angle) {
  const DoubleDouble y = angle.residue * kRadiansPerTurn;
  const DoubleDouble z = y * y;

  const double sine_tail = -1.0 / 5040 + z.hi * (1.0 / 362880 - z.hi * (1.0 / 39916800));
  const DoubleDouble sine_factor = z * (k120th + z * sine_tail) + -kSixth;
  const DoubleDouble sine = y + (y * z) * sine_factor;

  const double cosine_tail = 1.0 / 40320 - z.hi * (1.0 / 3628800 - z.hi * (1.0 / 479001600));
  const DoubleDouble cosine_factor = z * (k24th + z * (z * cosine_tail + -k720th)) + -kHalf;
  const DoubleDouble cosine = z * cosine_factor + 1.0;

  return Nodes()[angle.node] * SinCos{sine, cosine};
}

}  // namespace phasor
