#ifndef PHASOR_ELEMENTS_H_
#define PHASOR_ELEMENTS_H_

/// \file
/// The C++ types of a table's elements, and spans of them as bytes.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "phasor/core/element_type.h"

namespace phasor {

/// An IEEE 754 binary16, as its bits.
struct Float16 {
  std::uint16_t bits;
  bool operator==(const Float16&) const = default;
};

/// The upper half of a binary32, as its bits.
struct Bfloat16 {
  std::uint16_t bits;
  bool operator==(const Bfloat16&) const = default;
};

/// The same number as a float; exact for every value.
constexpr float ToFloat(Bfloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}
constexpr float ToFloat(Float16 x) {
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (x.bits >> 10) & 0x1FU;
  const std::uint32_t fraction = x.bits & 0x3FFU;
  if (exponent == 0) {  // subnormals: a multiple of 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign == 0 ? magnitude : -magnitude;
  }
  const std::uint32_t wide = exponent == 0x1FU ? 0xFFU : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

/// The C++ types that a table's elements have: float for FLOAT32, double for
/// FLOAT64, Float16, Bfloat16, std::int32_t for INT32.
template <typename T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, Float16> ||
    std::same_as<T, Bfloat16> || std::same_as<T, std::int32_t>;

/// The element type that T stands for.
template <Element T>
constexpr ElementType ElementTypeOf() {
  if constexpr (std::same_as<T, float>) return ElementType::kFloat32;
  if constexpr (std::same_as<T, double>) return ElementType::kFloat64;
  if constexpr (std::same_as<T, Float16>) return ElementType::kFloat16;
  if constexpr (std::same_as<T, Bfloat16>) return ElementType::kBfloat16;
  if constexpr (std::same_as<T, std::int32_t>) return ElementType::kInt32;
}

/// The bytes of `elements`.
template <Element T>
absl::Span<std::byte> AsBytes(absl::Span<T> elements) {
  return {reinterpret_cast<std::byte*>(elements.data()), elements.size() * sizeof(T)};
}
template <Element T>
absl::Span<const std::byte> AsBytes(absl::Span<const T> elements) {
  return {reinterpret_cast<const std::byte*>(elements.data()), elements.size() * sizeof(T)};
}

}  // namespace phasor

#endif  // PHASOR_ELEMENTS_H_
