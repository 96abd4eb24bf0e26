#include "core/real.h"

namespace phasor {
namespace {

struct CacheOfThisThread {
  ~CacheOfThisThread() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
  // Odr-used, so that the thread's object is made and its destructor run.
  void Touch() const {}
};

thread_local const CacheOfThisThread cache_of_this_thread;

}  // namespace

MpfrScope::MpfrScope() : emin_(mpfr_get_emin()), emax_(mpfr_get_emax()), flags_(mpfr_flags_save()) {
  cache_of_this_thread.Touch();
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}

MpfrScope::~MpfrScope() {
  mpfr_set_emin(emin_);
  mpfr_set_emax(emax_);
  mpfr_flags_restore(flags_, MPFR_FLAGS_ALL);
}

DoubleDouble ToDoubleDouble(mpfr_srcptr x) {
  const double hi = mpfr_get_d(x, MPFR_RNDN);
  Real rest(mpfr_get_prec(x) + 64);
  mpfr_sub_d(rest, x, hi, MPFR_RNDN);
  return {hi, mpfr_get_d(rest, MPFR_RNDN)};
}

}  // namespace phasor
