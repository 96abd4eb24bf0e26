// Finds the elements that are hardest to round, and writes
// tests/golden/hard_cases.tsv. Nothing here is core's: phases are 128-bit
// fractions of a turn of its own, the filter is x87's sincosl, and what passes
// is settled by MPFR.
//
//   walk        whole tables, row by row; and rows far out
//   aim         positions to 2^53 whose angle hits that of a midpoint: the least
//               p with p w in an interval mod 1, by Euclid's algorithm
//   poles       denominators of the continued fraction of 4 w / 2 pi: sines and
//               cosines next to zero
//   subnormal   angles below the normal range, p w aimed at midpoints
//   tiny        p w a midpoint, exactly: x^3/6 alone decides
//   factors     p w (p and w of 53 bits) next to a multiple of pi/2, from the
//               continued fraction of pi: to 2^-106
//
// Usage: mine [--rows=N] [--far_rows=N] [--trials=N] [--seed=N]

#include <gmpxx.h>
#include <mpfr.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/oracle/oracle.h"
#include "tests/proof/hard_cases.h"

namespace phasor::proof {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

constexpr mpfr_prec_t kBits = 576;
constexpr int kTypeCount = 4;
constexpr std::int64_t kLast = std::int64_t{1} << 53;

struct Format {
  int precision;
  int quantum_exponent;  // of the smallest subnormal
};
// By ElementType.
constexpr Format kFormats[kTypeCount] = {{24, -149}, {53, -1074}, {11, -24}, {8, -133}};

struct Arguments {
  std::int64_t rows = 131072;
  std::int64_t far_rows = 8192;
  std::int64_t trials = 2000;
  std::uint64_t seed = 1;
};

// A table to search, without its type.
struct Mine {
  std::string ladder;
  std::int64_t width;
  double base;
  double parameter = 0;

  HardCase Case(ElementType type, std::int64_t position, std::int64_t pair, bool sine) const {
    return {.type = type,
            .ladder = ladder,
            .width = width,
            .base = base,
            .parameter = parameter,
            .position = position,
            .pair = pair,
            .sine = sine};
  }
  Sinusoidal Spec() const { return Case(ElementType::kFloat32, 0, 0, true).Spec(); }
  std::string Name() const {
    char name[120];
    std::snprintf(name, sizeof(name), "%s, width %lld, base %g, %g", ladder.c_str(),
                  static_cast<long long>(width), base, parameter);
    return name;
  }
};

// The real values of a table, near enough for any distance here.
class Values {
 public:
  explicit Values(const Mine& mine) : mine_(mine), oracle_(mine.Spec()) {}

  void Frequency(std::int64_t pair, mpfr_ptr out) const { oracle_.Frequency(pair, out); }

  // w / 2 pi mod 1, times 2^bits.
  mpz_class Turns(std::int64_t pair, int bits) const {
    oracle::Number w(kBits);
    oracle::Number turn(kBits);
    Frequency(pair, w.v);
    mpfr_const_pi(turn.v, MPFR_RNDN);
    mpfr_mul_2si(turn.v, turn.v, 1 - bits, MPFR_RNDN);
    mpfr_div(w.v, w.v, turn.v, MPFR_RNDN);
    mpz_class turns;
    mpfr_get_z(turns.get_mpz_t(), w.v, MPFR_RNDN);
    mpz_fdiv_r_2exp(turns.get_mpz_t(), turns.get_mpz_t(), bits);
    return turns;
  }

