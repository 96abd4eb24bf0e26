#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/c/phasor.h"

extern "C" size_t phasor_gather_blocks(phasor_block* blocks, size_t block_count, size_t row_bytes,
                                       const int64_t* positions, size_t count, void* out) {
  if (blocks == nullptr || positions == nullptr || out == nullptr) return 0;
  auto* to = static_cast<std::byte*>(out);
  for (std::size_t k = 0; k < count; ++k) {
    phasor_block* after = std::upper_bound(
        blocks, blocks + block_count, positions[k],
        [](std::int64_t position, const phasor_block& b) { return position < b.first_position; });
    if (after == blocks) return k;
    phasor_block& block = after[-1];
    // Without a sign: the distance of any two positions.
    const std::uint64_t row =
        static_cast<std::uint64_t>(positions[k]) - static_cast<std::uint64_t>(block.first_position);
    if (row >= static_cast<std::uint64_t>(block.row_count) || block.rows == nullptr) return k;
    std::memcpy(to + k * row_bytes, static_cast<const std::byte*>(block.rows) + row * row_bytes,
                row_bytes);
    ++block.uses;
  }
  return count;
}
