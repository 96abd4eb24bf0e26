#include "tests/oracle/rotary.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <variant>

namespace phasor::oracle {
namespace {

// Longer than any result by more than what cancels.
constexpr mpfr_prec_t kGuardBits = 600;

// base^(-2i/width)
void InverseFrequency(mpfr_srcptr base, std::int64_t i, std::int64_t width, mpfr_ptr out) {
  Number exponent(mpfr_get_prec(out) + 64);
  mpfr_set_si(exponent.v, -2 * i, MPFR_RNDN);
  mpfr_div_si(exponent.v, exponent.v, width, MPFR_RNDN);
  mpfr_pow(out, base, exponent.v, MPFR_RNDN);
}

// find_correction_dim: dim ln(M / (rotations 2 pi)) / (2 ln base)
void CorrectionDim(double rotations, std::int64_t dim, double base, std::int64_t length,
                   mpfr_ptr out) {
  const mpfr_prec_t bits = mpfr_get_prec(out);
  Number numerator(bits);
  mpfr_const_pi(numerator.v, MPFR_RNDN);
  mpfr_mul_ui(numerator.v, numerator.v, 2, MPFR_RNDN);
  mpfr_mul_d(numerator.v, numerator.v, rotations, MPFR_RNDN);
  mpfr_si_div(numerator.v, length, numerator.v, MPFR_RNDN);
  mpfr_log(numerator.v, numerator.v, MPFR_RNDN);
  mpfr_mul_si(numerator.v, numerator.v, dim, MPFR_RNDN);
  mpfr_set_d(out, base, MPFR_RNDN);
  mpfr_log(out, out, MPFR_RNDN);
  mpfr_mul_ui(out, out, 2, MPFR_RNDN);
  mpfr_div(out, numerator.v, out, MPFR_RNDN);
}

void Yarn(const Rotary& spec, const YarnScaling& yarn, std::int64_t i, mpfr_ptr out) {
  const mpfr_prec_t bits = mpfr_get_prec(out);
  Number low(bits);
  Number high(bits);
  CorrectionDim(yarn.beta_fast, spec.width, *spec.base, yarn.original_max_position_embeddings,
                low.v);
  CorrectionDim(yarn.beta_slow, spec.width, *spec.base, yarn.original_max_position_embeddings,
                high.v);
  if (yarn.truncate) {
    mpfr_floor(low.v, low.v);
    mpfr_ceil(high.v, high.v);
  }
  if (mpfr_cmp_si(low.v, 0) < 0) mpfr_set_si(low.v, 0, MPFR_RNDN);
  if (mpfr_cmp_si(high.v, spec.width - 1) > 0) mpfr_set_si(high.v, spec.width - 1, MPFR_RNDN);
  if (mpfr_equal_p(low.v, high.v) != 0) {
    Number thousandth(bits);
    mpfr_set_ui(thousandth.v, 1, MPFR_RNDN);
    mpfr_div_ui(thousandth.v, thousandth.v, 1000, MPFR_RNDN);
    mpfr_add(high.v, high.v, thousandth.v, MPFR_RNDN);
  }
  Number ramp(bits);
  mpfr_si_sub(ramp.v, i, low.v, MPFR_RNDN);
  mpfr_sub(high.v, high.v, low.v, MPFR_RNDN);
  mpfr_div(ramp.v, ramp.v, high.v, MPFR_RNDN);
  if (mpfr_cmp_si(ramp.v, 0) < 0) mpfr_set_si(ramp.v, 0, MPFR_RNDN);
  if (mpfr_cmp_si(ramp.v, 1) > 0) mpfr_set_si(ramp.v, 1, MPFR_RNDN);
  // (b/s) ramp + b (1 - ramp)
  Number slow(bits);
  mpfr_div_d(slow.v, out, yarn.factor, MPFR_RNDN);
  mpfr_mul(slow.v, slow.v, ramp.v, MPFR_RNDN);
  mpfr_ui_sub(ramp.v, 1, ramp.v, MPFR_RNDN);
  mpfr_mul(out, out, ramp.v, MPFR_RNDN);
  mpfr_add(out, out, slow.v, MPFR_RNDN);
}

void Llama3(const Llama3Scaling& llama, mpfr_ptr out) {
  const mpfr_prec_t bits = mpfr_get_prec(out);
  const auto length = llama.original_max_position_embeddings;
  Number wavelength(bits);
  mpfr_const_pi(wavelength.v, MPFR_RNDN);
  mpfr_mul_ui(wavelength.v, wavelength.v, 2, MPFR_RNDN);
  mpfr_div(wavelength.v, wavelength.v, out, MPFR_RNDN);
  Number limit(bits);
  mpfr_set_si(limit.v, length, MPFR_RNDN);
  mpfr_div_d(limit.v, limit.v, llama.high_freq_factor, MPFR_RNDN);
  if (mpfr_cmp(wavelength.v, limit.v) < 0) return;
  mpfr_set_si(limit.v, length, MPFR_RNDN);
  mpfr_div_d(limit.v, limit.v, llama.low_freq_factor, MPFR_RNDN);
  if (mpfr_cmp(wavelength.v, limit.v) > 0) {
    mpfr_div_d(out, out, llama.factor, MPFR_RNDN);
    return;
  }
  Number smooth(bits);
  mpfr_si_div(smooth.v, length, wavelength.v, MPFR_RNDN);
  mpfr_sub_d(smooth.v, smooth.v, llama.low_freq_factor, MPFR_RNDN);
  Number span(bits);
  mpfr_set_d(span.v, llama.high_freq_factor, MPFR_RNDN);
  mpfr_sub_d(span.v, span.v, llama.low_freq_factor, MPFR_RNDN);
  mpfr_div(smooth.v, smooth.v, span.v, MPFR_RNDN);
  Number slow(bits);
  mpfr_ui_sub(slow.v, 1, smooth.v, MPFR_RNDN);
  mpfr_mul(slow.v, slow.v, out, MPFR_RNDN);
  mpfr_div_d(slow.v, slow.v, llama.factor, MPFR_RNDN);
  mpfr_mul(out, out, smooth.v, MPFR_RNDN);
  mpfr_add(out, out, slow.v, MPFR_RNDN);
}

struct ScaledFrequency {
  const Rotary& spec;
  std::int64_t i;
  mpfr_ptr out;

