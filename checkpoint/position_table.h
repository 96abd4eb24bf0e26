#ifndef PHASOR_CHECKPOINT_POSITION_TABLE_H_
#define PHASOR_CHECKPOINT_POSITION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/element_survey.h"
#include "phasor/core/element_type.h"

namespace phasor::checkpoint {

/// Most bytes of rows in one table.
inline constexpr std::uint64_t kMaxTableBytes = std::uint64_t{1} << 30;

/// The learned position table of a checkpoint, in memory: row 0 is that of the
/// first token.
struct PositionTable {
  std::string tensor;  ///< its name in the file
  std::int64_t row_offset = 0;
  ElementType type = ElementType::kFloat32;
  std::int64_t max_positions = 0;
  std::int64_t width = 0;
  std::shared_ptr<const std::byte[]> elements;  ///< [max_positions, width], at any alignment
  std::size_t bytes = 0;
  std::string content_sha256;
  ElementSurvey survey;
};

/// How many rows stand before that of the first token in the tensor of that
/// name, [rows, width].
using RowOffset = absl::FunctionRef<absl::StatusOr<std::int64_t>(
    const std::string& tensor, std::int64_t rows, std::int64_t width)>;

/// Loads the table of the file at `path`.
///
/// `tensor` names the tensor, whole or by the last of its parts between dots;
/// empty: the one whose name ends as position tables' do in public models, or
/// the file's only one. It has to be F32, F16, BF16 or F64, [rows, width] or, as
/// ViT has it, [1, rows, width].
///
/// The rows before that of the first token are left out: as many as `row_offset`
/// says.
///
/// **Errors**, all naming path and what to do: those of SafetensorsFile and
/// `row_offset`; NOT_FOUND for no tensor that fits; INVALID_ARGUMENT for several
/// (it lists them), another dtype or shape, an offset past the rows;
/// RESOURCE_EXHAUSTED for more than kMaxTableBytes, or than memory has.
absl::StatusOr<PositionTable> LoadPositionTable(const std::string& path, absl::string_view tensor,
                                                RowOffset row_offset);

/// SHA-256, 64 lower-case hex digits, of the line "DTYPE ROWS WIDTH\n", for
/// instance "F32 1024 768\n", and the elements.
std::string ContentSha256(ElementType type, std::int64_t rows, std::int64_t width,
                          absl::Span<const std::byte> elements);

}  // namespace phasor::checkpoint

#endif  // PHASOR_CHECKPOINT_POSITION_TABLE_H_
