#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "phasor/core/errors.h"
#include "phasor/v1/position_table_service.pb.h"
#include "server/request.h"
#include "server/rows_handlers.h"
#include "server/rows_message.h"
#include "server/table_opening.h"

namespace phasor::server {
namespace {

// Most rows copied on one of gRPC's threads.
constexpr std::size_t kMaxInlineRows = 256;
// Elements computed in a step: one by itself takes up to half a microsecond.
constexpr std::int64_t kStepElements = 4096;

using Positions = std::variant<std::vector<std::int64_t>, std::vector<double>>;

std::int64_t CountOf(const Positions& positions) {
  return std::visit([](const auto& list) { return static_cast<std::int64_t>(list.size()); },
                    positions);
}

// Copies rows that are in cached blocks and computes the others, without making
// blocks of them: positions of a batch may be anywhere.
class GatherRowsHandler final : public UnaryHandler {
 public:
  explicit GatherRowsHandler(Backend* backend) : backend_(backend) {}

  absl::Status Start(const grpc::ByteBuffer& bytes) override {
    v1::GatherRowsRequest request;
    absl::Status status = Decode(bytes, &request);
    if (!status.ok()) return status;
    absl::StatusOr<CanonicalSpec> spec = CheckTable(request, backend_->learned_tables);
    if (!spec.ok()) return spec.status();
    if (!request.positions().empty() && !request.real_positions().empty()) {
      return FieldError(absl::StatusCode::kInvalidArgument, "real_positions",
                        "positions are given too: give either");
    }
    const auto& real = request.real_positions();
    const auto& integers = request.positions();
    if (real.empty()) {
      positions_ = std::vector<std::int64_t>(integers.begin(), integers.end());
    } else {
      positions_ = std::vector<double>(real.begin(), real.end());
    }
    axes_ = request.has_axes() ? request.axes() : 1;
    const absl::string_view field = real.empty() ? "positions" : "real_positions";
    status = spec->CheckAxes(axes_, CountOf(positions_), field);
    if (!status.ok()) return status;
    status = CheckMessageSize(*spec, 0, RowCount(), backend_->max_message_bytes, field,
                              "gather in several calls, or read ranges with ReadRows");
    if (!status.ok()) return status;
    status = std::visit([&](const auto& list) { return spec->CheckPositions(list); }, positions_);
    if (!status.ok()) return status;
    spec_.emplace(*std::move(spec));
    return absl::OkStatus();
  }

  bool TryAnswer() override {
    if (CountOf(positions_) == 0) {
      Answer();
      return true;
    }
    const auto* positions = std::get_if<std::vector<std::int64_t>>(&positions_);
    if (axes_ != 1 || positions == nullptr || positions->size() > kMaxInlineRows ||
        CountOf(positions_) * spec_->row_bytes() > kMaxBlockBytes) {
      return false;
    }
    opening_.Find(*spec_, &backend_->cache);
    if (table() == nullptr || !Allocate().ok()) return false;
    while (next_ < positions->size()) {
      if (!CopyCached((*positions)[next_])) return false;
      ++next_;
    }
    Answer();
    return true;
  }

  absl::StatusOr<Progress> Step(Resume resume, StopRequest stop) override {
    if (table() == nullptr) return opening_.Step(*spec_, &backend_->cache, resume, stop);
    absl::Status status = Allocate();
    if (!status.ok()) return status;
    status = std::visit([&](const auto& list) { return GatherSome(list, stop); }, positions_);
    if (!status.ok()) return status;
    if (next_ < static_cast<std::size_t>(RowCount())) return Progress::kAgain;
    Answer();
    return Progress::kDone;
  }

 private:
  const TablePtr& table() const { return opening_.table(); }
  std::int64_t RowCount() const { return CountOf(positions_) / axes_; }

  absl::Status Allocate() {
    if (rows_ != nullptr) return absl::OkStatus();
    absl::StatusOr<std::shared_ptr<RowBuffer>> rows =
        backend_->cache.Allocate(RowCount() * spec_->row_bytes());
    if (!rows.ok()) return rows.status();
    rows_ = *std::move(rows);
    return absl::OkStatus();
  }

  absl::Span<std::byte> Rows(std::size_t first, std::size_t last) {
    const auto row_bytes = static_cast<std::size_t>(spec_->row_bytes());
    return rows_->data().subspan(first * row_bytes, (last - first) * row_bytes);
  }

  // Copies the next row from the cache, if it is there.
  bool CopyCached(std::int64_t position) {
    if (block_ == nullptr || position < block_->begin() || position >= block_->end()) {
      block_ = backend_->cache.FindBlock(*table(), table()->geometry().BlockOf(position));
    }
    if (block_ == nullptr) return false;
    const absl::Span<const std::byte> row = block_->Rows(position, position + 1);
    std::memcpy(Rows(next_, next_ + 1).data(), row.data(), row.size());
    return true;
  }
  bool CopyCached(double) { return false; }

  // The next rows, as many as make a step.
  template <typename T>
  absl::Status GatherSome(const std::vector<T>& positions, StopRequest stop) {
    const auto step =
        static_cast<std::size_t>(std::max<std::int64_t>(1, kStepElements / spec_->row_width()));
    const std::size_t end = std::min(static_cast<std::size_t>(RowCount()), next_ + step);
    if (axes_ != 1) {
      const auto axes = static_cast<std::size_t>(axes_);
      const std::size_t first = std::exchange(next_, end);
      return table()->rows().GatherAxesInto(
          absl::MakeConstSpan(positions).subspan(first * axes, (end - first) * axes),
          Rows(first, end), stop);
    }
    while (next_ < end) {
      const std::size_t first = next_;
      while (next_ < end && !CopyCached(positions[next_])) ++next_;
      const auto missing = absl::MakeConstSpan(positions).subspan(first, next_ - first);
      if (!missing.empty()) {
        absl::Status status = table()->rows().GatherInto(missing, Rows(first, next_), stop);
        if (!status.ok()) return status;
      }
      if (next_ < end) ++next_;  // the copied one
    }
    return absl::OkStatus();
  }

  void Answer() {
    const RowsHead head = {.fingerprint = spec_->fingerprint(),
                           .row_count = RowCount(),
                           .row_width = spec_->row_width(),
                           .element_type = spec_->element_type()};
    std::vector<grpc::Slice> slices;
    if (rows_ != nullptr) slices.push_back(ShareRows(rows_, rows_->data()));
    response() = EncodeRows(head, std::move(slices));
  }

  Backend* const backend_;
  std::optional<CanonicalSpec> spec_;
  Positions positions_;
  std::int64_t axes_ = 1;  // positions a row
  TableOpening opening_;
  BlockPtr block_;  // the last one copied from
  std::shared_ptr<RowBuffer> rows_;
  std::size_t next_ = 0;  // rows before it are done
};

}  // namespace

std::unique_ptr<UnaryHandler> NewGatherRowsHandler(Backend* backend) {
  return std::make_unique<GatherRowsHandler>(backend);
}

}  // namespace phasor::server
