#ifndef PHASOR_CLIENT_CLI_NPY_H_
#define PHASOR_CLIENT_CLI_NPY_H_

/// \file
/// The head of an .npy file, version 1.0 (NumPy Enhancement Proposal 1).
///
/// Ten bytes: "\x93NUMPY", 1, 0 and the length of what follows as a
/// little-endian uint16; then a Python dictionary of descr, fortran_order and
/// shape, padded with spaces and ended by a newline so that the elements begin
/// at a multiple of 64 bytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/element_type.h"

namespace phasor::cli {

inline constexpr std::size_t kNpyPreambleBytes = 10;

/// The type code: "<f4", "<f8", "<f2"; "<u2" (bit patterns) for bfloat16.
absl::string_view NpyTypeCode(ElementType type);

/// The head of a file of `type` in C order.
std::string NpyHead(ElementType type, absl::Span<const std::int64_t> shape);

/// What a file says about itself.
struct NpyHeader {
  std::string type_code;
  std::vector<std::int64_t> shape;
};

/// Reads the ten bytes of `preamble`: how many bytes of dictionary follow.
///
/// **Errors**: INVALID_ARGUMENT for fewer bytes, another magic or version.
absl::StatusOr<std::size_t> ParseNpyPreamble(absl::string_view preamble);

/// Reads the dictionary. Strict, the file is not trusted: exactly the three
/// keys, each once; C order alone; sizes that are decimal, not negative, and
/// whose product fits int64.
///
/// **Errors**: INVALID_ARGUMENT saying what was found where.
absl::StatusOr<NpyHeader> ParseNpyDictionary(absl::string_view dictionary);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_NPY_H_
