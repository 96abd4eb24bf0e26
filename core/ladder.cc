#include "core/ladder.h"

#include <bit>
#include <cmath>
#include <variant>

#include "core/double_double.h"
#include "core/fp_environment.h"
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

namespace phasor {
namespace {

// The exponential magnifies: |ln w_i| < 2^22.
constexpr mpfr_prec_t kExponentialGuardBits = 32;

// Of one frequency, for StopCheck.
constexpr std::int64_t kCostOfRounding = 800;

double ShiftOf(const Ladder& ladder) {
  struct Visitor {
    double operator()(const PaperLadder&) const { return 0; }
    double operator()(const InclusiveLadder&) const { return 1; }
    double operator()(const DownscaledLadder& l) const { return *l.downscale_shift; }
    double operator()(const ExplicitLadder&) const { return 0; }
  };
  return std::visit(Visitor{}, ladder);
}

}  // namespace

FrequencyLadder::FrequencyLadder(const Sinusoidal& spec) : size_(spec.width / 2) {
  if (const auto* ladder = std::get_if<ExplicitLadder>(&spec.ladder)) {
    given_ = ladder->frequencies;
    return;
  }
  base_ = *spec.base;
  shift_ = ShiftOf(spec.ladder);
  int exponent = 0;
  if (std::frexp(base_, &exponent) == 0.5) base_exponent_ = exponent - 1;
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

std::optional<double> FrequencyLadder::ExactFrequency(std::int64_t i) const {
  if (is_given()) return given_[i];
  const std::optional<std::int64_t> k = ExactExponent(i);
  if (!k.has_value() || *k > 1022) return std::nullopt;
  return std::ldexp(1.0, -static_cast<int>(*k));
}

void FrequencyLadder::Decrement(mpfr_ptr out) const {
  Real divisor(mpfr_get_prec(out));
  mpfr_set_si(divisor, size_, MPFR_RNDN);
  mpfr_sub_d(divisor, divisor, shift_, MPFR_RNDN);
  mpfr_set_d(out, base_, MPFR_RNDN);
  mpfr_log(out, out, MPFR_RNDN);
  mpfr_div(out, out, divisor, MPFR_RNDN);
}

void FrequencyLadder::Frequency(std::int64_t i, mpfr_ptr out) const {
  if (is_given()) {
    mpfr_set_d(out, given_[i], MPFR_RNDN);
  } else if (const auto k = ExactExponent(i)) {
    mpfr_set_si_2exp(out, 1, -*k, MPFR_RNDN);
  } else {
    Real exponent(mpfr_get_prec(out) + kExponentialGuardBits);
    Decrement(exponent);
    mpfr_mul_si(exponent, exponent, -i, MPFR_RNDN);
    mpfr_exp(out, exponent, MPFR_RNDN);
  }
}

// With p bits, the ratio and the first are within 2^(2-p) and each product adds
// 2^-p: after i < 2^15 steps the power is within 2^15 2^(3-p) = 2^(18-p).
void FrequencyLadder::ForEach(absl::FunctionRef<bool(std::int64_t, mpfr_srcptr)> visit,
                              std::int64_t first, mpfr_prec_t bits) const {
  Real value(bits);
  if (is_given()) {
    for (std::int64_t i = first; i < size_; ++i) {
      mpfr_set_d(value, given_[i], MPFR_RNDN);
      if (!visit(i, value)) return;
    }
    return;
  }
  Real exponent(bits + kExponentialGuardBits);
  Real ratio(bits);
  Decrement(exponent);
  mpfr_neg(exponent, exponent, MPFR_RNDN);
  mpfr_exp(ratio, exponent, MPFR_RNDN);
  Frequency(first, value);
  for (std::int64_t i = first; i < size_; ++i) {
    if (const auto k = ExactExponent(i)) mpfr_set_si_2exp(value, 1, -*k, MPFR_RNDN);
    if (!visit(i, value)) return;
    mpfr_mul(value, value, ratio, MPFR_RNDN);
  }
}

std::vector<double> FrequencyLadder::Rounded(StopCheck& stop) const {
  std::vector<double> result(size_);
  ForEach([&](std::int64_t i, mpfr_srcptr w) {
    std::uint64_t bits = 0;
    if (is_given() || ExactExponent(i).has_value()) {
      bits = RoundToBits(ElementType::kFloat64, w);
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
  const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.spec().scheme);
  if (sinusoidal == nullptr) {
    return FieldError(absl::StatusCode::kInvalidArgument, "spec",
                      "a learned table has no frequencies; ask for those of a sinusoidal one");
  }
  const FpEnvironment environment;
  const MpfrScope scope;
  StopCheck check(stop);
  std::vector<double> frequencies = FrequencyLadder(*sinusoidal).Rounded(check);
  if (check.stopped()) return check.status();
  return frequencies;
}

}  // namespace phasor
