#include "phasor/cursor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/src/open_table.h"
#include "phasor/core/errors.h"

namespace phasor {

Cursor::Cursor(std::shared_ptr<const internal::OpenTable> table, std::int64_t position)
    : row_bytes_(static_cast<std::size_t>(table->spec().row_bytes())),
      position_(position),
      type_(table->spec().element_type()),
      table_(std::move(table)) {}

void Cursor::Seek(std::int64_t position) {
  position_ = position;
  next_ = end_ = nullptr;
  if (block_ == nullptr || position < block_->first_position ||
      position - block_->first_position >= block_->row_count) {
    return;
  }
  end_ = block_->data.get() + block_->size;
  next_ =
      block_->data.get() + static_cast<std::size_t>(position - block_->first_position) * row_bytes_;
}

absl::Status Cursor::Enter(ElementType asked) {
  if (asked != type_) {
    return FieldError(absl::StatusCode::kInvalidArgument, "T",
                      absl::StrCat("stands for ", ElementTypeName(asked), ", the table is ",
                                   ElementTypeName(type_)));
  }
  absl::Status status = table_->spec().CheckPosition(position_, "start_position");
  if (!status.ok()) return status;
  internal::BlockStore::BlockOr block = table_->Enter(position_);
  if (!block.ok()) return block.status();
  block_ = *std::move(block);
  Seek(position_);
  return absl::OkStatus();
}

}  // namespace phasor