  void operator()(const NoScaling&) const { Plain(); }
  void operator()(const LinearScaling& s) const {
    Plain();
    mpfr_div_d(out, out, s.factor, MPFR_RNDN);
  }
  void operator()(const NtkScaling& s) const {
    Number factor(53);
    mpfr_set_d(factor.v, s.factor, MPFR_RNDN);
    Raised(factor.v);
  }
  void operator()(const DynamicNtkScaling& s) const {
    // factor L / M - (factor - 1)
    Number amount(mpfr_get_prec(out));
    mpfr_set_d(amount.v, s.factor, MPFR_RNDN);
    mpfr_mul_si(amount.v, amount.v, std::max(s.sequence_length, s.max_position_embeddings),
                MPFR_RNDN);
    mpfr_div_si(amount.v, amount.v, s.max_position_embeddings, MPFR_RNDN);
    mpfr_sub_d(amount.v, amount.v, s.factor, MPFR_RNDN);
    mpfr_add_si(amount.v, amount.v, 1, MPFR_RNDN);
    Raised(amount.v);
  }
  void operator()(const YarnScaling& s) const {
    Plain();
    Yarn(spec, s, i, out);
  }
  void operator()(const LongRopeScaling& s) const {
    Plain();
    const bool is_long = s.sequence_length > s.original_max_position_embeddings;
    mpfr_div_d(out, out, is_long ? s.long_factor[i] : s.short_factor[i], MPFR_RNDN);
  }
  void operator()(const Llama3Scaling& s) const {
    Plain();
    Llama3(s, out);
  }
  void operator()(const ProportionalScaling& s) const {
    // rope_angles = int(proportion * head_dim // 2)
    Number live(mpfr_get_prec(out));
    mpfr_set_d(live.v, s.partial_rotary_factor, MPFR_RNDN);
    mpfr_mul_si(live.v, live.v, spec.width, MPFR_RNDN);
    mpfr_div_ui(live.v, live.v, 2, MPFR_RNDN);
    mpfr_floor(live.v, live.v);
    if (mpfr_cmp_si(live.v, i) <= 0) {
      mpfr_set_zero(out, 1);
      return;
    }
    Plain();
    mpfr_div_d(out, out, s.factor, MPFR_RNDN);
  }
  void operator()(const ExplicitLadder& s) const { mpfr_set_d(out, s.frequencies[i], MPFR_RNDN); }

