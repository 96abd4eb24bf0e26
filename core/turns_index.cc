#include "core/turns_index.h"

#include <algorithm>

#include "core/real.h"

namespace phasor {

mpfr_exp_t TurnsIndex::Value(double turns, mpfr_ptr out) const {
  const mpfr_prec_t bits = mpfr_get_prec(out);
  Real scale(bits);  // h / ln base
  mpfr_set_d(scale, base_, MPFR_RNDN);
  mpfr_log(scale, scale, MPFR_RNDN);
  mpfr_si_div(scale, pairs_, scale, MPFR_RNDN);
  // Of the quotient three roundings are relative, so absolute in its logarithm.
  mpfr_const_pi(out, MPFR_RNDN);
  mpfr_mul_d(out, out, 2 * turns, MPFR_RNDN);
  mpfr_si_div(out, positions_, out, MPFR_RNDN);
  mpfr_log(out, out, MPFR_RNDN);
  const mpfr_exp_t error =
      mpfr_get_exp(scale) + std::max<mpfr_exp_t>(mpfr_zero_p(out) != 0 ? 0 : mpfr_get_exp(out), 0);
  mpfr_mul(out, out, scale, MPFR_RNDN);
  return error + 5;
}

std::int64_t TurnsIndex::Floor(double turns, std::int64_t thousandths) const {
  for (mpfr_prec_t bits = 128;; bits *= 2) {
    Real value(bits);
    const mpfr_exp_t error_exponent = Value(turns, value) - bits + 1;
    Real shift(bits);
    mpfr_set_si(shift, thousandths, MPFR_RNDN);
    mpfr_div_ui(shift, shift, 1000, MPFR_RNDN);
    mpfr_add(value, value, shift, MPFR_RNDN);
    Real error(2);
    mpfr_set_ui_2exp(error, 1, error_exponent, MPFR_RNDN);
    const auto floor_of = [&](int (*add)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t),
                              mpfr_rnd_t direction) {
      Real bound(bits);
      add(bound, value, error, direction);
      if (mpfr_cmp_si(bound, -4 * pairs_) < 0) return -4 * pairs_;
      if (mpfr_cmp_si(bound, 4 * pairs_) > 0) return 4 * pairs_;
      return std::int64_t{mpfr_get_si(bound, MPFR_RNDD)};
    };
    const std::int64_t low = floor_of(mpfr_sub, MPFR_RNDD);
    if (low == floor_of(mpfr_add, MPFR_RNDU)) return low;
  }
}

}  // namespace phasor
