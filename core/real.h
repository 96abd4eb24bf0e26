#ifndef PHASOR_CORE_REAL_H_
#define PHASOR_CORE_REAL_H_

/// \file
/// MPFR numbers that clean up after themselves.

#include <gmp.h>
#include <mpfr.h>

#include "core/double_double.h"

namespace phasor {

/// MPFR's per-thread state as core needs it: the widest exponent range. Gives
/// the caller's range and flags back at the end, and sees to it that MPFR's
/// per-thread caches are freed when the thread ends. Stands in every function
/// that makes a Real.
class MpfrScope {
 public:
  MpfrScope();
  ~MpfrScope();
  MpfrScope(const MpfrScope&) = delete;
  MpfrScope& operator=(const MpfrScope&) = delete;

 private:
  mpfr_exp_t emin_;
  mpfr_exp_t emax_;
  mpfr_flags_t flags_;
};

/// One MPFR number of a fixed precision; passes for mpfr_ptr.
class Real {
 public:
  explicit Real(mpfr_prec_t bits) { mpfr_init2(value_, bits); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;

  // Implicit, as an mpfr_t decays to these.
  operator mpfr_ptr() { return value_; }           // NOLINT(google-explicit-constructor)
  operator mpfr_srcptr() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  mpfr_t value_;
};

/// One GMP integer; passes for mpz_ptr.
class Integer {
 public:
  Integer() { mpz_init(value_); }
  ~Integer() { mpz_clear(value_); }
  Integer(const Integer&) = delete;
  Integer& operator=(const Integer&) = delete;

  operator mpz_ptr() { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  mpz_t value_;
};

/// `x` as a double-double, within 2^-106, relative. **Range**: that of
/// double_double.h.
DoubleDouble ToDoubleDouble(mpfr_srcptr x);

}  // namespace phasor

#endif  // PHASOR_CORE_REAL_H_
