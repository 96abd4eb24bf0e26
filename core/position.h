#ifndef PHASOR_CORE_POSITION_H_
#define PHASOR_CORE_POSITION_H_

/// \file
/// Positions (and shifts) as exact real numbers.

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace phasor {

/// integer + fraction, exactly; |fraction| < 1.
struct Position {
  std::int64_t integer = 0;
  double fraction = 0;

  bool is_zero() const { return integer == 0 && fraction == 0; }
  bool is_integer() const { return fraction == 0; }
  /// e with |position| < 2^e. **Range**: not zero.
  std::int64_t exponent() const {
    if (integer == 0) return std::ilogb(fraction) + 1;
    const auto magnitude = static_cast<std::uint64_t>(integer);
    return std::bit_width(integer < 0 ? -magnitude : magnitude);
  }
  bool is_negative() const { return integer != 0 ? integer < 0 : fraction < 0; }
};

/// Exactly value + offset. **Range**: |value| and the sum below 2^63.
inline Position MakePosition(double value, std::int64_t offset) {
  const double whole = std::trunc(value);
  return {static_cast<std::int64_t>(whole) + offset, value - whole};
}

/// The position of each pair of a row: one for all, or one an axis.
class RowPosition {
 public:
  // Implicit: almost every row has one.
  RowPosition(Position position) : all_(position) {}  // NOLINT(google-explicit-constructor)
  /// Pair i is at axes[axis[i]]. Both outlive this.
  RowPosition(const Position* axes, const std::vector<std::uint8_t>& axis)
      : axes_(axes), axis_(axis.data()) {}

  Position operator[](std::int64_t i) const { return axes_ == nullptr ? all_ : axes_[axis_[i]]; }
  /// The one position; nothing where there are several.
  std::optional<Position> one() const {
    return axes_ == nullptr ? std::optional<Position>(all_) : std::nullopt;
  }

 private:
  Position all_;
  const Position* axes_ = nullptr;
  const std::uint8_t* axis_ = nullptr;
};

}  // namespace phasor

#endif  // PHASOR_CORE_POSITION_H_