 private:
  void Plain() const {
    Number base(53);
    mpfr_set_d(base.v, *spec.base, MPFR_RNDN);
    InverseFrequency(base.v, i, spec.width, out);
  }
  // The base times amount^(width / (width - 2)).
  void Raised(mpfr_srcptr amount) const {
    Number base(mpfr_get_prec(out) + 64);
    Number exponent(mpfr_get_prec(out) + 64);
    mpfr_set_si(exponent.v, spec.width, MPFR_RNDN);
    mpfr_div_si(exponent.v, exponent.v, spec.width - 2, MPFR_RNDN);
    mpfr_pow(base.v, amount, exponent.v, MPFR_RNDN);
    mpfr_mul_d(base.v, base.v, *spec.base, MPFR_RNDN);
    InverseFrequency(base.v, i, spec.width, out);
  }
};

// get_mscale: 1 where scale <= 1, else 0.1 mscale ln(scale) + 1.
void Mscale(double scale, double mscale, mpfr_ptr out) {
  mpfr_set_d(out, scale, MPFR_RNDN);
  mpfr_log(out, out, MPFR_RNDN);
  mpfr_mul_d(out, out, mscale, MPFR_RNDN);
  mpfr_div_ui(out, out, 10, MPFR_RNDN);
  mpfr_add_ui(out, out, 1, MPFR_RNDN);
}

// `value`, or what is so near that only an exact value is.
void Snap(mpfr_ptr value) {
  Number near(60);
  mpfr_set(near.v, value, MPFR_RNDN);
  Number error(60);
  mpfr_sub(error.v, value, near.v, MPFR_RNDN);
  if (mpfr_zero_p(error.v) != 0 || mpfr_get_exp(error.v) < mpfr_get_exp(value) - 250) {
    mpfr_set(value, near.v, MPFR_RNDN);
  }
}

bool IsZeroPosition(Position p) { return p.integer == 0 && p.fraction == 0; }

}  // namespace

RotaryTable::RotaryTable(Rotary spec, ElementType type) : spec_(std::move(spec)), type_(type) {
  if (!spec_.base.has_value()) spec_.base = 10000.0;
}

void RotaryTable::Frequency(std::int64_t i, mpfr_ptr out) const {
  Number value(mpfr_get_prec(out) + kGuardBits);
  std::visit(ScaledFrequency{spec_, i, value.v}, spec_.scaling);
  mpfr_set(out, value.v, MPFR_RNDN);
}

double RotaryTable::Frequency(std::int64_t i) const {
  Number value(600);
  Frequency(i, value.v);
  if (mpfr_zero_p(value.v) == 0) Snap(value.v);
  return Value(ElementType::kFloat64, Round(ElementType::kFloat64, value.v));
}

void RotaryTable::AttentionFactor(mpfr_ptr out) const {
  mpfr_set_ui(out, 1, MPFR_RNDN);
  if (spec_.attention_factor.has_value()) {
    mpfr_set_d(out, *spec_.attention_factor, MPFR_RNDN);
  } else if (const auto* yarn = std::get_if<YarnScaling>(&spec_.scaling)) {
    Mscale(yarn->factor, yarn->mscale.value_or(1), out);
    if (yarn->mscale_all_dim.has_value()) {
      Number all(mpfr_get_prec(out));
      Mscale(yarn->factor, *yarn->mscale_all_dim, all.v);
      mpfr_div(out, out, all.v, MPFR_RNDN);
    }
  } else if (const auto* longrope = std::get_if<LongRopeScaling>(&spec_.scaling)) {
    Number log(mpfr_get_prec(out));
    mpfr_set_si(log.v, longrope->original_max_position_embeddings, MPFR_RNDN);
    mpfr_log(log.v, log.v, MPFR_RNDN);
    mpfr_set_d(out, *longrope->factor, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_div(out, out, log.v, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    mpfr_sqrt(out, out, MPFR_RNDN);
  }
}

double RotaryTable::AttentionFactor() const {
  Number value(600);
  AttentionFactor(value.v);
  Snap(value.v);
  return Value(ElementType::kFloat64, Round(ElementType::kFloat64, value.v));
}

std::uint64_t RotaryTable::SineOrCosine(std::int64_t i, Position p, bool sine) const {
  Number probe(64);
  Frequency(i, probe.v);
  if (IsZeroPosition(p) || mpfr_zero_p(probe.v) != 0) {
    if (sine) return 0;
    Number factor(600);
    AttentionFactor(factor.v);
    Snap(factor.v);
    return Round(type_, factor.v);
  }
  for (mpfr_prec_t bits = 400; bits < (1 << 18); bits *= 2) {
    Number angle(bits + 1300);  // takes any position
    Number position(1200);
    mpfr_set_si(position.v, p.integer, MPFR_RNDN);
    if (mpfr_add_d(position.v, position.v, p.fraction, MPFR_RNDN) != 0) std::abort();
    Frequency(i, angle.v);
    mpfr_mul(angle.v, angle.v, position.v, MPFR_RNDN);
    Number value(bits);
    if (sine) {
      mpfr_sin(value.v, angle.v, MPFR_RNDN);
    } else {
      mpfr_cos(value.v, angle.v, MPFR_RNDN);
    }
    Number factor(bits);
    AttentionFactor(factor.v);
    mpfr_mul(value.v, value.v, factor.v, MPFR_RNDN);
    Number error(32);
    mpfr_set_ui_2exp(error.v, 1, mpfr_get_exp(value.v) + 10 - bits, MPFR_RNDU);
    Number low(bits);
    Number high(bits);
    mpfr_sub(low.v, value.v, error.v, MPFR_RNDD);
    mpfr_add(high.v, value.v, error.v, MPFR_RNDU);
    const std::uint64_t result = Round(type_, low.v);
    if (result == Round(type_, high.v)) return result;
  }
  std::abort();
}

std::uint64_t RotaryTable::Column(Position p, std::int64_t column) const {
  const Place place = PlaceOf(spec_.layout, pairs(), column);
  return SineOrCosine(place.pair, p, place.sine);
}

}  // namespace phasor::oracle
