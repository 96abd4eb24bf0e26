#ifndef PHASOR_CLIENT_CLI_FORMATS_H_
#define PHASOR_CLIENT_CLI_FORMATS_H_

/// \file
/// How rows are written.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/element_type.h"

namespace phasor::cli {

enum class Format {
  kTable,  ///< for people: shape, type and fingerprint, then the rows in columns
  kCsv,    ///< a line a row, shortest decimals, no header
  kNpy,    ///< NumPy's, version 1.0, C order
  kRaw,    ///< the elements alone, little-endian
};

/// What is written.
struct ArrayInfo {
  /// [rows, row_width], or [n]: then csv and table have an element a line.
  std::vector<std::int64_t> shape;
  ElementType type = ElementType::kFloat32;
  std::string fingerprint;

  std::int64_t row_width() const { return shape.size() == 1 ? 1 : shape.back(); }
};

/// The format of that name in lower case.
std::optional<Format> FormatOfName(absl::string_view name);

/// The format that a path's suffix means: .npy, .csv, .raw or .bin.
std::optional<Format> FormatOfSuffix(absl::string_view path);

/// What stands before the rows.
std::string FormatHead(Format format, const ArrayInfo& info);

/// Appends whole rows. Columns of kTable are aligned within one call.
void AppendRows(Format format, const ArrayInfo& info, absl::Span<const std::byte> rows,
                std::string& out);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_FORMATS_H_