  // The case of an element, settled.
  HardCase Settle(ElementType type, std::int64_t position, std::int64_t pair, bool sine,
                  bool near_zero) const {
    HardCase c = mine_.Case(type, position, pair, sine);
    c.near_zero = near_zero;
    oracle::Number value(kBits);
    Frequency(pair, value.v);
    mpfr_mul_si(value.v, value.v, position, MPFR_RNDN);
    if (sine) {
      mpfr_sin(value.v, value.v, MPFR_RNDN);
    } else {
      mpfr_cos(value.v, value.v, MPFR_RNDN);
    }
    c.bits = oracle::Round(type, value.v);
    c.wrong_through = WrongThrough(type, value.v, c.bits);
    const Format format = kFormats[static_cast<int>(type)];
    if (!near_zero) {
      // In units of the last place; then what is above an integer, from 1/2.
      mpfr_abs(value.v, value.v, MPFR_RNDN);
      const mpfr_exp_t quantum =
          std::max<mpfr_exp_t>(mpfr_get_exp(value.v) - format.precision, format.quantum_exponent);
      mpfr_mul_2si(value.v, value.v, -quantum, MPFR_RNDN);
      mpfr_frac(value.v, value.v, MPFR_RNDN);
      mpfr_sub_d(value.v, value.v, 0.5, MPFR_RNDN);
    }
    oracle::Number distance(64);
    mpfr_abs(distance.v, value.v, MPFR_RNDN);
    mpfr_log2(distance.v, distance.v, MPFR_RNDN);
    c.log2_distance = mpfr_get_d(distance.v, MPFR_RNDN);
    return c;
  }

 private:
  static std::string WrongThrough(ElementType type, mpfr_srcptr value, std::uint64_t right) {
    constexpr std::pair<const char*, int> kFormatsOnTheWay[] = {
        {"float32", 24}, {"binary64", 53}, {"extended", 64}};
    std::string names;
    for (const auto& [name, precision] : kFormatsOnTheWay) {
      if (precision <= kFormats[static_cast<int>(type)].precision) continue;
      oracle::Number once(precision);
      mpfr_set(once.v, value, MPFR_RNDN);
      if (oracle::Round(type, once.v) == right) continue;
      if (!names.empty()) names += ',';
      names += name;
    }
    return names.empty() ? "-" : names;
  }

  Mine mine_;
  oracle::Table oracle_;
};

// The nearest few, of a pair no more than two.
class Nearest {
 public:
  explicit Nearest(std::size_t size) : size_(size) {}

  // Only what is nearer than this is of interest.
  double Limit() const {
    return cases_.size() < size_ ? std::numeric_limits<double>::infinity()
                                 : cases_.back().log2_distance;
  }

  void Offer(const HardCase& c) {
    const auto before = std::upper_bound(
        cases_.begin(), cases_.end(), c,
        [](const HardCase& a, const HardCase& b) { return a.log2_distance < b.log2_distance; });
    const auto same = [&](const HardCase& a) {
      return a.pair == c.pair && a.position == c.position && a.sine == c.sine;
    };
    if (std::any_of(cases_.begin(), cases_.end(), same)) return;
    const auto at = cases_.insert(before, c);
    const std::int64_t pair = at->pair;
    int of_pair = 0;
    for (auto it = cases_.begin(); it != cases_.end(); ++it) {
      if (it->pair == pair && ++of_pair > 2) {
        cases_.erase(it);
        break;
      }
    }
    if (cases_.size() > size_) cases_.pop_back();
  }

  const std::vector<HardCase>& cases() const { return cases_; }

