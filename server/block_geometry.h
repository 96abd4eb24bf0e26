#ifndef PHASOR_SERVER_BLOCK_GEOMETRY_H_
#define PHASOR_SERVER_BLOCK_GEOMETRY_H_

/// \file
/// How a table's rows are cut into blocks, the unit of generating and caching.

#include <algorithm>
#include <cstdint>

#include "phasor/core/spec.h"

namespace phasor::server {

/// Most bytes in a block of many rows.
inline constexpr std::int64_t kMaxBlockBytes = std::int64_t{64} << 10;
/// Wide rows come by so many, if they fit the larger bound: a block begins with
/// an anchor row, which costs as much as tens of the rows after it.
inline constexpr std::int64_t kMinBlockRows = 8;
inline constexpr std::int64_t kMaxWideBlockBytes = std::int64_t{1} << 20;

/// Block b holds rows b*R ... b*R+R-1, as far as the table has them. R is the
/// largest power of two with R rows in kMaxBlockBytes; or, where that is less
/// than kMinBlockRows, the largest up to it with R rows in kMaxWideBlockBytes;
/// and at least 1. So the blocks of a table do not depend on what is asked for.
class BlockGeometry {
 public:
  explicit BlockGeometry(const CanonicalSpec& spec)
      : row_bytes_(spec.row_bytes()),
        first_position_(spec.first_position()),
        last_position_(spec.last_position()) {
    const auto fits = [this](std::int64_t rows) {
      const std::int64_t bytes = rows * row_bytes_;
      return bytes <= kMaxBlockBytes || (rows <= kMinBlockRows && bytes <= kMaxWideBlockBytes);
    };
    while (fits(rows_per_block() * 2)) ++shift_;
  }

  std::int64_t row_bytes() const { return row_bytes_; }
  std::int64_t rows_per_block() const { return std::int64_t{1} << shift_; }

  /// The block that holds a position. The shift rounds down, for negative
  /// positions too.
  std::int64_t BlockOf(std::int64_t position) const { return position >> shift_; }
  /// First position of a block, and one past its last.
  std::int64_t Begin(std::int64_t block) const {
    return std::max(block * rows_per_block(), first_position_);
  }
  std::int64_t End(std::int64_t block) const {
    return std::min(block * rows_per_block() + rows_per_block() - 1, last_position_) + 1;
  }
  std::int64_t Bytes(std::int64_t block) const { return (End(block) - Begin(block)) * row_bytes_; }

 private:
  std::int64_t row_bytes_;
  std::int64_t first_position_;
  std::int64_t last_position_;
  int shift_ = 0;
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_BLOCK_GEOMETRY_H_
