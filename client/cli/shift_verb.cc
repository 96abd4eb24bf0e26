#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/array_writer.h"
#include "client/cli/connection.h"
#include "client/cli/npy_input.h"
#include "client/cli/number_list.h"
#include "client/cli/progress.h"
#include "client/cli/spec_flags.h"
#include "client/cli/verbs.h"
#include "phasor/core/errors.h"

namespace phasor::cli {
namespace {

/// Rows read, shifted and written at a time, in bytes.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

/// The element type of the rows: the file's, which --type may only confirm.
absl::StatusOr<ElementType> InputType(const Arguments& arguments, absl::string_view type_code) {
  absl::StatusOr<ElementType> asked = TypeFlag(arguments);
  if (!asked.ok()) return asked.status();
  const bool has_flag = arguments.Text("type").has_value();
  if (type_code == NpyTypeCode(ElementType::kBfloat16) && !has_flag) {
    return arguments.Wrong("input", "holds <u2; if these are bfloat16 say --type=bfloat16");
  }
  for (ElementType type : {ElementType::kFloat32, ElementType::kFloat64, ElementType::kFloat16,
                           ElementType::kBfloat16}) {
    if (NpyTypeCode(type) != type_code) continue;
    if (has_flag && *asked != type) {
      return arguments.Wrong("type", absl::StrCat("contradicts --input, which holds ", type_code));
    }
    return type;
  }
  return arguments.Wrong(
      "input", absl::StrCat("holds ", type_code, "; rows are <f4, <f8, <f2, or <u2 for bfloat16"));
}

/// How many rows of `row_width` a shape holds.
std::optional<std::int64_t> RowCount(absl::Span<const std::int64_t> shape, std::int64_t row_width) {
  if (shape.empty() || shape.size() > 2 || shape.back() != row_width) return std::nullopt;
  return shape.size() == 1 ? 1 : shape[0];
}

/// An error about rows of one piece says which piece, as its row numbers are
/// counted from there.
absl::Status InPiece(const absl::Status& status, std::int64_t first) {
  const std::string field = FieldOf(status);
  if (first == 0 || field.empty()) return status;
  absl::Status placed(
      status.code(), absl::StrCat(status.message(), " (counted from row ", first, " of the file)"));
  status.ForEachPayload([&placed](absl::string_view url, const absl::Cord& payload) {
    placed.SetPayload(url, payload);
  });
  return placed;
}

}  // namespace

absl::Status RunShift(const Arguments& arguments) {
  absl::StatusOr<absl::string_view> by_text = arguments.Required("by");
  if (!by_text.ok()) return by_text.status();
  absl::StatusOr<Number> by = ParseNumber(*by_text);
  if (!by.ok()) return arguments.Wrong("by", by.status());
  absl::StatusOr<absl::string_view> path = arguments.Required("input");
  if (!path.ok()) return path.status();
  absl::StatusOr<Destination> destination = DestinationFromFlags(arguments);
  if (!destination.ok()) return destination.status();
  absl::StatusOr<TableSpec> spec = SpecFromFlags(arguments);
  if (!spec.ok()) return spec.status();

  absl::StatusOr<NpyInput> input = NpyInput::Open(std::string(*path));
  if (!input.ok()) return arguments.Wrong("input", input.status());
  absl::StatusOr<ElementType> type = InputType(arguments, input->header().type_code);
  if (!type.ok()) return type.status();
  spec->element_type = *type;
  absl::StatusOr<Table> table = OpenTable(arguments, *spec);
  if (!table.ok()) return table.status();

  const std::optional<std::int64_t> row_count = RowCount(input->header().shape, table->row_width());
  if (!row_count.has_value()) {
    return arguments.Wrong(
        "input", absl::StrCat("shape [", absl::StrJoin(input->header().shape, ", "),
                              "] is not [rows, ", table->row_width(), "], rows of this table"));
  }
  ArrayWriter writer(
      *std::move(destination),
      {{*row_count, table->row_width()}, table->element_type(), table->fingerprint()});
  const std::int64_t piece_rows = std::max<std::int64_t>(1, kPieceBytes / table->row_bytes());
  std::vector<std::byte> piece(
      static_cast<std::size_t>(std::min(piece_rows, *row_count) * table->row_bytes()));
  Progress progress(*row_count, "rows");
  std::int64_t first = 0;
  do {  // at least once: rows of a table that cannot be shifted are refused even if none
    const std::int64_t count = std::min(piece_rows, *row_count - first);
    const auto rows =
        absl::MakeSpan(piece).first(static_cast<std::size_t>(count * table->row_bytes()));
    absl::Status status = input->Read(rows);
    if (!status.ok()) return arguments.Wrong("input", status);
    status = table->Shift(rows, *by, rows);
    if (!status.ok()) return InPiece(status, first);
    first += count;
    if (first == *row_count) status = input->ExpectEnd();
    if (!status.ok()) return arguments.Wrong("input", status);
    status = writer.Write(rows);
    if (!status.ok()) return status;
    progress.Advance(count);
  } while (first < *row_count);
  return writer.Finish();
}

}  // namespace phasor::cli
