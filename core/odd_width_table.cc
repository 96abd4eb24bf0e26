#include "core/odd_width_table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/layout.h"
#include "core/pair_rules.h"

namespace phasor {

Sinusoidal EvenWidth(Sinusoidal odd) {
  const bool has_sine = odd.odd_column == OddColumn::kSine;
  // base^(-2i / width) = base^(-i / (h - 1/2))
  if (has_sine && std::holds_alternative<PaperLadder>(odd.ladder)) {
    odd.ladder = DownscaledLadder{0.5};
  }
  odd.width += has_sine ? 1 : -1;
  odd.odd_column = OddColumn::kNone;
  return odd;
}

Timestep EvenWidth(Timestep odd) {
  --odd.width;
  return odd;
}

OddWidthTable::OddWidthTable(CanonicalSpec checked, std::shared_ptr<const LocalTable> even)
    : LocalTable(std::move(checked)),
      even_(std::move(even)),
      layout_(PairRulesOf(spec().spec().scheme)->layout),
      odd_column_(PairRulesOf(spec().spec().scheme)->odd_column) {}

std::int64_t OddWidthTable::memory_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this) + spec().text().capacity()) +
         even_->memory_bytes();
}

template <typename Fill>
void OddWidthTable::Write(std::int64_t count, std::byte* out, StopCheck& stop,
                          const Fill& fill) const {
  constexpr std::int64_t kPieceBytes = std::int64_t{64} << 10;
  const std::int64_t even_bytes = even_->spec().row_bytes();
  const std::int64_t piece_rows =
      std::clamp<std::int64_t>(kPieceBytes / even_bytes, 1, std::max<std::int64_t>(count, 1));
  std::vector<std::byte> piece(static_cast<std::size_t>(piece_rows * even_bytes));
  for (std::int64_t first = 0; first < count && !stop.stopped(); first += piece_rows) {
    const std::int64_t rows = std::min(piece_rows, count - first);
    const auto used = static_cast<std::size_t>(rows * even_bytes);
    // Each of its questions stands for as much work.
    const auto request = [&stop] { return stop.After(StopCheck::kCostPerQuestion); };
    if (!fill(first, rows, absl::MakeSpan(piece).first(used), StopRequest(request)).ok()) return;
    for (std::int64_t row = 0; row < rows; ++row) {
      PlaceOddRow(layout_, spec().pairs(), odd_column_, ElementBytes(spec().element_type()),
                  piece.data() + row * even_bytes, out);
      out += spec().row_bytes();
    }
  }
}

void OddWidthTable::DoRead(std::int64_t start, std::int64_t count, std::byte* out,
                           StopCheck& stop) const {
  Write(count, out, stop, [&](auto first, auto rows, auto even, StopRequest request) {
    return even_->ReadInto(start + first, rows, even, request);
  });
}

void OddWidthTable::DoGather(absl::Span<const std::int64_t> positions, std::int64_t /*axes*/,
                             std::byte* out, StopCheck& stop) const {
  Write(std::ssize(positions), out, stop,
        [&](auto first, auto rows, auto even, StopRequest request) {
          return even_->GatherInto(positions.subspan(first, rows), even, request);
        });
}

void OddWidthTable::DoGather(absl::Span<const double> positions, std::int64_t /*axes*/,
                             std::byte* out, StopCheck& stop) const {
  Write(std::ssize(positions), out, stop,
        [&](auto first, auto rows, auto even, StopRequest request) {
          return even_->GatherInto(positions.subspan(first, rows), even, request);
        });
}

}  // namespace phasor