 private:
  std::size_t size_;
  std::vector<HardCase> cases_;
};

// The least x >= 0 with low <= a x mod m <= high; negative if there is none.
// Euclid's algorithm on (a, m): where no multiple of a lies between low and
// high, a x = m y + [low, high] asks the same of (-m mod a, a) for y.
mpz_class FirstBetween(mpz_class a, const mpz_class& m, mpz_class low, mpz_class high) {
  if (low <= 0) return 0;
  if (a == 0) return -1;
  if (2 * a > m) {
    a = m - a;
    std::swap(low, high);
    low = m - low;
    high = m - high;
  }
  mpz_class x;
  mpz_cdiv_q(x.get_mpz_t(), low.get_mpz_t(), a.get_mpz_t());
  if (a * x <= high) return x;
  mpz_class minus_m;
  mpz_class low_rest;
  mpz_class high_rest;
  mpz_fdiv_r(minus_m.get_mpz_t(), mpz_class(-m).get_mpz_t(), a.get_mpz_t());
  mpz_fdiv_r(low_rest.get_mpz_t(), low.get_mpz_t(), a.get_mpz_t());
  mpz_fdiv_r(high_rest.get_mpz_t(), high.get_mpz_t(), a.get_mpz_t());
  const mpz_class y = FirstBetween(minus_m, a, low_rest, high_rest);
  if (y < 0) return -1;
  const mpz_class least = low + m * y;
  mpz_cdiv_q(x.get_mpz_t(), least.get_mpz_t(), a.get_mpz_t());
  return x;
}

// |value| <= 1 as x87 holds it: significand * 2^(exponent - 64).
struct Extended {
  explicit Extended(long double value) {
    static_assert(std::numeric_limits<long double>::digits == 64);
    std::uint16_t sign_and_exponent;
    std::memcpy(&significand, &value, 8);
    std::memcpy(&sign_and_exponent, reinterpret_cast<const char*>(&value) + 8, 2);
    exponent = (sign_and_exponent & 0x7fff) - 16382;
  }
  std::uint64_t significand;
  int exponent;
};

// The terms of a continued fraction, of numerator / denominator >= 0.
class ContinuedFraction {
 public:
  ContinuedFraction(mpz_class numerator, mpz_class denominator)
      : numerator_(std::move(numerator)), denominator_(std::move(denominator)) {}
  bool ended() const { return denominator_ == 0; }
  mpz_class NextTerm() {
    const mpz_class term = numerator_ / denominator_;
    const mpz_class rest = numerator_ - term * denominator_;
    numerator_ = std::exchange(denominator_, rest);
    return term;
  }

 private:
  mpz_class numerator_;
  mpz_class denominator_;
};

class Search {
 public:
  explicit Search(const Arguments& arguments) : arguments_(arguments), random_(arguments.seed) {}

  // Rows start ... start + rows - 1 of every pair.
  void Walk(const Mine& mine, std::int64_t start, std::int64_t rows, std::size_t keep) {
    const Values values(mine);
    std::vector<Nearest> midpoints(kTypeCount, Nearest(keep));
    Nearest zeros(2);
    const std::int64_t pairs = mine.width / 2;
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      Progress(mine.Name() + " from " + std::to_string(start), pair, pairs);
      WalkPair(values, pair, start, rows, midpoints, zeros);
    }
    Keep(midpoints);
    KeepZeros(values, zeros);
  }

  // Positions to 2^53 for midpoints at random.
  void Aim(const Mine& mine) {
    constexpr int kTurnBits = 160;
    constexpr int kWindowBits = 58;  // one in 2^5 is met before 2^53
    const Values values(mine);
    const mpz_class turn = mpz_class(1) << kTurnBits;
    const mpz_class window = mpz_class(1) << (kTurnBits - kWindowBits);
    const std::int64_t pairs = mine.width / 2;
    std::vector<Nearest> nearest(kTypeCount, Nearest(4));
    for (int n = 0; n < 3; ++n) {
      const std::int64_t pair = n == 0 ? 0 : Below(pairs);
      const mpz_class frequency = values.Turns(pair, kTurnBits);
      for (std::int64_t trial = 0; trial < arguments_.trials; ++trial) {
        if (trial % 256 == 0) Progress("aim: " + mine.Name(), trial, arguments_.trials);
        for (const ElementType type :
             {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBfloat16}) {
          const bool sine = Below(2) == 0;
          const mpz_class target = MidpointAngle(type, sine, kTurnBits);
          if (target <= window || target + window >= turn) continue;
          const mpz_class p = FirstBetween(frequency, turn, target - window, target + window);
          if (p <= 0 || p > kLast) continue;
          nearest[static_cast<int>(type)].Offer(values.Settle(type, p.get_si(), pair, sine, false));
        }
      }
    }
    Keep(nearest);
  }

