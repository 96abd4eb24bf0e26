#include "client/cli/formats.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/element_text.h"
#include "client/cli/npy.h"

namespace phasor::cli {
namespace {

void AppendCsv(ElementType type, std::size_t row_width, absl::Span<const std::byte> rows,
               std::string& out) {
  const auto element_bytes = static_cast<std::size_t>(ElementBytes(type));
  std::size_t column = 0;
  for (std::size_t at = 0; at < rows.size(); at += element_bytes) {
    AppendElement(type, rows.data() + at, out);
    const bool last = ++column == row_width;
    out += last ? '\n' : ',';
    if (last) column = 0;
  }
}

void AppendTable(ElementType type, std::size_t row_width, absl::Span<const std::byte> rows,
                 std::string& out) {
  const auto element_bytes = static_cast<std::size_t>(ElementBytes(type));
  std::vector<std::string> cells(rows.size() / element_bytes);
  std::vector<std::size_t> column_width(row_width, 1);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    AppendElement(type, rows.data() + i * element_bytes, cells[i]);
    std::size_t& width = column_width[i % row_width];
    width = std::max(width, cells[i].size());
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t column = i % row_width;
    if (column > 0) out += "  ";
    out.append(column_width[column] - cells[i].size(), ' ');
    out += cells[i];
    if (column + 1 == row_width) out += '\n';
  }
}

}  // namespace

std::optional<Format> FormatOfName(absl::string_view name) {
  if (name == "table") return Format::kTable;
  if (name == "csv") return Format::kCsv;
  if (name == "npy") return Format::kNpy;
  if (name == "raw") return Format::kRaw;
  return std::nullopt;
}

std::optional<Format> FormatOfSuffix(absl::string_view path) {
  if (absl::EndsWith(path, ".npy")) return Format::kNpy;
  if (absl::EndsWith(path, ".csv")) return Format::kCsv;
  if (absl::EndsWith(path, ".raw") || absl::EndsWith(path, ".bin")) return Format::kRaw;
  return std::nullopt;
}

std::string FormatHead(Format format, const ArrayInfo& info) {
  switch (format) {
    case Format::kTable:
      return absl::StrCat("shape        [", absl::StrJoin(info.shape, ", "), "]\n",  //
                          "type         ", absl::AsciiStrToLower(ElementTypeName(info.type)), "\n",
                          "fingerprint  ", info.fingerprint, "\n\n");
    case Format::kNpy: return NpyHead(info.type, info.shape);
    case Format::kCsv:
    case Format::kRaw: return "";
  }
  return "";
}

void AppendRows(Format format, const ArrayInfo& info, absl::Span<const std::byte> rows,
                std::string& out) {
  const auto row_width = static_cast<std::size_t>(info.row_width());
  switch (format) {
    case Format::kTable: return AppendTable(info.type, row_width, rows, out);
    case Format::kCsv: return AppendCsv(info.type, row_width, rows, out);
    case Format::kNpy:
    case Format::kRaw: out.append(reinterpret_cast<const char*>(rows.data()), rows.size()); return;
  }
}

}  // namespace phasor::cli
