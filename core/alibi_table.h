#ifndef PHASOR_CORE_ALIBI_TABLE_H_
#define PHASOR_CORE_ALIBI_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/double_double.h"
#include "core/rounding.h"
#include "phasor/core/local_table.h"

namespace phasor {

/// The slope of one head: fraction * power.
///
/// bias_max * i / N is a binary number, so a slope is a power of two, exactly, or
/// irrational: its products with positions are then neither elements nor midway
/// between two, and more precision decides their rounding.
struct AlibiSlope {
  DoubleDouble fraction;       ///< 1, or in 1/2 ... 1 within 2^-105 relative
  double power = 1;            ///< of two, not above 1
  std::int64_t numerator = 0;  ///< i
  bool is_power_of_two() const { return fraction.hi == 1 && fraction.lo == 0; }
};

/// The slopes of a checked spec.
std::vector<AlibiSlope> AlibiSlopesOf(const Alibi& spec);

/// The head whose slope is the largest.
std::int64_t SteepestHead(const Alibi& spec);
/// The last position none of whose biases rounds to an infinity of `type`; at
/// most kMaxPosition.
std::int64_t LastAlibiPosition(const Alibi& spec, ElementType type);

/// The table of an Alibi with elements of kType.
template <ElementType kType>
class AlibiTable final : public LocalTable {
 public:
  /// `checked` is of an Alibi and of kType.
  explicit AlibiTable(CanonicalSpec checked);

  std::int64_t memory_bytes() const override;
  std::int64_t settled_elements() const override {
    return settled_elements_.load(std::memory_order_relaxed);
  }
  std::int64_t costly_elements() const override {
    return costly_elements_.load(std::memory_order_relaxed);
  }

 private:
  using Bits = BitsOf<kType>;

  void DoRead(std::int64_t start, std::int64_t count, std::byte* out,
              StopCheck& stop) const override;
  void DoGather(absl::Span<const std::int64_t> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;
  void DoGather(absl::Span<const double> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;

  // One row; the position is exact.
  void Row(double position, std::byte* out, StopCheck& stop) const;
  // slope * position, of a position above 0.
  Bits Product(const AlibiSlope& slope, double position) const;
  Bits Settle(const AlibiSlope& slope, double position) const;

  const std::vector<AlibiSlope> slopes_;
  mutable std::atomic<std::int64_t> settled_elements_ = 0;
  mutable std::atomic<std::int64_t> costly_elements_ = 0;
};

}  // namespace phasor

#endif  // PHASOR_CORE_ALIBI_TABLE_H_
