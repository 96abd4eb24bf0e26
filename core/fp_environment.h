#ifndef PHASOR_CORE_FP_ENVIRONMENT_H_
#define PHASOR_CORE_FP_ENVIRONMENT_H_

/// \file
/// The floating-point environment that core computes in.

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace phasor {

/// While it lives, the thread rounds to nearest, keeps subnormals and traps
/// nothing; then the caller's own environment stands again, status flags
/// included. Stands first in every public function that computes.
class FpEnvironment {
 public:
#if defined(__SSE2__)
  FpEnvironment() : callers_(_mm_getcsr()) {
    _mm_setcsr(kDefault);
    Barrier();
  }
  ~FpEnvironment() {
    Barrier();
    _mm_setcsr(callers_);
  }
#elif defined(__aarch64__)
  FpEnvironment() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
    asm volatile("msr fpcr, xzr");  // flush-to-zero is no part of FE_DFL_ENV everywhere
    Barrier();
  }
  ~FpEnvironment() {
    Barrier();
    std::fesetenv(&callers_);
  }
#else
  FpEnvironment() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
    Barrier();
  }
  ~FpEnvironment() {
    Barrier();
    std::fesetenv(&callers_);
  }
#endif
  FpEnvironment(const FpEnvironment&) = delete;
  FpEnvironment& operator=(const FpEnvironment&) = delete;

 private:
  // The compiler knows nothing of modes: what is read from memory after this is
  // computed after it, what is stored before it was computed before it.
  static void Barrier() { asm volatile("" ::: "memory"); }

#if defined(__SSE2__)
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, the rest zero
  unsigned callers_;
#else
  std::fenv_t callers_;
#endif
};

}  // namespace phasor

#endif  // PHASOR_CORE_FP_ENVIRONMENT_H_
