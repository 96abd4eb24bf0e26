#include "core/rope_scale.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "core/real.h"
#include "core/turns_index.h"

namespace phasor {
namespace {

// ratio b_i up to some pair, 0 from there on.
class UniformScale final : public RopeScale {
 public:
  UniformScale(mpq_class ratio, std::int64_t live) : ratio_(std::move(ratio)), live_(live) {}

  void Apply(std::int64_t i, mpfr_ptr w) const override {
    if (i < live_) {
      mpfr_mul_q(w, w, ratio_.get_mpq_t(), MPFR_RNDN);
    } else {
      mpfr_set_zero(w, 1);
    }
  }
  std::optional<mpq_class> Ratio(std::int64_t i) const override {
    return i < live_ ? ratio_ : mpq_class(0);
  }
  bool IsZero(std::int64_t i) const override { return i >= live_; }
  std::int64_t memory_bytes() const override { return sizeof(*this); }

 private:
  const mpq_class ratio_;
  const std::int64_t live_;
};

// b_i / factors[i].
class ListedScale final : public RopeScale {
 public:
  explicit ListedScale(std::vector<double> factors) : factors_(std::move(factors)) {}

  void Apply(std::int64_t i, mpfr_ptr w) const override {
    mpfr_div_d(w, w, factors_[i], MPFR_RNDN);
  }
  std::optional<mpq_class> Ratio(std::int64_t i) const override {
    return 1 / mpq_class(factors_[i]);
  }
  std::int64_t memory_bytes() const override {
    return static_cast<std::int64_t>(sizeof(*this) + factors_.capacity() * sizeof(double));
  }

 private:
  const std::vector<double> factors_;
};

// w *= (1 - share) / factor + share, for `share` within 0 ... 1 but for its error.
void Blend(mpfr_ptr share, double factor, mpfr_ptr w) {
  if (mpfr_sgn(share) < 0) mpfr_set_zero(share, 1);
  if (mpfr_cmp_ui(share, 1) > 0) mpfr_set_ui(share, 1, MPFR_RNDN);
  Real rest(mpfr_get_prec(w));
  mpfr_ui_sub(rest, 1, share, MPFR_RNDN);
  mpfr_div_d(rest, rest, factor, MPFR_RNDN);
  mpfr_add(share, share, rest, MPFR_RNDN);
  mpfr_mul(w, w, share, MPFR_RNDN);
}

// Both blends are continuous, so what decides on which side of a threshold a
// pair stands need not be exact in Apply(); in Ratio() it is.

class YarnScale final : public RopeScale {
 public:
  YarnScale(std::int64_t width, double base, const YarnScaling& yarn)
      : spec_(yarn),
        index_(width / 2, base, yarn.original_max_position_embeddings),
        last_(width - 1),
        floor_fast_(index_.Floor(yarn.beta_fast)),
        floor_slow_(index_.Floor(yarn.beta_slow)) {
    // c is no integer, so its ceiling is one above its floor.
    low_ = std::max<std::int64_t>(floor_fast_, 0);
    high_ = std::min(floor_slow_ + 1, last_);
    if (low_ == high_) high_ += mpq_class(1, 1000);
  }

  void Apply(std::int64_t i, mpfr_ptr w) const override {
    const mpfr_prec_t bits = mpfr_get_prec(w);
    Real share(bits);
    if (spec_.truncate) {
      mpfr_set_q(share, mpq_class(1 - Ramp(i)).get_mpq_t(), MPFR_RNDN);
    } else {
      Real low(bits);
      Real high(bits);
      SetEnds(low, high);
      // 1 - (i - low) / (high - low)
      mpfr_sub_si(share, high, i, MPFR_RNDN);
      mpfr_sub(high, high, low, MPFR_RNDN);
      mpfr_div(share, share, high, MPFR_RNDN);
    }
    Blend(share, spec_.factor, w);
  }

  std::optional<mpq_class> Ratio(std::int64_t i) const override {
    std::optional<mpq_class> ramp;
    if (spec_.factor == 1) {
      ramp = 0;
    } else if (spec_.truncate) {
      ramp = Ramp(i);
    } else {
      ramp = EndOfRamp(i);
    }
    if (!ramp.has_value()) return std::nullopt;
    return mpq_class((1 - *ramp) + *ramp / mpq_class(spec_.factor));
  }

  std::int64_t memory_bytes() const override { return sizeof(*this); }

 private:
  // With floor and ceil.
  mpq_class Ramp(std::int64_t i) const {
    const mpq_class ramp = (i - low_) / (high_ - low_);
    return std::clamp<mpq_class>(ramp, 0, 1);
  }

  // low and high without them.
  void SetEnds(mpfr_ptr low, mpfr_ptr high) const {
    index_.Value(spec_.beta_fast, low);
    if (floor_fast_ < 0) mpfr_set_zero(low, 1);
    index_.Value(spec_.beta_slow, high);
    if (floor_slow_ >= last_) mpfr_set_si(high, last_, MPFR_RNDN);
    if (!AreEqual()) return;
    Real thousandth(mpfr_get_prec(high));
    mpfr_set_ui(thousandth, 1, MPFR_RNDN);
    mpfr_div_ui(thousandth, thousandth, 1000, MPFR_RNDN);
    mpfr_add(high, low, thousandth, MPFR_RNDN);
  }

