#ifndef PHASOR_CORE_SEEDED_TABLE_H_
#define PHASOR_CORE_SEEDED_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/double_double.h"
#include "core/normal.h"
#include "core/pcg32.h"
#include "phasor/core/local_table.h"

namespace phasor {

/// The table of a LearnedInit: element n, row-major, is stddev times the
/// cosine's (n even) or the sine's (n odd) deviate of the generator's outputs
/// number 2 floor(n/2) and 2 floor(n/2) + 1. See docs/seeded-init.md.
class SeededTable final : public LocalTable {
 public:
  /// `checked` is of a LearnedInit.
  explicit SeededTable(CanonicalSpec checked);

  std::int64_t memory_bytes() const override;
  std::int64_t settled_elements() const override {
    return settled_elements_.load(std::memory_order_relaxed);
  }
  std::int64_t costly_elements() const override {
    return costly_elements_.load(std::memory_order_relaxed);
  }

 private:
  void DoRead(std::int64_t start, std::int64_t count, std::byte* out,
              StopCheck& stop) const override;
  void DoGather(absl::Span<const std::int64_t> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;
  void DoGather(absl::Span<const double> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;

  // Writes elements first ... first + count - 1.
  void Fill(std::int64_t first, std::int64_t count, std::byte* out, StopCheck& stop) const;
  void FillSome(std::int64_t first, std::int64_t count, std::byte* out) const;
  template <ElementType kType>
  void FillAs(std::int64_t first, std::int64_t count, std::byte* out) const;

  // The generator before its first output.
  const Pcg32 generator_;
  // stddev = scaled_stddev_ * 2^scale_. scale_ is 0, but where products with a
  // FLOAT64 table's stddev would leave the range of double-double.
  double scaled_stddev_;
  int scale_;
  mutable std::atomic<std::int64_t> settled_elements_ = 0;
  mutable std::atomic<std::int64_t> costly_elements_ = 0;
};

}  // namespace phasor

#endif  // PHASOR_CORE_SEEDED_TABLE_H_
