#include "core/normal.h"

#include <mpfr.h>

#include <array>
#include <bit>
#include <cmath>

#include "core/real.h"
#include "core/settle.h"
#include "core/turn_sincos.h"

namespace phasor {
namespace {

// The logarithm: u = m 2^-k with m in [181/256, 181/128), j = round(128 m),
//   ln u = -k ln 2 - ln r_j + ln(1 + f),  f = m r_j - 1,
// where r_j is 128/j to 11 bits. m has 33 bits, so m r_j and f are exact in
// binary64, |f| < 2^-7.2. Near u = 1 k = 0 and r_j = 1: the series is all there
// is, and its relative accuracy is the result's. Elsewhere the parts are at
// most twice the result: |k ln 2| is for k = 1 and m = sqrt 2, |ln r_127| for
// k = 0 and m = 127.5/128.
constexpr int kFirstNode = 90;
constexpr int kLastNode = 181;

struct LogNode {
  double reciprocal;
  DoubleDouble log;  // -ln reciprocal
};

struct Tables {
  std::array<LogNode, kLastNode - kFirstNode + 1> logs;
  std::array<NormalPair<double>, kTurnNodes> turns;
};

Tables MakeTables() {
  const MpfrScope scope;
  Tables tables;
  Real log(256);
  for (int j = kFirstNode; j <= kLastNode; ++j) {
    LogNode& node = tables.logs[j - kFirstNode];
    node.reciprocal = std::nearbyint(0x1p17 / j) * 0x1p-10;
    mpfr_set_d(log, node.reciprocal, MPFR_RNDN);
    mpfr_log(log, log, MPFR_RNDN);
    mpfr_neg(log, log, MPFR_RNDN);
    node.log = ToDoubleDouble(log);
  }
  for (int j = 0; j < kTurnNodes; ++j) {
    const SinCos node = TurnSinCos(SplitTurn{j, {}});
    tables.turns[j] = {node.cos.hi, node.sin.hi};
  }
  return tables;
}

const Tables& GetTables() {
  static const Tables tables = MakeTables();
  return tables;
}

struct SplitLog {
  double minus_k;
  double f;
  const LogNode* node;
};

SplitLog SplitForLog(const Tables& tables, std::uint32_t a) {
  // 2a + 1 has at most 33 bits: exact, and so is all that follows.
  const auto bits = std::bit_cast<std::uint64_t>(2.0 * a + 1.0);
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  double m = std::bit_cast<double>((bits & kFraction) | (std::uint64_t{1023} << 52));
  int minus_k = static_cast<int>(bits >> 52) - 1023 - 33;
  if (m >= 181.0 / 128) {
    m *= 0.5;
    minus_k += 1;
  }
  // Between two nodes either serves, and lround would be a call.
  const int j = static_cast<int>(128 * m + 0.5);  // NOLINT(bugprone-incorrect-roundings)
  const LogNode& node = tables.logs[j - kFirstNode];
  return {static_cast<double>(minus_k), m * node.reciprocal - 1.0, &node};
}

struct SplitAngle {
  int node;        // of kTurnNodes
  double residue;  // turns beyond it, exact
};

SplitAngle SplitForSinCos(std::uint32_t b) {
  // v in units of 2^-33 turn; a node is 2^25 of them.
  const std::int64_t v = 2 * static_cast<std::int64_t>(b) + 1;
  const std::int64_t node = (v + (std::int64_t{1} << 24)) >> 25;
  const double residue = static_cast<double>(v - (node << 25)) * 0x1p-33;
  return {static_cast<int>(node % kTurnNodes), residue};
}

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr DoubleDouble kLn2Pair = {kLn2, 0x1.abc9e3b39803fp-56};
constexpr double kTwoPi = 0x1.921fb54442d18p+2;

// 1/n to double-double, for the series of ln(1 + f).
constexpr DoubleDouble kThird = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
constexpr DoubleDouble kFifth = {0x1.999999999999ap-3, -0x1.999999999999ap-57};
constexpr DoubleDouble kSixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
constexpr DoubleDouble kSeventh = {0x1.2492492492492p-3, 0x1.2492492492492p-57};

// ln(1 + f) / f = sum of (-f)^n / (n + 1). First omitted term below 2^-112;
// what is left to binary64 is below 2^-53.5, so costs less than 2^-104.
DoubleDouble LogOnePlus(double f) {
  const double g = -f;
  const double tail =
      1.0 / 8 +
      g * (1.0 / 9 + g * (1.0 / 10 +
                          g * (1.0 / 11 +
                               g * (1.0 / 12 + g * (1.0 / 13 + g * (1.0 / 14 + g * (1.0 / 15)))))));
  DoubleDouble sum = kSeventh + g * tail;
  sum = sum * g + kSixth;
  sum = sum * g + kFifth;
  sum = sum * g + 0.25;
  sum = sum * g + kThird;
  sum = sum * g + 0.5;
  sum = sum * g + 1.0;
  return sum * f;
}

// Within 3.2 * 2^-106 of the root, relative (Lefevre et al., "Accurate
// calculation of Euclidean norms", 2023): the remainder of the first root is
// exact.
DoubleDouble Sqrt(DoubleDouble x) {
  const double root = std::sqrt(x.hi);
  const DoubleDouble square = TwoProd(root, root);
  const double rest = ((x.hi - square.hi) - square.lo) + x.lo;
  return QuickTwoSum(root, rest / (2 * root));
}

}  // namespace

// With e = 2^-53, relative: the series is within 1.1 e; k ln 2 within 2 e, so
// that the logarithm is within 2*2 + 1 + 1.1 + 1 = 7.1 e and its root within
// 4.6 e. The sine of the residue is within 3.1 e, its cosine within 1.1 e;
// joined at node 1, whose sine is twice the result, 12.1 e. With the product
// of both, 17.7 e, of the 32 e promised.
NormalPair<double> EstimateNormals(UniformPair uniforms) {
  const Tables& tables = GetTables();
  const SplitLog split = SplitForLog(tables, uniforms.a);
  const double f = split.f;
  const double series =
      f +
      f * f *
          (-1.0 / 2 +
           f * (1.0 / 3 +
                f * (-1.0 / 4 + f * (1.0 / 5 + f * (-1.0 / 6 + f * (1.0 / 7 + f * (-1.0 / 8)))))));
  const double log = (split.minus_k * kLn2 + split.node->log.hi) + series;
  const double radius = std::sqrt(-2 * log);

  const SplitAngle angle = SplitForSinCos(uniforms.b);
  const double y = angle.residue * kTwoPi;
  const double z = y * y;
  const double sine = y + y * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040)));
  const double cosine = 1.0 + z * (-1.0 / 2 + z * (1.0 / 24 + z * (-1.0 / 720)));
  const NormalPair<double>& node = tables.turns[angle.node];
  return {radius * (node.cosine * cosine - node.sine * sine),
          radius * (node.sine * cosine + node.cosine * sine)};
}

