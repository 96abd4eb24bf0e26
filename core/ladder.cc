#include "core/ladder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/double_double.h"
#include "core/fp_environment.h"
#include "core/power_product.h"
#include "core/real.h"
#include "core/rounding.h"
#include "core/settle.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"

// When is w = b^(-i/D), D = h - shift, 0 < i, a binary64, or midway between
// two? Then w = m 2^k with m odd, D = n / 2^j with integers, and raising to the
// n-th power b^(-i 2^j) = m^n 2^(kn). With b = c 2^f, c odd, this asks for
// c^(i 2^j) m^n to be a power of two: c = m = 1. So b = 2^f, and f i / D has to
// be an integer. All other terms are decided by more precision.
//
// A ladder's stretch and scale are rational, and what looks like such a number
// then is compared with it exactly (PowerProduct); or w is transcendental:
// by pi in llama3's blend. (YaRN's without floor and ceil has logarithms of
// rational numbers and of pi in it. That none of its terms is rational would
// follow from Schanuel's conjecture.)

namespace phasor {
namespace {

// The exponential magnifies: |ln w_i| < 2^22.
constexpr mpfr_prec_t kExponentialGuardBits = 32;
// Binary64 and what lies midway between two.
constexpr mpfr_prec_t kTieBits = 54;

// Of one frequency, for StopCheck.
constexpr std::int64_t kCostOfRounding = 800;

double ShiftOf(const Ladder& ladder) {
  struct Visitor {
    double operator()(const PaperLadder&) const { return 0; }
    double operator()(const InclusiveLadder&) const { return 1; }
    double operator()(const DownscaledLadder& l) const { return *l.downscale_shift; }
    double operator()(const ExplicitLadder&) const { return 0; }
    double operator()(const TimescaleLadder&) const { return 1; }
  };
  return std::visit(Visitor{}, ladder);
}

// Beyond this no root of what is not stretched is rational: base^(1/n) is one
// only if n divides the exponent of each prime in the base, and a quotient of
// two binary64 from 2^-32 to 2^64 has exponents of 200 at most.
constexpr int kLargestRoot = 1 << 16;

}  // namespace

FrequencyLadder::FrequencyLadder(const Sinusoidal& spec)
    : size_(PairsOf(spec.width, spec.odd_column)) {
  if (const auto* ladder = std::get_if<ExplicitLadder>(&spec.ladder)) {
    given_ = ladder->frequencies;
    return;
  }
  shift_ = ShiftOf(spec.ladder);
  if (spec.odd_column == OddColumn::kSine && std::holds_alternative<PaperLadder>(spec.ladder)) {
    shift_ = 0.5;  // 2i / width = i / (h - 1/2)
  }
  if (const auto* ladder = std::get_if<TimescaleLadder>(&spec.ladder)) {
    const mpq_class least(ladder->min_timescale);
    SetBase(mpq_class(ladder->max_timescale) / least);
    scale_ = MakeUniformScale(least, size_);
  } else {
    SetBase(*spec.base);
  }
}

FrequencyLadder::FrequencyLadder(const Rotary& spec)
    : size_(spec.width / 2), stretch_(StretchOf(spec)) {
  if (const auto* ladder = std::get_if<ExplicitLadder>(&spec.scaling)) {
    given_ = ladder->frequencies;
    return;
  }
  const MpfrScope scope;
  SetBase(mpq_class(*spec.base));
  scale_ = MakeRopeScale(spec);
}

FrequencyLadder::FrequencyLadder(const Timestep& spec)
    : size_(spec.width / 2), shift_(*spec.downscale_freq_shift) {
  SetBase(mpq_class(spec.max_period));
  scale_ = MakeUniformScale(mpq_class(spec.scale), size_);
}

FrequencyLadder::FrequencyLadder(const NoPosition& spec) {
  if (spec.additive) return;
  size_ = spec.width / 2;
  given_.assign(size_, 0.0);
}

FrequencyLadder FrequencyLadder::Of(const CanonicalSpec& spec) {
  struct Visitor {
    FrequencyLadder operator()(const Sinusoidal& s) const { return FrequencyLadder(s); }
    FrequencyLadder operator()(const Rotary& r) const { return FrequencyLadder(r); }
    FrequencyLadder operator()(const Timestep& t) const { return FrequencyLadder(t); }
    FrequencyLadder operator()(const NoPosition& n) const { return FrequencyLadder(n); }
    FrequencyLadder operator()(const Alibi&) const { return {}; }
    FrequencyLadder operator()(const RelativeBuckets&) const { return {}; }
    FrequencyLadder operator()(const LearnedInit&) const { return {}; }
    FrequencyLadder operator()(const LearnedTable&) const { return {}; }
  };
  return std::visit(Visitor{}, spec.spec().scheme);
}

void FrequencyLadder::SetBase(const mpq_class& base) {
  base_ = base;
  const mpz_class& whole = base.get_num();
  if (stretch_ == 1 && base.get_den() == 1 && mpz_popcount(whole.get_mpz_t()) == 1) {
    base_exponent_ = static_cast<int>(mpz_sizeinbase(whole.get_mpz_t(), 2)) - 1;
  }
}

std::int64_t FrequencyLadder::memory_bytes() const {
  return static_cast<std::int64_t>(given_.capacity() * sizeof(double)) +
         (scale_ == nullptr ? 0 : scale_->memory_bytes());
}

std::optional<std::int64_t> FrequencyLadder::ExactExponent(std::int64_t i) const {
  if (is_given()) return std::nullopt;
  if (i == 0) return 0;
  if (base_exponent_ == 0) return std::nullopt;
  const std::int64_t numerator = base_exponent_ * i;
  // k (h - shift) = numerator: below 2^23, so the quotient's rounding cannot hide an integer.
  const std::int64_t k =
      std::llround(static_cast<double>(numerator) / (static_cast<double>(size_) - shift_));
  // Then k shift is an integer; a shift this small has no such multiple.
  if (k == 0 || (shift_ != 0 && shift_ < 0x1p-60)) return std::nullopt;
  const DoubleDouble product = TwoProd(static_cast<double>(k), shift_);
  if (product.lo != 0 || product.hi != static_cast<double>(k * size_ - numerator)) {
    return std::nullopt;
  }
  return k;
}

std::optional<double> FrequencyLadder::ExactFrequency(std::int64_t i, mpfr_srcptr w) const {
  if (is_given()) return given_[i];
  Real exact(kTieBits);
  constexpr mpfr_exp_t kLeastExponent = -1021;
  if (!TakeExact(i, w, exact) || mpfr_min_prec(exact) > kTieBits - 1) return std::nullopt;
  if (mpfr_zero_p(exact) == 0 && mpfr_get_exp(exact) < kLeastExponent) return std::nullopt;
  return mpfr_get_d(exact, MPFR_RNDN);
}

bool FrequencyLadder::TakeExact(std::int64_t i, mpfr_srcptr w, mpfr_ptr out) const {
  if (is_given() || (scale_ == nullptr && stretch_ == 1)) {
    if (!is_given() && !ExactExponent(i).has_value()) return false;
    mpfr_set(out, w, MPFR_RNDN);
    return true;
  }
  mpfr_set(out, w, MPFR_RNDN);
  if (mpfr_zero_p(w) != 0) return true;
  Real difference(kTieBits);
  mpfr_sub(difference, w, out, MPFR_RNDN);
  if (mpfr_zero_p(difference) == 0 &&
      mpfr_get_exp(difference) > mpfr_get_exp(w) + kChainErrorExponent) {
    return false;
  }
  std::optional<mpq_class> ratio = 1;
  if (scale_ != nullptr) ratio = scale_->Ratio(i);
  if (!ratio.has_value()) return false;
  // base^(-i/(h - shift)) stretch^(-i/(h-1)) ratio = out, to a power that makes
  // the exponents integers.
  const mpq_class root = i == 0 ? mpq_class(0) : i / (size_ - mpq_class(shift_));
  if (root.get_den() > kLargestRoot) return false;
  const std::int64_t steps = std::max<std::int64_t>(size_ - 1, 1);
  const std::int64_t power = root.get_den().get_si() * steps;
  mpq_class candidate;
  mpfr_get_q(candidate.get_mpq_t(), out);
  PowerProduct product;
  product.Multiply(base_, -root.get_num().get_si() * steps);
  product.Multiply(stretch_, -i * root.get_den().get_si());
  product.Multiply(*ratio / candidate, power);
  return product.IsOne();
}

void FrequencyLadder::Decrement(mpfr_ptr out) const {
  Real divisor(mpfr_get_prec(out));
  mpfr_set_si(divisor, size_, MPFR_RNDN);
  mpfr_sub_d(divisor, divisor, shift_, MPFR_RNDN);
  mpfr_set_q(out, base_.get_mpq_t(), MPFR_RNDN);
  mpfr_log(out, out, MPFR_RNDN);
  mpfr_div(out, out, divisor, MPFR_RNDN);
  if (stretch_ == 1) return;
  // Both terms are positive. ln(t) of a t near 1 wants log1p.
  Real stretch(mpfr_get_prec(out));
  mpfr_set_q(stretch, mpq_class(stretch_ - 1).get_mpq_t(), MPFR_RNDN);
  mpfr_log1p(stretch, stretch, MPFR_RNDN);
  mpfr_div_si(stretch, stretch, size_ - 1, MPFR_RNDN);
  mpfr_add(out, out, stretch, MPFR_RNDN);
}

void FrequencyLadder::Unscaled(std::int64_t i, mpfr_ptr out) const {
  if (const auto k = ExactExponent(i)) {
    mpfr_set_si_2exp(out, 1, -*k, MPFR_RNDN);
    return;
  }
  Real exponent(mpfr_get_prec(out) + kExponentialGuardBits);
  Decrement(exponent);
  mpfr_mul_si(exponent, exponent, -i, MPFR_RNDN);
  mpfr_exp(out, exponent, MPFR_RNDN);
}

void FrequencyLadder::Frequency(std::int64_t i, mpfr_ptr out) const {
  if (is_given()) {
    mpfr_set_d(out, given_[i], MPFR_RNDN);
  } else if (scale_ == nullptr) {
    Unscaled(i, out);
  } else {
    Real w(mpfr_get_prec(out) + kRopeScaleGuardBits + 8);
    Unscaled(i, w);
    scale_->Apply(i, w);
    mpfr_set(out, w, MPFR_RNDN);
  }
}

// With p bits, the ratio and the first are within 2^(2-p) and each product adds
// 2^-p: after i < 2^15 steps the power is within 2^15 2^(3-p) = 2^(18-p). Where a
// scale follows, there are as many more bits as it may spoil.
void FrequencyLadder::ForEach(absl::FunctionRef<bool(std::int64_t, mpfr_srcptr)> visit,
                              std::int64_t first, mpfr_prec_t bits) const {
  Real w(bits);
  if (is_given()) {
    for (std::int64_t i = first; i < size_; ++i) {
      mpfr_set_d(w, given_[i], MPFR_RNDN);
      if (!visit(i, w)) return;
    }
    return;
  }
  if (scale_ != nullptr) bits += kRopeScaleGuardBits;
  Real exponent(bits + kExponentialGuardBits);
  Real ratio(bits);
  Decrement(exponent);
  mpfr_neg(exponent, exponent, MPFR_RNDN);
  mpfr_exp(ratio, exponent, MPFR_RNDN);
  Real unscaled(bits);
  Real scaled(bits);
  Unscaled(first, unscaled);
  for (std::int64_t i = first; i < size_; ++i) {
    if (const auto k = ExactExponent(i)) mpfr_set_si_2exp(unscaled, 1, -*k, MPFR_RNDN);
    mpfr_set(scaled, unscaled, MPFR_RNDN);
    if (scale_ != nullptr) scale_->Apply(i, scaled);
    mpfr_set(w, scaled, MPFR_RNDN);
    if (!visit(i, w)) return;
    mpfr_mul(unscaled, unscaled, ratio, MPFR_RNDN);
  }
}

std::vector<double> FrequencyLadder::Rounded(StopCheck& stop) const {
  std::vector<double> result(size_);
  Real exact(kTieBits);
  ForEach([&](std::int64_t i, mpfr_srcptr w) {
    std::uint64_t bits = 0;
    if (TakeExact(i, w, exact)) {
      bits = RoundToBits(ElementType::kFloat64, exact);
    } else if (const auto decided =
                   DecideBits(ElementType::kFloat64, w, mpfr_get_exp(w) + kChainErrorExponent)) {
      bits = *decided;
    } else {
      bits = SettleBits(ElementType::kFloat64, [&](mpfr_ptr out) {
        Frequency(i, out);
        return mpfr_get_exp(out) + 1 - mpfr_get_prec(out);
      });
    }
    result[i] = std::bit_cast<double>(bits) + 0.0;  // a zero given as -0 is a zero
    return !stop.After(kCostOfRounding);
  });
  return result;
}

absl::StatusOr<std::vector<double>> Frequencies(const CanonicalSpec& spec, StopRequest stop) {
  if (spec.pairs() == 0) {
    return FieldError(absl::StatusCode::kInvalidArgument, "spec",
                      absl::StrCat(SchemeName(spec.spec().scheme),
                                   " tables have no frequencies; ask for those of a table of"
                                   " sines and cosines"));
  }
  const FpEnvironment environment;
  const MpfrScope scope;
  StopCheck check(stop);
  std::vector<double> frequencies = FrequencyLadder::Of(spec).Rounded(check);
  if (check.stopped()) return check.status();
  return frequencies;
}

}  // namespace phasor
