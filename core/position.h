#ifndef PHASOR_CORE_POSITION_H_
#define PHASOR_CORE_POSITION_H_

/// \file
/// Positions (and shifts) as exact real numbers.

#include <cmath>
#include <cstdint>

namespace phasor {

/// integer + fraction, exactly; |fraction| < 1.
struct Position {
  std::int64_t integer = 0;
  double fraction = 0;

  bool is_zero() const { return integer == 0 && fraction == 0; }
  bool is_integer() const { return fraction == 0; }
  bool is_negative() const { return integer != 0 ? integer < 0 : fraction < 0; }
};

/// Exactly value + offset. **Range**: |value| and the sum below 2^63.
inline Position MakePosition(double value, std::int64_t offset) {
  const double whole = std::trunc(value);
  return {static_cast<std::int64_t>(whole) + offset, value - whole};
}

}  // namespace phasor

#endif  // PHASOR_CORE_POSITION_H_
