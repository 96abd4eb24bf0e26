#ifndef PHASOR_CORE_PCG32_H_
#define PHASOR_CORE_PCG32_H_

/// \file
/// The generator PCG32 (XSH-RR 64/32).
/// Source: O'Neill, "PCG: A family of simple fast space-efficient statistically
/// good algorithms for random number generation", 2014; jump-ahead after Brown,
/// "Random number generation with arbitrary strides", 1994.

#include <bit>
#include <cstdint>

namespace phasor {

class Pcg32 {
 public:
  /// `stream` picks one of 2^63 sequences.
  Pcg32(std::uint64_t seed, std::uint64_t stream) : increment_(2 * stream + 1) {
    Next();
    state_ += seed;
    Next();
  }

  /// The next output.
  std::uint32_t Next() {
    const std::uint64_t state = state_;
    state_ = state * kMultiplier + increment_;
    const auto mixed = static_cast<std::uint32_t>(((state >> 18) ^ state) >> 27);
    return std::rotr(mixed, static_cast<int>(state >> 59));
  }

  /// Leaves out `count` outputs, in O(log count) steps.
  void Advance(std::uint64_t count) {
    // A step is s -> a s + c. Doubling it gives s -> a^2 s + (a + 1) c.
    std::uint64_t multiplier = kMultiplier;
    std::uint64_t increment = increment_;
    for (; count != 0; count >>= 1) {
      if ((count & 1) != 0) state_ = state_ * multiplier + increment;
      increment *= multiplier + 1;
      multiplier *= multiplier;
    }
  }

 private:
  static constexpr std::uint64_t kMultiplier = 6364136223846793005u;

  std::uint64_t state_ = 0;
  std::uint64_t increment_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_PCG32_H_
