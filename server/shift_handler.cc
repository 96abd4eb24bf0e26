#include "server/shift_handler.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "phasor/core/row_shift.h"
#include "phasor/v1/position_table_service.pb.h"
#include "server/request.h"
#include "server/rows_handlers.h"
#include "server/rows_message.h"

namespace phasor::server {
namespace {

// What a row costs depends on its numbers and on the shift, by a factor of a
// thousand: so steps take one row at first, more while they are short of this
// time, and fewer when they are well beyond it.
constexpr absl::Duration kStepTime = absl::Milliseconds(10);

class ShiftRowsHandler final : public UnaryHandler {
 public:
  explicit ShiftRowsHandler(Backend* backend) : backend_(backend) {}

  absl::Status Start(const grpc::ByteBuffer& bytes) override {
    v1::ShiftRowsRequest request;
    absl::Status status = Decode(bytes, &request);
    if (!status.ok()) return status;
    absl::StatusOr<CanonicalSpec> spec = CheckTable(request, backend_->learned_tables);
    if (!spec.ok()) return spec.status();
    switch (request.by_case()) {
      case v1::ShiftRowsRequest::kSteps: by_ = request.steps(); break;
      case v1::ShiftRowsRequest::kFractionalSteps: by_ = request.fractional_steps(); break;
      case v1::ShiftRowsRequest::BY_NOT_SET:
        return FieldError(absl::StatusCode::kInvalidArgument, "by",
                          "is required: set steps or fractional_steps");
    }
    data_ = std::move(*request.mutable_data());
    spec_.emplace(*std::move(spec));
    absl::StatusOr<RowShift> shift = RowShift::Create(*spec_, by_);
    if (!shift.ok()) return shift.status();
    shift_.emplace(*std::move(shift));
    const auto size = static_cast<std::int64_t>(data_.size());
    if (size % spec_->row_bytes() != 0) {
      return FieldError(absl::StatusCode::kInvalidArgument, "data",
                        absl::StrCat(size, " bytes are not whole rows of ", spec_->row_bytes()));
    }
    row_count_ = size / spec_->row_bytes();
    return CheckMessageSize(*spec_, 0, row_count_, backend_->max_message_bytes, "data",
                            "shift in several calls");
  }

  bool TryAnswer() override {
    if (row_count_ > 0) return false;
    Answer();
    return true;
  }

  absl::StatusOr<Progress> Step(Resume, StopRequest stop) override {
    if (rows_ == nullptr) {
      auto charge = backend_->cache.Reserve(shift_->memory_bytes());
      if (!charge.ok()) return charge.status();
      rotations_charge_.emplace(*std::move(charge));
      auto rows = backend_->cache.Allocate(static_cast<std::int64_t>(data_.size()));
      if (!rows.ok()) return rows.status();
      rows_ = *std::move(rows);
    }
    const absl::Time begin_time = absl::Now();
    bool unwanted = false;
    absl::Status status = shift_->Prepare([&] {
      unwanted = stop();
      return unwanted || absl::Now() - begin_time > kStepTime;
    });
    if (absl::IsCancelled(status) && !unwanted) return Progress::kAgain;
    if (!status.ok()) return status;
    const std::int64_t end = std::min(row_count_, next_ + rows_per_step_);
    status = Shift(next_, end, stop);
    if (!status.ok()) return status;
    const absl::Duration time = absl::Now() - begin_time;
    if (time < kStepTime) rows_per_step_ *= 2;
    if (time > 2 * kStepTime) rows_per_step_ = std::max<std::int64_t>(1, rows_per_step_ / 2);
    next_ = end;
    if (next_ < row_count_) return Progress::kAgain;
    Answer();
    return Progress::kDone;
  }

 private:
  // Turns rows `first` ... `last`-1.
  absl::Status Shift(std::int64_t first, std::int64_t last, StopRequest stop) {
    const auto offset = static_cast<std::size_t>(first * spec_->row_bytes());
    const auto size = static_cast<std::size_t>((last - first) * spec_->row_bytes());
    const auto* data = reinterpret_cast<const std::byte*>(data_.data()) + offset;
    absl::Status status = shift_->Apply(absl::MakeConstSpan(data, size),
                                        rows_->data().subspan(offset, size), first, stop);
    if (FieldOf(status) != "rows") return status;
    // Core's name for what the request calls data.
    absl::string_view what = status.message();
    what.remove_prefix(std::min(what.size(), absl::string_view("rows: ").size()));
    return FieldError(status.code(), "data", what);
  }

  void Answer() {
    const RowsHead head = {.fingerprint = spec_->fingerprint(),
                           .start_position = std::nullopt,
                           .row_count = row_count_,
                           .row_width = spec_->row_width(),
                           .element_type = spec_->element_type()};
    RowSlices slices;
    if (rows_ != nullptr) slices.push_back(ShareRows(rows_, rows_->data()));
    response() = EncodeRows(head, std::move(slices));
  }

  Backend* const backend_;
  std::optional<CanonicalSpec> spec_;
  ShiftBy by_;
  std::optional<RowShift> shift_;
  std::optional<Charge> rotations_charge_;
  std::string data_;
  std::int64_t row_count_ = 0;
  std::shared_ptr<RowBuffer> rows_;
  std::int64_t next_ = 0;  // rows before it are done
  std::int64_t rows_per_step_ = 1;
};

}  // namespace

std::unique_ptr<UnaryHandler> NewShiftRowsHandler(Backend* backend) {
  return std::make_unique<ShiftRowsHandler>(backend);
}

}  // namespace phasor::server
