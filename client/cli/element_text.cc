#include "client/cli/element_text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "phasor/elements.h"

namespace phasor::cli {
namespace {

template <typename T>
T Load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

/// A 16-bit binary format, seen through its magnitudes (patterns without the
/// sign bit), which are in the order of their values.
struct HalfFormat {
  int significand_bits;  // stored ones
  int min_exponent;      // of the last bit of a subnormal

  int infinity() const { return 0x7fff >> significand_bits << significand_bits; }
  /// The value of a magnitude; of infinity(), what would follow the largest
  /// finite value, which is where rounding to infinity is decided.
  double Value(int magnitude) const {
    const int exponent = magnitude >> significand_bits;
    const int fraction = magnitude & ((1 << significand_bits) - 1);
    return exponent == 0
               ? std::ldexp(fraction, min_exponent)
               : std::ldexp(fraction + (1 << significand_bits), min_exponent + exponent - 1);
  }
  /// Whether a positive number rounds to `magnitude`, ties to even.
  bool RoundsTo(double number, int magnitude) const {
    const double value = Value(magnitude);
    const double low = magnitude == 0 ? 0 : (Value(magnitude - 1) + value) / 2;
    const double high = (value + Value(magnitude + 1)) / 2;
    return magnitude % 2 == 0 ? number >= low && number <= high : number > low && number < high;
  }
};

constexpr HalfFormat kFloat16Format{10, -24};
constexpr HalfFormat kBfloat16Format{7, -133};

template <typename T>
std::string_view Shortest(T value, std::array<char, 32>& buffer) {
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

/// The decimal digits * 10^exponent, rounded to binary64.
double FromDecimal(std::int64_t digits, int exponent) {
  const std::string text = absl::StrCat(digits, "e", exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The decimal of fewest digits that reads back to `magnitude`, nearest to its
/// value among those; as the binary64 whose own shortest decimal it is.
double ShortestHalf(const HalfFormat& format, int magnitude) {
  const double value = format.Value(magnitude);
  for (int precision = 0; precision < 6; ++precision) {
    std::array<char, 32> text;
    const char* end =
        std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific, precision)
            .ptr;
    std::int64_t digits = 0;
    const char* at = text.data();
    for (; *at != 'e'; ++at) {
      if (*at != '.') digits = digits * 10 + (*at - '0');
    }
    at += at[1] == '+' ? 2 : 1;
    int exponent = 0;
    std::from_chars(at, end, exponent);
    exponent -= precision;

    double best = -1;
    for (std::int64_t candidate : {digits, digits - 1, digits + 1}) {
      const double number = FromDecimal(candidate, exponent);
      // Readers of these types often go by way of binary32.
      if (format.RoundsTo(number, magnitude) &&
          format.RoundsTo(static_cast<float>(number), magnitude) &&
          (best < 0 || std::abs(number - value) < std::abs(best - value))) {
        best = number;
      }
    }
    if (best >= 0) return best;
  }
  return value;
}

std::string HalfText(const HalfFormat& format, std::uint16_t pattern) {
  const int magnitude = pattern & 0x7fff;
  if (magnitude > format.infinity()) return "nan";
  std::string text = pattern & 0x8000 ? "-" : "";
  if (magnitude == 0) return text + "0";
  if (magnitude == format.infinity()) return text + "inf";
  std::array<char, 32> buffer;
  return text.append(Shortest(ShortestHalf(format, magnitude), buffer));
}

/// HalfText(), remembered by pattern: it costs microseconds, and tables repeat
/// their few patterns.
template <const HalfFormat& format>
void AppendHalf(std::uint16_t pattern, std::string& out) {
  static thread_local std::vector<std::string> texts(65536);
  std::string& text = texts[pattern];
  if (text.empty()) text = HalfText(format, pattern);
  out += text;
}

template <typename T>
void AppendReal(T value, std::string& out) {
  std::array<char, 32> buffer;
  out += std::isnan(value) ? std::string_view("nan") : Shortest(value, buffer);
}

}  // namespace

double ElementValue(ElementType type, const std::byte* element) {
  switch (type) {
    case ElementType::kFloat32: return Load<float>(element);
    case ElementType::kFloat64: return Load<double>(element);
    case ElementType::kFloat16: return ToFloat(Float16{Load<std::uint16_t>(element)});
    case ElementType::kBfloat16: return ToFloat(Bfloat16{Load<std::uint16_t>(element)});
    case ElementType::kInt32: return Load<std::int32_t>(element);
  }
  return 0;
}

void AppendElement(ElementType type, const std::byte* element, std::string& out) {
  switch (type) {
    case ElementType::kFloat32: return AppendReal(Load<float>(element), out);
    case ElementType::kFloat64: return AppendReal(Load<double>(element), out);
    case ElementType::kFloat16:
      return AppendHalf<kFloat16Format>(Load<std::uint16_t>(element), out);
    case ElementType::kBfloat16:
      return AppendHalf<kBfloat16Format>(Load<std::uint16_t>(element), out);
    case ElementType::kInt32: return absl::StrAppend(&out, Load<std::int32_t>(element));
  }
}

}  // namespace phasor::cli
