#ifndef PHASOR_CORE_LEARNED_TABLE_H_
#define PHASOR_CORE_LEARNED_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "phasor/core/export.h"

namespace phasor {

inline constexpr std::size_t kMaxTableNameBytes = 128;

/// Rows of a learned table that a server loaded from a checkpoint: an embedding
/// indexed by position, row 0 that of the first token. A server knows it by its
/// name; it fills in the other fields, and with them the spec says which rows
/// are meant, bit for bit.
struct LearnedTable {
  /// 1 ... 128 of ASCII letters, digits and "._-/"; required.
  std::string name;
  /// SHA-256, 64 lower-case hex digits, of the rows as the checkpoint holds
  /// them; the comment of LearnedTable in table_spec.proto says of which bytes.
  /// Empty: those that the server has now.
  std::string content_sha256;
  std::int64_t max_positions = 0;  ///< rows: 1 or more
  std::int64_t width = 0;          ///< d: 1 ... 65536, odd allowed
  bool operator==(const LearnedTable&) const = default;

  /// Whether it says which rows are meant.
  bool resolved() const { return !content_sha256.empty(); }
};

/// **Errors**: INVALID_ARGUMENT (spec.learned_table.name).
PHASOR_EXPORT absl::Status CheckTableName(absl::string_view name);

}  // namespace phasor

#endif  // PHASOR_CORE_LEARNED_TABLE_H_
