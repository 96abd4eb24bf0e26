#include "core/row_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/row_writer.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/line_copy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phasor::HWY_NAMESPACE {

void CopyLines(LineCopy& copy) {
  while (copy.lines > 0) CopyLine(copy);
}

}  // namespace phasor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phasor {

HWY_EXPORT(CopyLines);

RowWriter::RowWriter(std::byte* out, std::int64_t row_bytes, bool past_caches)
    : row_bytes_(row_bytes), row_(out), out_(out) {
  if (!past_caches) return;
  const std::int64_t place = kLineBytes + (row_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  memory_ = hwy::AllocateAligned<std::byte>(static_cast<std::size_t>(2 * place));
  row_ = memory_.get() + kLineBytes;
  other_row_ = row_ + place;
}

void RowWriter::Next() {
  if (memory_ == nullptr) {
    row_ += row_bytes_;
    return;
  }
  HWY_DYNAMIC_DISPATCH(CopyLines)(behind_);
  const std::byte* from = row_ - left_;
  std::int64_t bytes = left_ + row_bytes_;
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out_) % kLineBytes);
  if (past != 0) {
    const std::int64_t head = std::min(bytes, kLineBytes - past);
    std::memcpy(out_, from, static_cast<std::size_t>(head));
    from += head;
    out_ += head;
    bytes -= head;
  }
  behind_ = {from, out_, bytes / kLineBytes};
  left_ = bytes % kLineBytes;
  out_ += bytes - left_;
  std::swap(row_, other_row_);
  std::memcpy(row_ - left_, from + bytes - left_, static_cast<std::size_t>(left_));
}

void RowWriter::Finish() {
  if (memory_ == nullptr) return;
  HWY_DYNAMIC_DISPATCH(CopyLines)(behind_);
  std::memcpy(out_, row_ - left_, static_cast<std::size_t>(left_));
  hwy::FlushStream();
}

}  // namespace phasor
#endif  // HWY_ONCE
