#ifndef PHASOR_TESTS_CORE_HOSTILE_SPECS_H_
#define PHASOR_TESTS_CORE_HOSTILE_SPECS_H_

/// \file
/// Tables that a stranger asks for to keep a server busy: of as many elements as
/// possible the rows kernel leaves the rounding open.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/rounding.h"
#include "phasor/core/spec.h"

namespace phasor {

struct HostileSpec {
  std::string name;
  TableSpec spec;
  /// The rows from here on are the worst.
  std::int64_t start;
};

namespace hostile {

// Frequencies m 2^-e that odd positions of 9 bits, from kFirstTie on, take midway
// between two elements, their products having one bit more than the type's: the
// sine is below by the cube of the angle alone, which is 2^-55 ... 2^-25 here. Or
// those `steps` binary64 numbers next to each of them, without them.
inline constexpr std::int64_t kFirstTie = 257;
inline std::vector<double> Ties(ElementType type, std::int64_t pairs, int steps) {
  const int bits = FormatOf(type).precision - 7;  // of m
  std::vector<double> all;
  for (int n = 1; n <= 1023 && static_cast<std::int64_t>(all.size()) < pairs; n += 2) {
    const double m = std::ldexp(1.0, bits - 1) + (bits == 1 ? 0 : n);
    if (m >= std::ldexp(1.0, bits) || (bits == 1 && n > 1)) break;
    for (int e = 34; e <= 64; ++e) {
      const double tie = std::ldexp(m, 1 - bits - e);
      if (steps == 0) all.push_back(tie);
      double above = tie;
      double below = tie;
      for (int k = 0; k < steps; ++k) {
        above = std::nextafter(above, 1.0);
        below = std::nextafter(below, 0.0);
        all.push_back(above);
        if (below >= 0x1p-64) all.push_back(below);
      }
    }
  }
  std::vector<double> frequencies(pairs);
  for (std::int64_t i = 0; i < pairs; ++i) frequencies[i] = all[i % all.size()];
  return frequencies;
}

// Angles at and next to those whose sine (or cosine) is midway between two elements:
// at position 1.
inline std::vector<double> Midpoints(ElementType type, std::int64_t pairs, bool sine) {
  const int precision = FormatOf(type).precision;
  constexpr std::int64_t kSteps = 5;  // binary64 numbers, on either side
  const std::int64_t binades = sine ? 12 : 2;
  std::vector<double> frequencies(pairs);
  for (std::int64_t i = 0; i < pairs; ++i) {
    std::int64_t n = i;
    const auto next = [&n](std::int64_t count) {
      const std::int64_t rest = n % count;
      n /= count;
      return rest;
    };
    const std::int64_t step = next(2 * kSteps + 1) - kSteps;
    const int binade = -1 - static_cast<int>(next(binades));
    const auto odd = static_cast<double>(2 * next(std::int64_t{1} << (precision - 1)) + 1);
    const double midpoint = std::ldexp(1 + std::ldexp(odd, -precision), binade);
    double angle = sine ? std::asin(midpoint) : std::acos(midpoint);
    for (std::int64_t k = 0; k < std::abs(step); ++k) angle = std::nextafter(angle, step * 1e9);
    frequencies[i] = angle;
  }
  return frequencies;
}

inline std::vector<HostileSpec> Specs(ElementType type) {
  constexpr std::int64_t kWide = 65536;
  const auto ladder = [](std::vector<double> frequencies) {
    return ExplicitLadder{std::move(frequencies)};
  };
  std::vector<HostileSpec> specs;
  for (const std::int64_t width : {std::int64_t{512}, kWide}) {
    const std::string of = " of width " + std::to_string(width);
    const auto sines = [&](std::vector<double> frequencies) {
      return Sinusoidal{
          .width = width, .ladder = ladder(std::move(frequencies)), .layout = Layout::kSinOnly};
    };
    const auto rotary = [&](std::vector<double> frequencies, double factor, Layout layout) {
      return Rotary{.width = width,
                    .scaling = ladder(std::move(frequencies)),
                    .attention_factor = factor,
                    .layout = layout};
    };
    const std::vector<double> ties = Ties(type, width / 2, 0);
    const std::vector<double> beside = Ties(type, width / 2, 5);
    specs.push_back({"ties" + of, TableSpec(sines(ties), type), kFirstTie});
    specs.push_back({"next to ties" + of, TableSpec(sines(beside), type), kFirstTie});
    // FLOAT16 has no elements as small as these angles.
    const double scale = type == ElementType::kFloat16 ? 0x1p15 : 0.5;
    specs.push_back(
        {"ties, scaled," + of, TableSpec(rotary(ties, scale, Layout::kSinOnly), type), kFirstTie});
    specs.push_back({"next to ties, scaled," + of,
                     TableSpec(rotary(beside, scale, Layout::kSinOnly), type), kFirstTie});
    // Where the factor itself is midway all cosines of small angles are next to that.
    const double midway = 1 + std::ldexp(1.0, -FormatOf(type).precision);
    if (type != ElementType::kFloat64) {
      specs.push_back({"cosines next to a factor" + of,
                       TableSpec(rotary(beside, midway, Layout::kCosOnly), type), kFirstTie});
    }
    specs.push_back(
        {"midpoints of sines" + of, TableSpec(sines(Midpoints(type, width / 2, true)), type), 1});
    specs.push_back({"midpoints of cosines" + of,
                     TableSpec(Sinusoidal{.width = width,
                                          .ladder = ladder(Midpoints(type, width / 2, false)),
                                          .layout = Layout::kCosOnly},
                               type),
                     1});
  }
  if (type != ElementType::kFloat64) {
    const Rotary scaled{
        .width = 128, .base = 0x1p64, .scaling = LinearScaling{0x1p60}, .layout = Layout::kSinOnly};
    specs.push_back({"scaled powers of two", TableSpec(scaled, type),
                     (std::int64_t{1} << FormatOf(type).precision) + 1});
  }
  return specs;
}

}  // namespace hostile
}  // namespace phasor

#endif  // PHASOR_TESTS_CORE_HOSTILE_SPECS_H_
