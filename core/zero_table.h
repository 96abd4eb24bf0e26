#ifndef PHASOR_CORE_ZERO_TABLE_H_
#define PHASOR_CORE_ZERO_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/stop_check.h"
#include "phasor/core/local_table.h"

namespace phasor {

/// The table whose elements are all +0: a NoPosition that is added.
class ZeroTable final : public LocalTable {
 public:
  explicit ZeroTable(CanonicalSpec checked) : LocalTable(std::move(checked)) {}

  std::int64_t memory_bytes() const override {
    return static_cast<std::int64_t>(sizeof(*this) + spec().text().capacity());
  }
  std::int64_t settled_elements() const override { return 0; }
  std::int64_t costly_elements() const override { return 0; }

 private:
  void DoRead(std::int64_t /*start*/, std::int64_t count, std::byte* out,
              StopCheck& stop) const override {
    Fill(count, out, stop);
  }
  void DoGather(absl::Span<const std::int64_t> positions, std::int64_t /*axes*/, std::byte* out,
                StopCheck& stop) const override {
    Fill(static_cast<std::int64_t>(positions.size()), out, stop);
  }
  void DoGather(absl::Span<const double> positions, std::int64_t /*axes*/, std::byte* out,
                StopCheck& stop) const override {
    Fill(static_cast<std::int64_t>(positions.size()), out, stop);
  }

  void Fill(std::int64_t rows, std::byte* out, StopCheck& stop) const {
    const auto bytes = static_cast<std::size_t>(spec().row_bytes());
    for (std::int64_t row = 0; row < rows && !stop.After(spec().row_bytes()); ++row) {
      std::memset(out + static_cast<std::size_t>(row) * bytes, 0, bytes);
    }
  }
};

}  // namespace phasor

#endif  // PHASOR_CORE_ZERO_TABLE_H_