  // c is no integer: the ends can meet between the cuts alone.
  bool AreEqual() const {
    return spec_.beta_fast == spec_.beta_slow && floor_fast_ >= 0 && floor_slow_ < last_;
  }

  // 0 or 1 where the ramp without floor and ceil is that.
  std::optional<mpq_class> EndOfRamp(std::int64_t i) const {
    if (AreEqual()) {
      if (i <= floor_fast_) return 0;
      if (i > index_.Floor(spec_.beta_fast, 1)) return 1;
      return std::nullopt;
    }
    if (floor_slow_ < 0) return 0;       // high < 0 = low
    if (floor_fast_ >= last_) return 1;  // high = last < low
    if (i <= std::max<std::int64_t>(floor_fast_, 0)) return 0;
    if (i > std::min(floor_slow_, last_ - 1)) return 1;
    return std::nullopt;
  }

  const YarnScaling spec_;
  const TurnsIndex index_;
  const std::int64_t last_;
  const std::int64_t floor_fast_;
  const std::int64_t floor_slow_;
  mpq_class low_;
  mpq_class high_;
};

class Llama3Scale final : public RopeScale {
 public:
  Llama3Scale(std::int64_t width, double base, const Llama3Scaling& llama) : spec_(llama) {
    const TurnsIndex index(width / 2, base, llama.original_max_position_embeddings);
    last_kept_ = index.Floor(llama.high_freq_factor);
    last_blended_ = index.Floor(llama.low_freq_factor);
  }

  void Apply(std::int64_t /*i*/, mpfr_ptr w) const override {
    const mpfr_prec_t bits = mpfr_get_prec(w);
    Real share(bits);
    mpfr_const_pi(share, MPFR_RNDN);
    mpfr_mul_2ui(share, share, 1, MPFR_RNDN);
    mpfr_div(share, w, share, MPFR_RNDN);
    mpfr_mul_si(share, share, spec_.original_max_position_embeddings, MPFR_RNDN);
    mpfr_sub_d(share, share, spec_.low_freq_factor, MPFR_RNDN);
    Real span(bits);
    mpfr_set_d(span, spec_.high_freq_factor, MPFR_RNDN);
    mpfr_sub_d(span, span, spec_.low_freq_factor, MPFR_RNDN);
    mpfr_div(share, share, span, MPFR_RNDN);
    Blend(share, spec_.factor, w);
  }

  std::optional<mpq_class> Ratio(std::int64_t i) const override {
    if (i <= last_kept_ || spec_.factor == 1) return 1;
    if (i > last_blended_) return 1 / mpq_class(spec_.factor);
    return std::nullopt;
  }

  std::int64_t memory_bytes() const override { return sizeof(*this); }

 private:
  const Llama3Scaling spec_;
  std::int64_t last_kept_;     // pairs up to here are not scaled
  std::int64_t last_blended_;  // pairs after here are all scaled
};

struct MakeScale {
  const Rotary& spec;

  using Scale = std::unique_ptr<const RopeScale>;
  Scale operator()(const NoScaling&) const { return nullptr; }
  Scale operator()(const LinearScaling& s) const {
    return std::make_unique<UniformScale>(1 / mpq_class(s.factor), spec.width / 2);
  }
  Scale operator()(const NtkScaling&) const { return nullptr; }
  Scale operator()(const DynamicNtkScaling&) const { return nullptr; }
  Scale operator()(const YarnScaling& s) const {
    return std::make_unique<YarnScale>(spec.width, *spec.base, s);
  }
  Scale operator()(const LongRopeScaling& s) const {
    return std::make_unique<ListedScale>(
        s.sequence_length > s.original_max_position_embeddings ? s.long_factor : s.short_factor);
  }
  Scale operator()(const Llama3Scaling& s) const {
    return std::make_unique<Llama3Scale>(spec.width, *spec.base, s);
  }
  Scale operator()(const ProportionalScaling& s) const {
    const mpq_class pairs = mpq_class(s.partial_rotary_factor) * (spec.width / 2);
    const mpz_class live = pairs.get_num() / pairs.get_den();
    return std::make_unique<UniformScale>(1 / mpq_class(s.factor), live.get_si());
  }
  Scale operator()(const ExplicitLadder&) const { return nullptr; }
};

}  // namespace

std::unique_ptr<const RopeScale> MakeRopeScale(const Rotary& spec) {
  return std::visit(MakeScale{spec}, spec.scaling);
}

std::unique_ptr<const RopeScale> MakeUniformScale(const mpq_class& ratio, std::int64_t pairs) {
  if (ratio == 1) return nullptr;
  return std::make_unique<UniformScale>(ratio, pairs);
}

mpq_class StretchOf(const Rotary& spec) {
  if (const auto* ntk = std::get_if<NtkScaling>(&spec.scaling)) return mpq_class(ntk->factor);
  if (const auto* ntk = std::get_if<DynamicNtkScaling>(&spec.scaling)) {
    const mpq_class factor(ntk->factor);
    const mpq_class length(std::max(ntk->sequence_length, ntk->max_position_embeddings));
    return factor * length / mpq_class(ntk->max_position_embeddings) - (factor - 1);
  }
  return 1;
}

}  // namespace phasor
