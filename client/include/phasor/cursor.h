#ifndef PHASOR_CURSOR_H_
#define PHASOR_CURSOR_H_

/// \file
/// Incremental decoding: one row after another.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "phasor/core/element_type.h"
#include "phasor/core/export.h"
#include "phasor/elements.h"

namespace phasor {

namespace internal {
struct Block;
class OpenTable;
}  // namespace internal

/// Walks a table's rows from a position on. While decoding with a key/value
/// cache, the new token stands at the position that is the number of tokens
/// before it: `table.Decode(prompt_length)`, then one Next a token.
///
/// **Performance**: Next is a step in memory: no call, no lock, no allocation.
/// Rows come in blocks (64 KiB to 1 MiB), which are shared by all readers of the
/// table in the client and its copies, within ClientOptions::block_cache_bytes;
/// each cursor keeps the block it stands in. Entering a block, a cursor sees
/// that the next ones are fetched in the background, once for all cursors, in
/// runs that grow to 1 MiB a call; so it waits for its first block (with the
/// second, if it begins in the latter half of the first), and then only where the server is slower
/// than it. A fetch in the background that fails is nobody's error: the cursor that gets there
/// fetches again.
///
/// **Copies** are independent: each has a position of its own.
///
/// **Thread safety**: one thread at a time a cursor; any number of cursors.
///
/// **Errors**: those of Table::Read. After an error the position is unchanged,
/// so the same call may be made again. The end of a learned table is
/// OUT_OF_RANGE (start_position) at the first row that does not exist, never
/// earlier.
class PHASOR_EXPORT Cursor {
 public:
  /// The row at position(), which then becomes the next one. The span is valid
  /// until the next call of a method that is not const, and for as long as the
  /// cursor lives.
  ///
  /// **Errors**: INVALID_ARGUMENT (T) if T does not stand for the table's
  /// element type; otherwise as above.
  template <Element T>
  absl::StatusOr<absl::Span<const T>> Next() {
    if (next_ == end_ || type_ != ElementTypeOf<T>()) {
      absl::Status status = Enter(ElementTypeOf<T>());
      if (!status.ok()) return status;
    }
    const std::byte* const row = Step();
    return absl::MakeConstSpan(reinterpret_cast<const T*>(row), row_bytes_ / sizeof(T));
  }

  /// The same as bytes, whatever the element type.
  absl::StatusOr<absl::Span<const std::byte>> NextBytes() {
    if (next_ == end_) {
      absl::Status status = Enter(type_);
      if (!status.ok()) return status;
    }
    const std::byte* const row = Step();
    return absl::MakeConstSpan(row, row_bytes_);
  }

  /// Position of the row that the next call gives.
  std::int64_t position() const { return position_; }

  /// Goes to `position`, forwards or back. Whether there is a row is for the
  /// next call to say.
  void Seek(std::int64_t position);

 private:
  friend class Table;
  Cursor(std::shared_ptr<const internal::OpenTable> table, std::int64_t position);

  // Makes next_ the row at position_, if `asked` is the table's type.
  absl::Status Enter(ElementType asked);
  const std::byte* Step() {
    const std::byte* const row = next_;
    next_ += row_bytes_;
    ++position_;
    return row;
  }

  // The rows of block_ from position_ on: all of them, none if position_ is not
  // in it.
  const std::byte* next_ = nullptr;
  const std::byte* end_ = nullptr;
  std::size_t row_bytes_ = 0;
  std::int64_t position_ = 0;
  ElementType type_{};
  std::shared_ptr<const internal::OpenTable> table_;
  std::shared_ptr<const internal::Block> block_;
};

}  // namespace phasor

#endif  // PHASOR_CURSOR_H_
