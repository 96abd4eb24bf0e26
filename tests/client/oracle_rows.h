#ifndef PHASOR_TESTS_CLIENT_ORACLE_ROWS_H_
#define PHASOR_TESTS_CLIENT_ORACLE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "phasor/elements.h"
#include "tests/oracle/oracle.h"

namespace phasor {

/// Rows start ... start+count-1 of a sinusoidal table by the oracle; T stands
/// for its element type.
template <Element T>
std::vector<T> OracleRows(const Sinusoidal& spec, std::int64_t start, std::int64_t count) {
  const oracle::Table table(spec, ElementTypeOf<T>());
  const std::int64_t width = RowWidth(spec.layout, spec.width);
  std::vector<T> rows(static_cast<std::size_t>(count * width));
  for (std::int64_t p = 0; p < count; ++p) {
    for (std::int64_t c = 0; c < width; ++c) {
      const std::uint64_t bits = table.Column({.integer = start + p}, c);
      std::memcpy(&rows[static_cast<std::size_t>(p * width + c)], &bits, sizeof(T));
    }
  }
  return rows;
}

}  // namespace phasor

#endif  // PHASOR_TESTS_CLIENT_ORACLE_ROWS_H_
