#include "phasor/cursor.h"

#include "absl/strings/str_cat.h"
#include "client/src/session.h"
#include "phasor/core/errors.h"

namespace phasor {

absl::StatusOr<absl::Span<const std::byte>> Cursor::NextBytes() {
  if (block_ == nullptr || position_ < block_->first_position ||
      position_ - block_->first_position >= block_->row_count) {
    absl::Status status = table_->spec().CheckPosition(position_, "start_position");
    if (!status.ok()) return status;
    internal::BlockStore::BlockOr block = table_->BlockAt(position_);
    if (!block.ok()) return block.status();
    block_ = *std::move(block);
  }
  const std::int64_t row_bytes = table_->spec().row_bytes();
  const std::byte* row = block_->data.get() + (position_ - block_->first_position) * row_bytes;
  ++position_;
  return absl::MakeConstSpan(row, static_cast<std::size_t>(row_bytes));
}

absl::StatusOr<absl::Span<const std::byte>> Cursor::Advance(ElementType asked) {
  if (asked != table_->spec().element_type()) {
    return FieldError(absl::StatusCode::kInvalidArgument, "T",
                      absl::StrCat("stands for ", ElementTypeName(asked), ", the table is ",
                                   ElementTypeName(table_->spec().element_type())));
  }
  return NextBytes();
}

}  // namespace phasor
