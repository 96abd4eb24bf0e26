#ifndef PHASOR_CORE_ODD_WIDTH_TABLE_H_
#define PHASOR_CORE_ODD_WIDTH_TABLE_H_

/// \file
/// Rows of odd width, from the rows of even width that have the same pairs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/stop_check.h"
#include "phasor/core/local_table.h"

namespace phasor {

/// The scheme of even width whose rows have the same pairs.
/// **Range**: a checked scheme of odd width.
Sinusoidal EvenWidth(Sinusoidal odd);
Timestep EvenWidth(Timestep odd);

/// The table of such a scheme: a column more than the even one's, or one less
/// (OddColumn).
class OddWidthTable final : public LocalTable {
 public:
  /// `even` is the table of EvenWidth(), of the same element type.
  OddWidthTable(CanonicalSpec checked, std::shared_ptr<const LocalTable> even);

  std::int64_t memory_bytes() const override;
  std::int64_t settled_elements() const override { return even_->settled_elements(); }
  std::int64_t costly_elements() const override { return even_->costly_elements(); }

 private:
  void DoRead(std::int64_t start, std::int64_t count, std::byte* out,
              StopCheck& stop) const override;
  void DoGather(absl::Span<const std::int64_t> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;
  void DoGather(absl::Span<const double> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;

  // Writes `count` rows of which fill(first, count, even rows) makes the even ones.
  template <typename Fill>
  void Write(std::int64_t count, std::byte* out, StopCheck& stop, const Fill& fill) const;

  const std::shared_ptr<const LocalTable> even_;
  const Layout layout_;
  const OddColumn odd_column_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_ODD_WIDTH_TABLE_H_
