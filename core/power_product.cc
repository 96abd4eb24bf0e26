#include "core/power_product.h"

#include <algorithm>
#include <utility>

namespace phasor {

void PowerProduct::Multiply(const mpq_class& base, std::int64_t exponent) {
  factors_.push_back({base.get_num(), exponent});
  factors_.push_back({base.get_den(), -exponent});
}

bool PowerProduct::IsOne() const {
  // All factors in `apart` are above 1 and prime to each other.
  std::vector<Factor> apart;
  std::vector<Factor> rest = factors_;
  while (!rest.empty()) {
    Factor next = std::move(rest.back());
    rest.pop_back();
    if (next.value == 1 || next.exponent == 0) continue;
    const auto shared = std::find_if(apart.begin(), apart.end(), [&](const Factor& factor) {
      return gcd(factor.value, next.value) != 1;
    });
    if (shared == apart.end()) {
      apart.push_back(std::move(next));
      continue;
    }
    // x^a y^b with d = gcd(x, y) is (x/d)^a (y/d)^b d^(a+b); the product of the
    // values falls, so this ends.
    const mpz_class divisor = gcd(shared->value, next.value);
    rest.push_back({divisor, shared->exponent + next.exponent});
    rest.push_back({shared->value / divisor, shared->exponent});
    rest.push_back({next.value / divisor, next.exponent});
    apart.erase(shared);
  }
  return apart.empty();
}

}  // namespace phasor
