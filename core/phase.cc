#include "core/phase.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "core/real.h"

namespace phasor {
namespace {

__extension__ using Uint128 = unsigned __int128;

using Wide = std::array<std::uint64_t, 6>;

// a * b, its lowest 384 bits.
template <std::size_t kLeft, std::size_t kRight>
Wide Multiply(const std::array<std::uint64_t, kLeft>& a,
              const std::array<std::uint64_t, kRight>& b) {
  Wide product{};
  for (std::size_t j = 0; j < kLeft; ++j) {
    std::uint64_t carry = 0;
    for (std::size_t k = 0; j + k < product.size(); ++k) {
      const Uint128 sum = Uint128{a[j]} * (k < kRight ? b[k] : 0) + product[j + k] + carry;
      product[j + k] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
  }
  return product;
}

void ShiftLeft(Wide& limbs, int bits) {
  const int whole = bits / 64;
  const int rest = bits % 64;
  for (int k = static_cast<int>(limbs.size()) - 1; k >= 0; --k) {
    const std::uint64_t high = k >= whole ? limbs[k - whole] : 0;
    const std::uint64_t low = k > whole ? limbs[k - whole - 1] : 0;
    limbs[k] = rest == 0 ? high : (high << rest) | (low >> (64 - rest));
  }
}

int BitLength(const Wide& limbs) {
  for (int k = static_cast<int>(limbs.size()) - 1; k >= 0; --k) {
    if (limbs[k] != 0) return 64 * k + 64 - std::countl_zero(limbs[k]);
  }
  return 0;
}

// |fraction| = significand * 2^-places, exactly.
struct Dyadic {
  std::uint64_t significand;
  int places;
};

Dyadic DyadicOf(double fraction) {
  const auto bits = std::bit_cast<std::uint64_t>(fraction);
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t below = bits & ((std::uint64_t{1} << 52) - 1);
  return {below | (biased == 0 ? 0 : std::uint64_t{1} << 52), 1075 - std::max(biased, 1)};
}

// Of the phase of one frequency, for StopCheck.
constexpr std::int64_t kCostOfPhase = 500;

DoubleDouble Scaled(DoubleDouble x, int exponent) {
  return {std::ldexp(x.hi, exponent), std::ldexp(x.lo, exponent)};
}

// The non-negative integer `limbs` times 2^exponent, as good as Residue is.
template <typename Residue, std::size_t kLimbs>
Residue ResidueOf(const std::array<std::uint64_t, kLimbs>& limbs, int exponent) {
  if constexpr (std::is_same_v<Residue, DoubleDouble>) {
    return LeadingBits(limbs, exponent);
  } else {
    return MakeWide<Residue::kBits / 64>(limbs, exponent);
  }
}

template <typename Residue>
struct NodeAndResidue {
  int node;
  Residue residue;
};

template <typename Residue, std::size_t kLimbs>
NodeAndResidue<Residue> SplitAs(const TurnFraction<kLimbs>& turn) {
  const auto [node, negative, limbs] = SplitExactly(turn);
  const auto residue = ResidueOf<Residue>(limbs, -64 * static_cast<int>(kLimbs));
  return {node, negative ? -residue : residue};
}

// e with x < 2^e.
std::int64_t ExponentAbove(double x) { return x == 0 ? -(1 << 20) : std::ilogb(x) + 1; }

}  // namespace

PhaseLadder::PhaseLadder(const FrequencyLadder& ladder, StopCheck& stop) : phases_(ladder.size()) {
  // Scaled so that w is at least 2^-75 here, its fraction has 179 bits or more;
  // and no int64 takes what is below 2^-74 to the first node.
  constexpr mpfr_exp_t kLeastExponent = -74;
  constexpr int kFractionBits = 256;
  Real inverse_turn(FrequencyLadder::kChainBits);
  mpfr_const_pi(inverse_turn, MPFR_RNDN);
  mpfr_mul_2ui(inverse_turn, inverse_turn, 1, MPFR_RNDN);
  mpfr_ui_div(inverse_turn, 1, inverse_turn, MPFR_RNDN);
  Real turns(FrequencyLadder::kChainBits);
  Integer fixed_point;
  ladder.ForEach([&](std::int64_t i, mpfr_srcptr w) {
    if (mpfr_zero_p(w) != 0) return true;
    Phase& phase = phases_[i];
    phase.negative = mpfr_signbit(w) != 0;
    phase.exact = ladder.ExactFrequency(i, w).value_or(std::numeric_limits<double>::quiet_NaN());
    phase.exponent = static_cast<std::int32_t>(mpfr_get_exp(w));
    phase.scale = std::max(0, static_cast<std::int32_t>(kLeastExponent) - phase.exponent);
    mpfr_mul(turns, w, inverse_turn, MPFR_RNDN);
    mpfr_mul_2si(turns, turns, phase.scale + kFractionBits, MPFR_RNDN);
    mpfr_get_z(fixed_point, turns, MPFR_RNDN);
    const auto limb = [&](mp_size_t k) { return std::uint64_t{mpz_getlimbn(fixed_point, k)}; };
    phase.fraction.limbs = {limb(0), limb(1), limb(2), limb(3)};
    phase.turns = limb(4);
    return !stop.After(kCostOfPhase);
  });
}

std::optional<PhaseAngle> PhaseLadder::AnyAngle(std::int64_t i, Position position) const {
  constexpr int kLeastResidueExponent = -760;
  const Phase& phase = phases_[i];
  if (position.is_zero() || phase.is_zero()) return PhaseAngle{};
  auto reduced = Reduce<DoubleDouble>(phase, position);
  if (reduced.scale != 0) {
    if (std::ilogb(reduced.residue.hi) - reduced.scale < kLeastResidueExponent) {
      return std::nullopt;
    }
    const int exponent = -static_cast<int>(reduced.scale);
    reduced.residue = Scaled(reduced.residue, exponent);
    reduced.error = std::ldexp(reduced.error, exponent);
  }
  const SplitTurn turn{reduced.node, reduced.residue};
  return PhaseAngle{reduced.negative ? -turn : turn, reduced.error};
}

template <std::size_t kLimbs>
WidePhasePoint<kLimbs> PhaseLadder::WideAt(std::int64_t i, Position position) const {
  auto reduced = Reduce<WideReal<kLimbs>>(phases_[i], position);
  reduced.residue.exponent -= reduced.scale;
  WidePhasePoint<kLimbs> point{
      TurnWideSinCos(WideSplitTurn<kLimbs>{reduced.node, reduced.residue})};
  if (reduced.negative) point.value.sin = -point.value.sin;
  // The angle's error enters the sine by the cosine, and the other way round.
  const std::int64_t angle = ExponentAbove(std::abs(reduced.error)) - reduced.scale;
  const std::int64_t sine = point.value.sin.magnitude_exponent();
  const std::int64_t cosine = point.value.cos.magnitude_exponent();
  point.sin_error_exponent = std::max(sine + kWideSinCosErrorExponent<kLimbs>, angle + cosine) + 1;
  point.cos_error_exponent = std::max(cosine + kWideSinCosErrorExponent<kLimbs>, angle + sine) + 1;
  return point;
}

template <typename Residue>
auto PhaseLadder::Reduce(const Phase& phase, Position position) -> Reduced<Residue> {
  if (position.is_integer()) {
    const auto [node, residue] = SplitAs<Residue>(phase.fraction * position.integer);
    return {node, residue, phase.scale, AngleError(static_cast<double>(position.integer)),
            phase.negative};
  }
  return position.integer == 0 ? ReduceFraction<Residue>(phase, position.fraction)
                               : ReduceMixed<Residue>(phase, position);
}

// The product of significand and phase as an integer; the binary point comes
// `places` bits from its end.
template <typename Residue>
auto PhaseLadder::ReduceFraction(const Phase& phase, double fraction) -> Reduced<Residue> {
  constexpr int kWideBits = 384;
  const Dyadic dyadic = DyadicOf(fraction);
  const auto& limbs = phase.fraction.limbs;
  Wide product = Multiply(std::array{dyadic.significand},
                          std::array{limbs[0], limbs[1], limbs[2], limbs[3], phase.turns});
  const bool negative = phase.negative != (fraction < 0);
  const int places = 256 + dyadic.places;
  if (places <= kWideBits) {
    ShiftLeft(product, kWideBits - places);
    const auto [node, residue] = SplitAs<Residue>(WideTurn{product});
    return {node, residue, phase.scale, AngleError(fraction), negative};
  }
  // Below 2^(53 + 30 + 256 - 384) turns, so at node 0; scaled to 2^-64 or more.
  const int up = std::max(0, places - BitLength(product) - 63);
  return {0, ResidueOf<Residue>(product, up - places), phase.scale + up,
          AngleError(std::ldexp(fraction, up)), negative};
}

// The position as a fixed-point number with 128 bits after the point.
template <typename Residue>
auto PhaseLadder::ReduceMixed(const Phase& phase, Position position) -> Reduced<Residue> {
  constexpr int kPlaces = 128;
  const Dyadic dyadic = DyadicOf(position.fraction);
  const int up = kPlaces - dyadic.places;
  Uint128 fraction = dyadic.significand;
  if (up >= 0) {
    fraction <<= up;
  } else {
    fraction = -up < 64 ? fraction >> -up : 0;
  }
  const bool negative_position = position.integer < 0;
  std::uint64_t whole = negative_position ? -static_cast<std::uint64_t>(position.integer)
                                          : static_cast<std::uint64_t>(position.integer);
  if ((position.fraction < 0) != negative_position && fraction != 0) {
    fraction = -fraction;
    --whole;
  }
  const auto& limbs = phase.fraction.limbs;
  const Wide product = Multiply(std::array{static_cast<std::uint64_t>(fraction),
                                           static_cast<std::uint64_t>(fraction >> 64), whole},
                                std::array{limbs[0], limbs[1], limbs[2], limbs[3], phase.turns});
  double error = AngleError(static_cast<double>(position.integer)) + AngleError(1);
  // What was cut off the position, times a bound of the frequency.
  if (up < 0) error += std::ldexp(1.0, static_cast<int>(phase.exponent + phase.scale) - kPlaces);
  const auto [node, residue] = SplitAs<Residue>(WideTurn{product});
  return {node, residue, phase.scale, error, phase.negative != negative_position};
}

template WidePhasePoint<2> PhaseLadder::WideAt(std::int64_t, Position) const;
template WidePhasePoint<4> PhaseLadder::WideAt(std::int64_t, Position) const;

}  // namespace phasor
