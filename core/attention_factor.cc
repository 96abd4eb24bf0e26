#include "core/attention_factor.h"

#include <array>
#include <bit>
#include <cmath>
#include <variant>

#include "core/power_product.h"
#include "core/real.h"
#include "core/rounding.h"
#include "core/settle.h"

namespace phasor {
namespace {

// Whether sqrt(1 + ln s / ln M) = c, for c = n/4: s^16 M^(16 - n^2) = 1. There are
// no others: ln s / ln M = c^2 - 1 is j/k in lowest terms, so M < 2^53 is a k-th
// power and k < 53; but k is the square of c's denominator, a power of two.
bool IsRoot(double factor, std::int64_t length, double c) {
  const double quarters = 4 * c;
  if (quarters != std::floor(quarters)) return false;
  const auto n = static_cast<std::int64_t>(quarters);
  PowerProduct product;
  product.Multiply(mpq_class(factor), 16);
  product.Multiply(mpq_class(length), 16 - n * n);
  return product.IsOne();
}

}  // namespace

// Sets what Value() needs.
struct AttentionFactor::Derive {
  AttentionFactor& factor;

  void operator()(const NoScaling&) const {}
  void operator()(const LinearScaling&) const {}
  void operator()(const NtkScaling&) const {}
  void operator()(const DynamicNtkScaling&) const {}
  void operator()(const YarnScaling& s) const {
    factor.factor_ = s.factor;
    factor.mscale_ = s.mscale.value_or(1);
    factor.mscale_all_dim_ = s.mscale_all_dim.value_or(0);
  }
  void operator()(const LongRopeScaling& s) const {
    factor.factor_ = s.factor.value_or(1);
    factor.length_ = s.original_max_position_embeddings;
  }
  void operator()(const Llama3Scaling&) const {}
  void operator()(const ProportionalScaling&) const {}
  void operator()(const ExplicitLadder&) const {}
};

AttentionFactor::AttentionFactor(const Rotary& spec) {
  if (spec.attention_factor.has_value()) {
    SetExact(*spec.attention_factor);
    return;
  }
  std::visit(Derive{*this}, spec.scaling);
  // ln(factor) is transcendental, and so is what is made of it, unless that is 1.
  if (factor_ == 1 || (length_ == 0 && mscale_ == mscale_all_dim_)) return;
  exact_ = std::nullopt;
  const MpfrScope scope;
  Real value(WideReal<4>::kBits);
  Value(value);
  approximate_ = ToDoubleDouble(value);
  Integer significand;
  const mpfr_exp_t exponent = mpfr_get_z_2exp(significand, value);
  const auto limb = [&](mp_size_t k) { return std::uint64_t{mpz_getlimbn(significand, k)}; };
  wide_ = MakeWide<4>(std::array{limb(0), limb(1), limb(2), limb(3)}, exponent);
  if (length_ != 0 && IsRoot(factor_, length_, approximate_.hi)) SetExact(approximate_.hi);
}

void AttentionFactor::SetExact(double value) {
  exact_ = value;
  approximate_ = {value, 0};
  wide_ = MakeWide<4>(value);
}

void AttentionFactor::Value(mpfr_ptr out) const {
  if (exact_.has_value()) {
    mpfr_set_d(out, *exact_, MPFR_RNDN);
    return;
  }
  const mpfr_prec_t bits = mpfr_get_prec(out) + 8;
  Real log(bits);
  mpfr_set_d(log, factor_, MPFR_RNDN);
  mpfr_log(log, log, MPFR_RNDN);
  Real value(bits);
  if (length_ != 0) {
    mpfr_set_si(value, length_, MPFR_RNDN);
    mpfr_log(value, value, MPFR_RNDN);
    mpfr_div(value, log, value, MPFR_RNDN);
    mpfr_add_ui(value, value, 1, MPFR_RNDN);
    mpfr_sqrt(out, value, MPFR_RNDN);
    return;
  }
  mpfr_div_ui(log, log, 10, MPFR_RNDN);
  mpfr_mul_d(value, log, mscale_, MPFR_RNDN);
  mpfr_add_ui(value, value, 1, MPFR_RNDN);
  mpfr_mul_d(log, log, mscale_all_dim_, MPFR_RNDN);
  mpfr_add_ui(log, log, 1, MPFR_RNDN);
  mpfr_div(out, value, log, MPFR_RNDN);
}

std::uint64_t AttentionFactor::Rounded(ElementType type) const {
  if (exact_.has_value()) return RoundToBits(type, *exact_);
  const MpfrScope scope;
  return SettleBits(type, [&](mpfr_ptr out) {
    Value(out);
    return mpfr_get_exp(out) + 1 - mpfr_get_prec(out);
  });
}

}  // namespace phasor
