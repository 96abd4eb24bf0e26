#ifndef PHASOR_CORE_POWER_PRODUCT_H_
#define PHASOR_CORE_POWER_PRODUCT_H_

/// \file
/// Whether a product of powers is exactly 1.

#include <gmpxx.h>

#include <cstdint>
#include <vector>

namespace phasor {

/// x_1^e_1 x_2^e_2 ... of positive rational numbers and integer exponents.
///
/// A number that is known by such a product of roots, b^(-i/h) for one, is a
/// given rational number if and only if a product with integer exponents is 1.
class PowerProduct {
 public:
  /// **Range**: base > 0; the sum of |exponent| over all bases below 2^62.
  void Multiply(const mpq_class& base, std::int64_t exponent);

  /// Exact, without any power being computed: the bases are taken apart into
  /// factors that are prime to each other, by their greatest common divisors
  /// alone. Such factors have no relation, so that all exponents have to be 0.
  bool IsOne() const;

 private:
  struct Factor {
    mpz_class value;
    std::int64_t exponent;
  };
  std::vector<Factor> factors_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_POWER_PRODUCT_H_
