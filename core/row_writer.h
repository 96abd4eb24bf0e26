#ifndef PHASOR_CORE_ROW_WRITER_H_
#define PHASOR_CORE_ROW_WRITER_H_

/// \file
/// Rows that follow each other in memory, written past the caches: for ranges
/// that would not stay in them.
///
/// Such stores are as fast as memory only where whole cache lines are written in
/// one go. Rows begin and end anywhere in a line, and layouts have several
/// streams in a row: so each row is made in a place of its own, and the lines
/// that it completes are copied out of it while the next one is made. At the two
/// ends of the range alone there are ordinary stores.

#include <hwy/aligned_allocator.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/line_copy.h"

namespace phasor {

/// Takes rows one after another.
class RowWriter {
 public:
  /// Rows of `row_bytes` each, to `out` and on, which needs no alignment. Where
  /// not `past_caches`, row() is there itself.
  RowWriter(std::byte* out, std::int64_t row_bytes, bool past_caches);
  RowWriter(const RowWriter&) = delete;

  /// Where the next row is to be made.
  std::byte* row() const { return row_; }
  /// Lines of rows before, which may be copied while that is done.
  LineCopy& behind() { return behind_; }
  /// The row is made, and the next one follows.
  void Next();
  /// After the last row: from here on all of them are in `out`.
  void Finish();

 private:
  const std::int64_t row_bytes_;
  // Two rows, each with room for a line before it.
  hwy::AlignedFreeUniquePtr<std::byte[]> memory_;
  std::byte* row_;
  std::byte* other_row_ = nullptr;
  LineCopy behind_;
  // The next byte of lines that are not complete, and how many of them stand before row_.
  std::byte* out_;
  std::int64_t left_ = 0;
};

}  // namespace phasor

#endif  // PHASOR_CORE_ROW_WRITER_H_