// With e^2 = 2^-106, relative: the series is within 6.2 e^2, k ln 2 within
// 4 e^2, so that the logarithm is within 2*4 + 1 + 3.1 + 0.1 + 3 = 15.2 e^2
// and its root within 10.8 e^2; sine and cosine within 256 e^2; the product
// adds 7 e^2.
NormalPair<DoubleDouble> Normals(UniformPair uniforms) {
  const SplitLog split = SplitForLog(GetTables(), uniforms.a);
  const DoubleDouble log = (kLn2Pair * split.minus_k + split.node->log) + LogOnePlus(split.f);
  const DoubleDouble radius = Sqrt({-2 * log.hi, -2 * log.lo});
  const SplitAngle angle = SplitForSinCos(uniforms.b);
  const SinCos turned = TurnSinCos(SplitTurn{angle.node, {angle.residue, 0}});
  return {radius * turned.cos, radius * turned.sin};
}

std::uint64_t RoundNormal(ElementType type, double stddev, UniformPair uniforms, bool sine) {
  const MpfrScope scope;
  return SettleBits(type, [&](mpfr_ptr out) -> mpfr_exp_t {
    const mpfr_prec_t bits = mpfr_get_prec(out);
    Real radius(bits);
    mpfr_set_ui_2exp(radius, 2 * std::uint64_t{uniforms.a} + 1, -33, MPFR_RNDN);
    mpfr_log(radius, radius, MPFR_RNDN);
    mpfr_mul_si(radius, radius, -2, MPFR_RNDN);
    mpfr_sqrt(radius, radius, MPFR_RNDN);
    mpfr_set_ui(out, 2 * std::uint64_t{uniforms.b} + 1, MPFR_RNDN);
    (sine ? mpfr_sinu : mpfr_cosu)(out, out, std::uint64_t{1} << 33, MPFR_RNDN);
    mpfr_mul(out, out, radius, MPFR_RNDN);
    mpfr_mul_d(out, out, stddev, MPFR_RNDN);
    // Five roundings of half a unit each, that of the logarithm halved.
    return mpfr_get_exp(out) - bits + 3;
  });
}

}  // namespace phasor
