#include "core/wide_sincos.h"

#include <gtest/gtest.h>

#include <random>

#include "core/real.h"

namespace phasor {
namespace {

template <std::size_t kLimbs>
void ToMpfr(const WideReal<kLimbs>& value, mpfr_ptr out) {
  mpfr_set_ui(out, 0, MPFR_RNDN);
  for (std::size_t k = kLimbs; k-- > 0;) {
    mpfr_mul_2ui(out, out, 64, MPFR_RNDN);
    mpfr_add_ui(out, out, value.limbs[k], MPFR_RNDN);
  }
  mpfr_mul_2si(out, out, value.exponent, MPFR_RNDN);
  if (value.negative) mpfr_neg(out, out, MPFR_RNDN);
}

template <std::size_t kLimbs>
void ExpectWithinBound(const WideReal<kLimbs>& got, mpfr_srcptr want, int node, int drop) {
  Real error(1000);
  ToMpfr(got, error);
  mpfr_sub(error, error, want, MPFR_RNDN);
  if (mpfr_zero_p(error) != 0) return;
  EXPECT_LE(mpfr_get_exp(error), mpfr_get_exp(want) - 1 + kWideSinCosErrorExponent<kLimbs>)
      << "node " << node << " residue 2^-" << drop;
}

// Residues of all sizes at all nodes, of both signs.
template <std::size_t kLimbs>
void ExpectAccurate() {
  const MpfrScope scope;
  std::mt19937_64 random(3);
  Real angle(1400);
  Real pi(1400);
  mpfr_const_pi(pi, MPFR_RNDN);
  Real sine(1000);
  Real cosine(1000);
  for (const int drop :
       {9, 10, 11, 13, 17, 20, 25, 31, 32, 40, 63, 64, 65, 100, 127, 128, 500, 2000}) {
    for (int node = 0; node < 256; ++node) {
      WideSplitTurn<kLimbs> turn{.node = node};
      for (std::uint64_t& limb : turn.residue.limbs) limb = random();
      turn.residue.limbs[kLimbs - 1] |= std::uint64_t{1} << 63;
      turn.residue.exponent = -drop - WideReal<kLimbs>::kBits;
      turn.residue.negative = (random() & 1) != 0;
      ToMpfr(turn.residue, angle);
      Real node_turn(64);
      mpfr_set_si_2exp(node_turn, node, -8, MPFR_RNDN);
      mpfr_t exact;
      mpfr_init2(exact, 4000);
      mpfr_add(exact, angle, node_turn, MPFR_RNDN);
      mpfr_mul(exact, exact, pi, MPFR_RNDN);
      mpfr_mul_2ui(exact, exact, 1, MPFR_RNDN);
      // Next to an axis the angle's own product with pi is not enough.
      if (drop > 128 && node != 0) {
        mpfr_clear(exact);
        continue;
      }
      mpfr_sin_cos(sine, cosine, exact, MPFR_RNDN);
      mpfr_clear(exact);
      const WideSinCos<kLimbs> got = TurnWideSinCos(turn);
      ExpectWithinBound(got.sin, sine, node, drop);
      ExpectWithinBound(got.cos, cosine, node, drop);
    }
  }
}

TEST(WideSinCosTest, TwoLimbsAreWithinTheirBound) { ExpectAccurate<2>(); }
TEST(WideSinCosTest, FourLimbsAreWithinTheirBound) { ExpectAccurate<4>(); }

}  // namespace
}  // namespace phasor
