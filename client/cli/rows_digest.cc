#include "client/cli/rows_digest.h"

#include <sha2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace phasor::cli {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

}  // namespace

absl::StatusOr<std::string> RowsDigest(const Table& table, std::int64_t start, std::int64_t count,
                                       Progress& progress) {
  absl::Status status = table.spec().CheckRange(start, count);
  if (!status.ok()) return status;
  SHA2_CTX context;
  SHA256Init(&context);
  const std::int64_t piece_rows = std::max<std::int64_t>(1, kPieceBytes / table.row_bytes());
  std::vector<std::byte> piece(
      static_cast<std::size_t>(std::min(piece_rows, count) * table.row_bytes()));
  for (std::int64_t first = 0; first < count; first += piece_rows) {
    const std::int64_t rows = std::min(piece_rows, count - first);
    const auto out =
        absl::MakeSpan(piece).first(static_cast<std::size_t>(rows * table.row_bytes()));
    status = table.ReadInto(start + first, rows, out);
    if (!status.ok()) return status;
    SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(out.data()), out.size());
    progress.Advance(rows);
  }
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest;
  SHA256Final(digest.data(), &context);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

}  // namespace phasor::cli
