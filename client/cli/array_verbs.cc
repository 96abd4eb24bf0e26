#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/array_writer.h"
#include "client/cli/connection.h"
#include "client/cli/number_list.h"
#include "client/cli/progress.h"
#include "client/cli/spec_flags.h"
#include "client/cli/verbs.h"
#include "phasor/core/errors.h"

namespace phasor::cli {
namespace {

/// Rows asked for and written at a time, in bytes.
constexpr std::int64_t kPieceBytes = std::int64_t{4} << 20;

ArrayInfo InfoOfRows(const Table& table, std::int64_t row_count) {
  return {{row_count, table.row_width()}, table.element_type(), table.fingerprint()};
}

/// Writes `row_count` rows; `fill(first, count, out)` makes those numbered
/// first ... first+count-1.
template <typename Fill>
absl::Status WriteRows(const Table& table, std::int64_t row_count, Destination destination,
                       Fill fill) {
  ArrayWriter writer(std::move(destination), InfoOfRows(table, row_count));
  const std::int64_t piece_rows =
      std::min(row_count, std::max<std::int64_t>(1, kPieceBytes / table.row_bytes()));
  std::vector<std::byte> piece(static_cast<std::size_t>(piece_rows * table.row_bytes()));
  Progress progress(row_count, "rows");
  for (std::int64_t first = 0; first < row_count;) {
    const std::int64_t count = std::min(piece_rows, row_count - first);
    const auto out =
        absl::MakeSpan(piece).first(static_cast<std::size_t>(count * table.row_bytes()));
    absl::Status status = fill(first, count, out);
    if (status.ok()) status = writer.Write(out);
    if (!status.ok()) return status;
    first += count;
    progress.Advance(count);
  }
  return writer.Finish();
}

absl::Status GatherPiece(const Table& table, absl::Span<const std::int64_t> positions,
                         std::int64_t axes, absl::Span<std::byte> out) {
  return axes == 1 ? table.Gather(positions, out) : table.GatherAxes(positions, out);
}
absl::Status GatherPiece(const Table& table, absl::Span<const double> positions, std::int64_t axes,
                         absl::Span<std::byte> out) {
  return axes == 1 ? table.GatherReal(positions, out) : table.GatherRealAxes(positions, out);
}

}  // namespace

absl::Status RunRows(const Arguments& arguments) {
  for (absl::string_view flag : {"count", "output"}) {
    if (flag == "output" && arguments.verb() != Verb::kExport) continue;
    absl::StatusOr<absl::string_view> text = arguments.Required(flag);
    if (!text.ok()) return text.status();
  }
  absl::StatusOr<std::int64_t> start = IntegerFlag(arguments, "start", 0);
  if (!start.ok()) return start.status();
  absl::StatusOr<std::int64_t> count = IntegerFlag(arguments, "count", 0);
  if (!count.ok()) return count.status();
  absl::StatusOr<Destination> destination = DestinationFromFlags(arguments);
  if (!destination.ok()) return destination.status();
  absl::StatusOr<Table> table = OpenTable(arguments);
  if (!table.ok()) return table.status();
  absl::Status status = table->spec().CheckRange(*start, *count);
  if (!status.ok()) return status;
  return WriteRows(*table, *count, *std::move(destination),
                   [&](std::int64_t first, std::int64_t piece_count, absl::Span<std::byte> out) {
                     return table->ReadInto(*start + first, piece_count, out);
                   });
}

absl::Status RunGather(const Arguments& arguments) {
  absl::StatusOr<absl::string_view> value = arguments.Required("positions");
  if (!value.ok()) return value.status();
  absl::StatusOr<std::string> text = ReadListText(*value);
  if (!text.ok()) return arguments.Wrong("positions", text.status());
  absl::StatusOr<Positions> positions = ParsePositions(*text);
  if (!positions.ok()) return arguments.Wrong("positions", positions.status());
  absl::StatusOr<std::int64_t> axes = IntegerFlag(arguments, "axes", 1);
  if (!axes.ok()) return axes.status();
  absl::StatusOr<Destination> destination = DestinationFromFlags(arguments);
  if (!destination.ok()) return destination.status();
  absl::StatusOr<Table> table = OpenTable(arguments);
  if (!table.ok()) return table.status();
  return std::visit(
      [&](const auto& list) {
        // All of them, so that no row is written before a wrong one is found.
        absl::Status status = table->spec().CheckPositions(list);
        if (status.ok()) status = table->spec().CheckAxes(*axes, std::ssize(list), "positions");
        if (!status.ok()) return status;
        return WriteRows(
            *table, static_cast<std::int64_t>(list.size()) / *axes, *std::move(destination),
            [&](std::int64_t first, std::int64_t count, absl::Span<std::byte> out) {
              return GatherPiece(
                  *table,
                  absl::MakeConstSpan(list).subspan(static_cast<std::size_t>(first * *axes),
                                                    static_cast<std::size_t>(count * *axes)),
                  *axes, out);
            });
      },
      *positions);
}

absl::Status RunFreqs(const Arguments& arguments) {
  absl::StatusOr<Destination> destination = DestinationFromFlags(arguments);
  if (!destination.ok()) return destination.status();
  absl::StatusOr<Table> table = OpenTable(arguments);
  if (!table.ok()) return table.status();
  absl::StatusOr<std::vector<double>> frequencies = table->Frequencies();
  if (!frequencies.ok()) return frequencies.status();
  ArrayWriter writer(*std::move(destination), {{static_cast<std::int64_t>(frequencies->size())},
                                               ElementType::kFloat64,
                                               table->fingerprint()});
  absl::Status status = writer.Write({reinterpret_cast<const std::byte*>(frequencies->data()),
                                      frequencies->size() * sizeof(double)});
  return status.ok() ? writer.Finish() : status;
}

}  // namespace phasor::cli
