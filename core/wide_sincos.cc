#include "core/wide_sincos.h"

#include <algorithm>
#include <bit>

#include "core/real.h"
#include "core/turn.h"

// Fixed point here: limbs that stand for a number in [0, 1).

namespace phasor {
namespace {

constexpr int kTerms = 12;
constexpr int kQuarter = kTurnNodes / 4;

struct Tables {
  // Coefficients 1/3!, 1/5!, ... and 1/2!, 1/4!, ...
  std::array<WideLimbs<4>, kTerms> sine;
  std::array<WideLimbs<4>, kTerms> cosine;
  // Sine and cosine of the nodes inside the first quarter; [0] is not used.
  std::array<WideLimbs<4>, kQuarter> node_sines;
  std::array<WideLimbs<4>, kQuarter> node_cosines;
  WideReal<4> radians_per_turn;
};

WideLimbs<4> ToFixedPoint(mpfr_ptr fraction, Integer& integer) {
  mpfr_mul_2ui(fraction, fraction, 256, MPFR_RNDN);
  mpfr_get_z(integer, fraction, MPFR_RNDN);
  const auto limb = [&](mp_size_t k) { return std::uint64_t{mpz_getlimbn(integer, k)}; };
  return {limb(0), limb(1), limb(2), limb(3)};
}

Tables MakeTables() {
  const MpfrScope scope;
  Tables tables;
  constexpr mpfr_prec_t kBits = 320;
  Real x(kBits);
  Real y(kBits);
  Integer integer;
  for (int n = 0; n < kTerms; ++n) {
    for (const int factorial : {2 * n + 2, 2 * n + 3}) {
      mpfr_fac_ui(x, static_cast<unsigned>(factorial), MPFR_RNDN);
      mpfr_ui_div(x, 1, x, MPFR_RNDN);
      (factorial % 2 == 0 ? tables.cosine : tables.sine)[n] = ToFixedPoint(x, integer);
    }
  }
  for (int j = 1; j < kQuarter; ++j) {
    mpfr_const_pi(x, MPFR_RNDN);
    mpfr_mul_si(x, x, 2L * j, MPFR_RNDN);
    mpfr_div_si(x, x, kTurnNodes, MPFR_RNDN);
    mpfr_sin_cos(x, y, x, MPFR_RNDN);
    tables.node_sines[j] = ToFixedPoint(x, integer);
    tables.node_cosines[j] = ToFixedPoint(y, integer);
  }
  mpfr_const_pi(x, MPFR_RNDN);
  mpfr_div_2ui(x, x, 2, MPFR_RNDN);
  tables.radians_per_turn = MakeWide<4>(ToFixedPoint(x, integer), 3 - 256);
  return tables;
}

const Tables& GetTables() {
  static const Tables tables = MakeTables();
  return tables;
}

template <std::size_t kLimbs>
WideLimbs<kLimbs> Leading(const WideLimbs<4>& limbs) {
  WideLimbs<kLimbs> leading;
  std::copy(limbs.end() - kLimbs, limbs.end(), leading.begin());
  return leading;
}

template <std::size_t kLimbs>
WideLimbs<kLimbs> Minus(WideLimbs<kLimbs> a, const WideLimbs<kLimbs>& b) {
  SubtractFrom<kLimbs>(a, b);
  return a;
}

template <std::size_t kLimbs>
WideLimbs<kLimbs> Plus(WideLimbs<kLimbs> a, const WideLimbs<kLimbs>& b) {
  AddTo<kLimbs>(a, b);
  return a;
}

// z (c0 - z (c1 - z (c2 - ...))). Term n is below 2^-(12.6 n) of the first, so
// the later ones want fewer limbs; where z is small, there are fewer of them.
template <std::size_t kLimbs>
WideLimbs<kLimbs> Series(const std::array<WideLimbs<4>, kTerms>& coefficients,
                         const WideLimbs<kLimbs>& z) {
  constexpr int kLast = kLimbs == 2 ? 6 : kTerms - 1;
  constexpr int kWanted = kLimbs == 2 ? 116 : 240;  // bits
  const int zeros = std::countl_zero(z[kLimbs - 1]);
  int n = zeros < 20 ? kLast : std::min(kLast, kWanted / zeros);
  WideLimbs<kLimbs> sum = Leading<kLimbs>(coefficients[n]);
  const auto step = [&]<std::size_t kUsed>() {
    sum = Minus(Leading<kLimbs>(coefficients[n - 1]), MultiplyHigh<kUsed, kLimbs>(z, sum));
  };
  if constexpr (kLimbs == 4) {
    for (; n > 8; --n) step.template operator()<2>();
    for (; n > 4; --n) step.template operator()<3>();
  }
  for (; n > 0; --n) step.template operator()<kLimbs>();
  return MultiplyHigh<kLimbs, kLimbs>(z, sum);
}

// 1 - x.
template <std::size_t kLimbs>
WideReal<kLimbs> OneMinus(const WideLimbs<kLimbs>& x) {
  if (IsZero<kLimbs>(x)) return MakeWide<kLimbs>(1.0);
  return MakeWide<kLimbs>(Minus<kLimbs>({}, x), -WideReal<kLimbs>::kBits);
}

// A real number below 1 in fixed point.
template <std::size_t kLimbs>
WideLimbs<kLimbs> FixedPoint(const WideReal<kLimbs>& x) {
  if (x.is_zero()) return {};
  return ShiftRight<kLimbs>(x.limbs, -WideReal<kLimbs>::kBits - x.exponent);
}

}  // namespace

// With y = 2 pi residue, |y| < 2^-6.34 and z = y^2: sin y = y (1 - u),
// cos y = 1 - v.
//
// Four limbs: the first omitted terms are z^13/27! and z^13/26!, below 2^-250,
// or below 2^-240 where z is small and there are fewer. A product of four limbs
// is within 2^-255, of three within 2^-190, of two within 2^-126, and the one
// of term n enters with z^n: z^9 2^-126 < 2^-240, the largest, so that u and v
// are within 2^-238. y and the products add 2^-252. Two limbs: the first
// omitted terms are z^8/17! and z^8/16!, below 2^-144, or below 2^-116; the
// products are within 2^-126; u and v within 2^-115, and y adds 2^-124.
//
// At nodes that are not on the axes sine and cosine are 2^-5.4 at least, so
// that four products and their cut ends are within 2^-118 (2^-246) of it; on
// the axes they are the series alone.
template <std::size_t kLimbs>
WideSinCos<kLimbs> TurnWideSinCos(const WideSplitTurn<kLimbs>& angle) {
  const Tables& tables = GetTables();
  constexpr auto multiply = MultiplyHigh<kLimbs, kLimbs>;
  const WideReal<kLimbs> per_turn{Leading<kLimbs>(tables.radians_per_turn.limbs),
                                  3 - WideReal<kLimbs>::kBits, false};
  const WideReal<kLimbs> y = angle.residue * per_turn;
  const WideLimbs<kLimbs> z = FixedPoint(y * y);
  WideLimbs<kLimbs> u{};
  WideLimbs<kLimbs> v{};
  if (!IsZero<kLimbs>(z)) {
    u = Series<kLimbs>(tables.sine, z);
    v = Series<kLimbs>(tables.cosine, z);
  }
  const WideReal<kLimbs> sine = IsZero<kLimbs>(u) ? y : y * OneMinus<kLimbs>(u);
  const int node = angle.node % kQuarter;
  WideSinCos<kLimbs> quarter;
  if (node == 0) {
    quarter = {sine, OneMinus<kLimbs>(v)};
  } else {
    constexpr std::int64_t kExponent = -WideReal<kLimbs>::kBits;
    const auto s = Leading<kLimbs>(tables.node_sines[node]);
    const auto c = Leading<kLimbs>(tables.node_cosines[node]);
    const WideLimbs<kLimbs> r = FixedPoint(sine);
    const auto s_cos = Minus<kLimbs>(s, multiply(s, v));
    const auto c_cos = Minus<kLimbs>(c, multiply(c, v));
    const auto s_sin = multiply(s, r);
    const auto c_sin = multiply(c, r);
    quarter.sin = MakeWide<kLimbs>(
        sine.negative ? Minus<kLimbs>(s_cos, c_sin) : Plus<kLimbs>(s_cos, c_sin), kExponent);
    quarter.cos = MakeWide<kLimbs>(
        sine.negative ? Plus<kLimbs>(c_cos, s_sin) : Minus<kLimbs>(c_cos, s_sin), kExponent);
  }
  switch (angle.node / kQuarter) {
    case 0: return quarter;
    case 1: return {quarter.cos, -quarter.sin};
    case 2: return {-quarter.sin, -quarter.cos};
    default: return {-quarter.cos, quarter.sin};
  }
}

template WideSinCos<2> TurnWideSinCos(const WideSplitTurn<2>&);
template WideSinCos<4> TurnWideSinCos(const WideSplitTurn<4>&);

}  // namespace phasor