  // Best approximations q of 4 w / 2 pi: q w next to a multiple of pi / 2.
  void Poles(const Mine& mine) {
    constexpr int kTurnBits = 320;
    const Values values(mine);
    const std::int64_t pairs = mine.width / 2;
    Nearest zeros(4);
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      Progress("poles: " + mine.Name(), pair, pairs);
      ContinuedFraction turns(values.Turns(pair, kTurnBits + 2), mpz_class(1) << kTurnBits);
      mpz_class before = 1;
      mpz_class q = 0;
      while (!turns.ended()) {
        const mpz_class next = turns.NextTerm() * q + before;
        if (next > kLast) break;
        before = std::exchange(q, next);
      }
      if (q == 0) continue;
      for (const bool sine : {true, false}) {
        zeros.Offer(values.Settle(ElementType::kFloat64, q.get_si(), pair, sine, true));
      }
    }
    KeepZeros(values, zeros);
  }

  // Results below the normal range: sin x is x but for x^3/6, and p w in units
  // of the last place is aimed at an integer and a half.
  void Subnormal(const Mine& mine) {
    constexpr int kFractionBits = 320;
    const Values values(mine);
    const mpz_class one = mpz_class(1) << kFractionBits;
    std::vector<Nearest> nearest(kTypeCount, Nearest(8));
    for (std::int64_t pair = 0; pair < mine.width / 2; ++pair) {
      for (int type = 0; type < kTypeCount; ++type) {
        const Format format = kFormats[type];
        oracle::Number w(kBits);
        values.Frequency(pair, w.v);
        mpfr_mul_2si(w.v, w.v, -format.quantum_exponent, MPFR_RNDN);
        // The last position whose sine is subnormal.
        oracle::Number last(kBits);
        mpfr_ui_div(last.v, 1, w.v, MPFR_RNDN);
        mpfr_mul_2si(last.v, last.v, format.precision - 1, MPFR_RNDN);
        if (mpfr_cmp_ui(last.v, 4) < 0) continue;
        const double limit = std::min(mpfr_get_d(last.v, MPFR_RNDN), static_cast<double>(kLast));
        mpz_class frequency;
        mpfr_mul_2si(w.v, w.v, kFractionBits, MPFR_RNDN);
        mpfr_get_z(frequency.get_mpz_t(), w.v, MPFR_RNDN);
        mpz_fdiv_r_2exp(frequency.get_mpz_t(), frequency.get_mpz_t(), kFractionBits);
        for (double window = 4 / limit; window > 0.05 / limit; window /= 2) {
          const mpz_class half_width(std::ldexp(window, 62));
          const mpz_class scaled = half_width << (kFractionBits - 62);
          const mpz_class p = FirstBetween(frequency, one, one / 2 - scaled, one / 2 + scaled);
          if (p <= 0 || p > mpz_class(limit)) break;
          nearest[type].Offer(
              values.Settle(static_cast<ElementType>(type), p.get_si(), pair, true, false));
        }
      }
    }
    Keep(nearest);
  }

  // x = p w of one bit more than the type has, and small; for FLOAT16 an odd
  // number of halves of its smallest value, or little would be left of it.
  void Tiny() {
    for (int type = 0; type < kTypeCount; ++type) {
      const Format format = kFormats[type];
      const bool subnormal = static_cast<ElementType>(type) == ElementType::kFloat16;
      for (int n = 0; n < 6;) {
        const int bits =
            subnormal ? 2 + static_cast<int>(Below(format.precision - 1)) : format.precision + 1;
        const int position_bits = 2 + static_cast<int>(Below(std::min(bits - 1, 30)));
        const std::int64_t p = RandomOdd(position_bits);
        const std::int64_t m = RandomOdd(bits + 1 - position_bits);
        const mpz_class product = mpz_class(p) * m;
        if (mpz_sizeinbase(product.get_mpz_t(), 2) != static_cast<std::size_t>(bits)) continue;
        const int exponent =
            subnormal ? format.quantum_exponent - 1 : -bits - 12 - static_cast<int>(Below(44));
        // Powers of two go from the frequency to the position at will.
        const int up = static_cast<int>(Below(53 - position_bits));
        const double w = std::ldexp(static_cast<double>(m), exponent - up);
        if (w < kMinAbsFrequency) continue;
        const Mine mine{"explicit", 2, 0, w};
        found_.push_back(
            Values(mine).Settle(static_cast<ElementType>(type), p << up, 0, true, false));
        ++n;
      }
    }
  }

  // N next to K pi/2 2^e by the continued fraction of pi/2 2^e, where N has two
  // factors below 2^53.
  void Factors() {
    constexpr int kPiBits = 480;
    oracle::Number half_pi(kBits);
    mpfr_const_pi(half_pi.v, MPFR_RNDN);
    Nearest zeros(12);
    for (int e = 22; e < 116; ++e) {
      Progress("factors", e - 22, 94);
      mpz_class numerator;
      mpfr_mul_2si(half_pi.v, half_pi.v, kPiBits, MPFR_RNDN);
      mpfr_mul_2si(half_pi.v, half_pi.v, e - 1, MPFR_RNDN);
      mpfr_get_z(numerator.get_mpz_t(), half_pi.v, MPFR_RNDN);
      mpfr_mul_2si(half_pi.v, half_pi.v, -kPiBits - e + 1, MPFR_RNDN);
      ContinuedFraction fraction(numerator, mpz_class(1) << kPiBits);
      mpz_class n_before = 0;
      mpz_class n = 1;
      while (!fraction.ended()) {
        const mpz_class next = fraction.NextTerm() * n + n_before;
        n_before = std::exchange(n, next);
        const auto bits = mpz_sizeinbase(n.get_mpz_t(), 2);
        if (bits > 106) break;
        if (bits < 96) continue;
        const mpz_class p = FactorBelow53Bits(n);
        if (p == 0) continue;
        const mpz_class other = n / p;
        const double w = std::ldexp(other.get_d(), -e);
        if (w < kMinAbsFrequency || w > kMaxAbsFrequency) continue;
        const Mine mine{"explicit", 2, 0, w};
        const Values values(mine);
        for (const bool sine : {true, false}) {
          HardCase c = values.Settle(ElementType::kFloat64, p.get_si(), 0, sine, true);
          c.pair = e;  // no more than two of one e
          zeros.Offer(c);
        }
      }
    }
    for (const HardCase& c : zeros.cases()) {
      const Values values(Mine{"explicit", 2, 0, c.parameter});
      for (int type = 0; type < kTypeCount; ++type) {
        found_.push_back(
            values.Settle(static_cast<ElementType>(type), c.position, 0, c.sine, true));
      }
    }
  }

  std::vector<HardCase> Found() const {
    // Narrower where that is the same frequency; then without repeats.
    std::vector<HardCase> cases = found_;
    for (HardCase& c : cases) {
      while (c.ladder == "paper" && c.width > 32 && c.width % 4 == 0 && c.pair % 2 == 0) {
        c.width /= 2;
        c.pair /= 2;
      }
    }
    const auto key = [](const HardCase& c) {
      return std::tuple(c.type, c.ladder, c.width, c.base, c.parameter, c.near_zero,
                        c.log2_distance, c.position, c.pair, c.sine);
    };
    std::sort(cases.begin(), cases.end(),
              [&](const HardCase& a, const HardCase& b) { return key(a) < key(b); });
    cases.erase(std::unique(cases.begin(), cases.end(),
                            [&](const HardCase& a, const HardCase& b) { return key(a) == key(b); }),
                cases.end());
    return cases;
  }

 private:
  void WalkPair(const Values& values, std::int64_t pair, std::int64_t start, std::int64_t rows,
                std::vector<Nearest>& midpoints, Nearest& zeros) {
    const mpz_class turns = values.Turns(pair, 128);
    Uint128 step = 0;
    for (int limb = 1; limb >= 0; --limb) {
      step = (step << 64) | mpz_getlimbn(turns.get_mpz_t(), limb);
    }
    const long double radians = 0x1p-125L * 0.785398163397448309615660845819875721L;  // 2 pi 2^-128
    Uint128 phase = step * static_cast<Uint128>(start);
    for (std::int64_t p = start; p < start + rows; ++p, phase += step) {
      if (p == 0) continue;
      // Less than an eighth of a turn from a quarter.
      const auto quarter = static_cast<unsigned>((phase + (Uint128{1} << 125)) >> 126);
      const auto rest = static_cast<Int128>(phase - (static_cast<Uint128>(quarter) << 126));
      long double result[2];
      ::sincosl(static_cast<long double>(rest) * radians, &result[0], &result[1]);
      for (const bool sine : {true, false}) {
        const Extended value(result[(quarter & 1) == (sine ? 0u : 1u) ? 0 : 1]);
        if (value.exponent < zeros.Limit() + 1) {
          zeros.Offer(values.Settle(ElementType::kFloat64, p, pair, sine, true));
        }
        for (int type = 0; type < kTypeCount; ++type) {
          if (!NearMidpoint(kFormats[type], value, midpoints[type].Limit())) continue;
          midpoints[type].Offer(
              values.Settle(static_cast<ElementType>(type), p, pair, sine, false));
        }
      }
    }
  }

  // Whether a value, known within two of its last places, may be nearer than
  // 2^limit units of the format's last place.
  static bool NearMidpoint(const Format& format, const Extended& value, double limit) {
    const int kept =
        value.exponent - std::max(value.exponent - format.precision, format.quantum_exponent);
    if (kept < 0) return false;
    const std::uint64_t fraction = value.significand << kept;
    const auto distance = static_cast<std::int64_t>(fraction - (std::uint64_t{1} << 63));
    const double units = std::abs(static_cast<double>(distance)) - std::ldexp(2.0, kept);
    return units <= 0 || units < std::exp2(limit + 64);
  }

  // The angle, in turns, of a random midpoint in [2^-8, 1), of either sign.
  mpz_class MidpointAngle(ElementType type, bool sine, int bits) {
    const int precision = kFormats[static_cast<int>(type)].precision;
    const std::int64_t integer = RandomOdd(precision + 1);
    const int exponent = -static_cast<int>(Below(8)) - precision - 1;
    oracle::Number angle(200);
    mpfr_set_si_2exp(angle.v, integer, exponent, MPFR_RNDN);
    mpfr_asin(angle.v, angle.v, MPFR_RNDN);
    oracle::Number turn(200);
    mpfr_const_pi(turn.v, MPFR_RNDN);
    mpfr_mul_2si(turn.v, turn.v, 1 - bits, MPFR_RNDN);
    mpfr_div(angle.v, angle.v, turn.v, MPFR_RNDN);
    mpz_class turns;
    mpfr_get_z(turns.get_mpz_t(), angle.v, MPFR_RNDN);
    const mpz_class one = mpz_class(1) << bits;
    if (!sine) turns = one / 4 - turns;
    if (Below(2) == 0) turns += one / 2;
    return turns;
  }

  // A factor p <= 2^53 of n with n / p <= 2^53 too; 0 if none is found.
  mpz_class FactorBelow53Bits(const mpz_class& n) {
    constexpr unsigned kPrimesBelow = 1 << 18;
    if (primes_.empty()) {
      std::vector<bool> composite(kPrimesBelow);
      for (unsigned q = 2; q < kPrimesBelow; ++q) {
        if (composite[q]) continue;
        primes_.push_back(q);
        for (std::uint64_t k = std::uint64_t{q} * q; k < kPrimesBelow; k += q) composite[k] = true;
      }
    }
    const mpz_class most = kLast;
    mpz_class rest = n;
    std::vector<mpz_class> divisors = {1};
    for (const unsigned q : primes_) {
      while (mpz_divisible_ui_p(rest.get_mpz_t(), q) != 0 && divisors.size() < 4096) {
        rest /= q;
        const std::size_t size = divisors.size();
        for (std::size_t k = 0; k < size; ++k) divisors.push_back(divisors[k] * q);
      }
    }
    if (rest > most) return 0;
    for (const mpz_class& divisor : divisors) {
      const mpz_class p = rest * divisor;
      if (p <= most && n / p <= most) return p;
    }
    return 0;
  }

  void Keep(const std::vector<Nearest>& lists) {
    for (const Nearest& list : lists) {
      found_.insert(found_.end(), list.cases().begin(), list.cases().end());
    }
  }

  // What is near zero is so in every type.
  void KeepZeros(const Values& values, const Nearest& zeros) {
    for (const HardCase& c : zeros.cases()) {
      for (int type = 0; type < kTypeCount; ++type) {
        found_.push_back(
            values.Settle(static_cast<ElementType>(type), c.position, c.pair, c.sine, true));
      }
    }
  }

  std::int64_t Below(std::int64_t n) { return static_cast<std::int64_t>(random_() % n); }

  // Odd, of exactly that many bits.
  std::int64_t RandomOdd(int bits) {
    const std::int64_t top = std::int64_t{1} << (bits - 1);
    return top | Below(top) | 1;
  }

  void Progress(const std::string& what, std::int64_t done, std::int64_t of) {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::seconds(2)) return;
    shown_ = now;
    std::fprintf(stderr, "%s: %lld of %lld; %.0f s, %zu found\n", what.c_str(),
                 static_cast<long long>(done), static_cast<long long>(of),
                 std::chrono::duration<double>(now - started_).count(), found_.size());
  }

  Arguments arguments_;
  std::mt19937_64 random_;
  std::vector<unsigned> primes_;
  std::vector<HardCase> found_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_ = started_;
};

