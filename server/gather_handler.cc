#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
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
// Bytes copied in a step, or on one of gRPC's threads: from memory that is in no
// processor's cache that takes about 50 us. And rows looked up at once.
constexpr std::int64_t kStepBytes = std::int64_t{512} << 10;
constexpr std::size_t kRowsAtOnce = 64;

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
    auto known = CheckKnownTable(request, backend_->learned_tables, &backend_->known_specs);
    if (!known.ok()) return known.status();
    spec_ = *std::move(known);
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
    status = spec_->CheckAxes(axes_, CountOf(positions_), field);
    if (!status.ok()) return status;
    status = CheckMessageSize(*spec_, 0, RowCount(), backend_->max_message_bytes, field,
                              "gather in several calls, or read ranges with ReadRows");
    if (!status.ok()) return status;
    status = std::visit([&](const auto& list) { return spec_->CheckPositions(list); }, positions_);
    return status;
  }

  bool TryAnswer() override {
    if (CountOf(positions_) == 0) {
      Answer();
      return true;
    }
    const auto* positions = std::get_if<std::vector<std::int64_t>>(&positions_);
    if (axes_ != 1 || positions == nullptr || positions->size() > kMaxInlineRows ||
        CountOf(positions_) * spec_->row_bytes() > kStepBytes) {
      return false;
    }
    opening_.Find(*spec_, &backend_->cache);
    if (table() == nullptr || !Allocate().ok()) return false;
    std::int64_t no_elements = 0;
    while (next_ < positions->size()) {
      const std::size_t before = next_;
      if (!MakeSome(*positions, no_elements, NeverStop).ok() || next_ == before) return false;
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

  // The blocks of rows that are held.
  std::vector<BlockPtr> Held(absl::Span<const std::int64_t> positions) {
    return backend_->cache.FindBlocksOf(*table(), positions);
  }
  static std::vector<BlockPtr> Held(absl::Span<const double> positions) {
    return std::vector<BlockPtr>(positions.size());
  }

  // The next rows, as many as make a step.
  template <typename T>
  absl::Status GatherSome(const std::vector<T>& positions, StopRequest stop) {
    std::int64_t elements = std::max(kStepElements, spec_->row_width());
    if (axes_ != 1) {
      const auto axes = static_cast<std::size_t>(axes_);
      const std::size_t first = next_;
      next_ = std::min(static_cast<std::size_t>(RowCount()),
                       first + static_cast<std::size_t>(elements / spec_->row_width()));
      return table()->GatherAxesInto(
          absl::MakeConstSpan(positions).subspan(first * axes, (next_ - first) * axes),
          Rows(first, next_), stop);
    }
    const std::size_t end = next_ + static_cast<std::size_t>(
                                        std::max<std::int64_t>(1, kStepBytes / spec_->row_bytes()));
    while (next_ < std::min(end, positions.size()) && elements >= spec_->row_width()) {
      absl::Status status = MakeSome(positions, elements, stop);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Of the next rows, at most kRowsAtOnce, copies those whose blocks are held, and
  // computes others as long as there are `elements` left to compute.
  template <typename T>
  absl::Status MakeSome(const std::vector<T>& positions, std::int64_t& elements, StopRequest stop) {
    const auto some = absl::MakeConstSpan(positions).subspan(next_, kRowsAtOnce);
    const std::vector<BlockPtr> blocks = Held(some);
    const std::int64_t width = spec_->row_width();
    for (std::size_t k = 0; k < some.size();) {
      if (blocks[k] != nullptr) {
        if constexpr (std::is_integral_v<T>) Copy(blocks[k]->Rows(some[k], some[k] + 1));
        ++k;
        continue;
      }
      const std::size_t first = k;
      for (; k < some.size() && blocks[k] == nullptr && elements >= width; ++k) elements -= width;
      if (k == first) break;
      absl::Status status =
          table()->GatherInto(some.subspan(first, k - first), Rows(next_, next_ + k - first), stop);
      if (!status.ok()) return status;
      next_ += k - first;
    }
    return absl::OkStatus();
  }

  void Copy(absl::Span<const std::byte> row) {
    std::memcpy(Rows(next_, next_ + 1).data(), row.data(), row.size());
    ++next_;
  }

  void Answer() {
    const RowsHead head = {.fingerprint = spec_->fingerprint(),
                           .row_count = RowCount(),
                           .row_width = spec_->row_width(),
                           .element_type = spec_->element_type()};
    RowSlices slices;
    if (rows_ != nullptr) slices.push_back(ShareRows(rows_, rows_->data()));
    response() = EncodeRows(head, std::move(slices));
  }

  Backend* const backend_;
  std::shared_ptr<const CanonicalSpec> spec_;
  Positions positions_;
  std::int64_t axes_ = 1;  // positions a row
  TableOpening opening_;
  std::shared_ptr<RowBuffer> rows_;
  std::size_t next_ = 0;  // rows before it are done
};

}  // namespace

std::unique_ptr<UnaryHandler> NewGatherRowsHandler(Backend* backend) {
  return std::make_unique<GatherRowsHandler>(backend);
}

}  // namespace phasor::server
