#include "core/turn.h"

namespace phasor {

template <std::size_t kLimbs>
DoubleDouble LeadingBits(const std::array<std::uint64_t, kLimbs>& limbs, int exponent) {
  int top = static_cast<int>(kLimbs) - 1;
  while (top >= 0 && limbs[top] == 0) --top;
  if (top < 0) return {};
  const auto limb = [&limbs](int k) { return k < 0 ? std::uint64_t{0} : limbs[k]; };
  return internal::LeadingBits(limb(top), limb(top - 1), limb(top - 2), exponent + 64 * (top - 1));
}

template DoubleDouble LeadingBits(const std::array<std::uint64_t, 4>&, int);
template DoubleDouble LeadingBits(const std::array<std::uint64_t, 6>&, int);

}  // namespace phasor