void Run(const Arguments& arguments) {
  const std::vector<Mine> tables = {
      {"paper", 1024, 10000},  // and 512, 256, 128, 64: every second pair
      {"paper", 128, 500000},        {"paper", 256, 1000000},
      {"paper", 64, 150000},         {"paper", 128, 1e7},
      {"paper", 104, 0x1p52},        {"paper", 2, 10000},
      {"inclusive", 512, 10000},     {"inclusive", 384, 10000},
      {"downscaled", 320, 10000, 1}, {"downscaled", 64, 10000, 0.5},
  };
  Search search(arguments);
  search.Tiny();
  search.Subnormal({"downscaled", 60, 10000, 29.5});
  search.Subnormal({"downscaled", 100, 10000, 49.5});
  search.Subnormal({"downscaled", 40, 0x1p64, 19.5});
  search.Factors();
  for (const Mine& mine : tables) {
    search.Poles(mine);
    search.Aim(mine);
    search.Walk(mine, kLast - arguments.far_rows, arguments.far_rows, 3);
    search.Walk(mine, std::int64_t{1} << 31, arguments.far_rows, 3);
  }
  for (const Mine& mine : tables) search.Walk(mine, 0, arguments.rows, 8);
  const std::vector<HardCase> cases = search.Found();
  const std::string head =
      "# Elements that are hard to round: their real values lie next to a midpoint of their type\n"
      "# (distance in units of the last place) or next to zero (distance: the value), and what "
      "they\n"
      "# have to be rounded to. Made by: ./dev mine --rows=" +
      std::to_string(arguments.rows) + " --far_rows=" + std::to_string(arguments.far_rows) +
      " --trials=" + std::to_string(arguments.trials) +
      " --seed=" + std::to_string(arguments.seed) + "\n";
  SaveHardCases(PHASOR_GOLDEN_DIR "/hard_cases.tsv", head, cases);
  std::fprintf(stderr, "%zu cases\n", cases.size());
}

bool Parse(const std::string& argument, Arguments& arguments) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = argument.substr(0, equals);
  const std::int64_t value = std::strtoll(argument.c_str() + equals + 1, nullptr, 10);
  if (value <= 0) return false;
  if (name == "--rows") return arguments.rows = value, true;
  if (name == "--far_rows") return arguments.far_rows = value, true;
  if (name == "--trials") return arguments.trials = value, true;
  if (name == "--seed") return arguments.seed = static_cast<std::uint64_t>(value), true;
  return false;
}

}  // namespace
}  // namespace phasor::proof

int main(int argc, char** argv) {
  phasor::proof::Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    if (!phasor::proof::Parse(argv[k], arguments)) {
      std::cerr << "usage: mine [--rows=N] [--far_rows=N] [--trials=N] [--seed=N]\n";
      return 2;
    }
  }
  phasor::proof::Run(arguments);
  return 0;
}
