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
/// **Performance**: fetches whole blocks of rows (64 KiB to 1 MiB), never a
/// row at a time, so almost every Next is a look at memory. Blocks are shared
/// by all cursors and small reads of the table's client and its copies, within
/// ClientOptions::block_cache_bytes; each cursor keeps the block it stands in.
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
    absl::StatusOr<absl::Span<const std::byte>> row = Advance(ElementTypeOf<T>());
    if (!row.ok()) return row.status();
    return absl::MakeConstSpan(reinterpret_cast<const T*>(row->data()), row->size() / sizeof(T));
  }

  /// The same as bytes, whatever the element type.
  absl::StatusOr<absl::Span<const std::byte>> NextBytes();

  /// Position of the row that the next call gives.
  std::int64_t position() const { return position_; }

  /// Goes to `position`, forwards or back. Whether there is a row is for the
  /// next call to say.
  void Seek(std::int64_t position) { position_ = position; }

 private:
  friend class Table;
  Cursor(std::shared_ptr<const internal::OpenTable> table, std::int64_t position)
      : table_(std::move(table)), position_(position) {}

  absl::StatusOr<absl::Span<const std::byte>> Advance(ElementType asked);

  std::shared_ptr<const internal::OpenTable> table_;
  std::shared_ptr<const internal::Block> block_;
  std::int64_t position_ = 0;
};

}  // namespace phasor

#endif  // PHASOR_CURSOR_H_
