#ifndef PHASOR_CORE_LAYOUT_H_
#define PHASOR_CORE_LAYOUT_H_

/// \file
/// Where the sines and cosines of a row's pairs stand in it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "phasor/core/spec.h"

namespace phasor {

/// Writes one row of `layout` from its `pairs` sines and cosines; `row` needs
/// no alignment. Bits: the unsigned integer of the element's size.
template <typename Bits>
void PlaceRow(Layout layout, std::int64_t pairs, const Bits* sines, const Bits* cosines,
              std::byte* row);

/// The other way round, for layouts that hold both halves. Returns the first
/// column that differs from the one it is a copy of, nothing if none does.
template <typename Bits>
std::optional<std::int64_t> TakeRow(Layout layout, std::int64_t pairs, const std::byte* row,
                                    Bits* sines, Bits* cosines);

/// Whether a row holds sines and cosines both.
constexpr bool HoldsBoth(Layout layout) {
  return layout != Layout::kCosOnly && layout != Layout::kSinOnly;
}

/// The first column of `layout` where pair `i`'s sine (or cosine) stands.
std::int64_t ColumnOf(Layout layout, std::int64_t pairs, std::int64_t i, bool sine);

/// Writes pair `i`'s sine (or cosine) wherever `layout` has it in `row`.
template <typename Bits>
void PlaceElement(Layout layout, std::int64_t pairs, std::int64_t i, bool sine, Bits bits,
                  std::byte* row);

/// Writes a row of odd width from `even`, the row of its pairs in `layout`:
/// another column or one less (OddColumn). Not for OddColumn::kNone.
void PlaceOddRow(Layout layout, std::int64_t pairs, OddColumn odd_column,
                 std::int64_t element_bytes, const std::byte* even, std::byte* row);

/// How a row is made of streams of elements.
enum class RowForm : std::uint8_t {
  kSineFirst,    ///< one stream: sine and cosine of each pair
  kCosineFirst,  ///< one stream: cosine and sine
  kSeparate,     ///< a stream of sines and one of cosines; then copies of both, if there are four
  kTwins,        ///< the same two, each element twice
  kSineOnly,     ///< one stream of sines
  kCosineOnly,   ///< one of cosines
};

/// The streams of one row, each `pair_bytes` a pair.
struct RowStreams {
  std::array<std::byte*, 4> start{};
  int count = 0;
  std::int64_t pair_bytes = 0;
};

RowForm FormOf(Layout layout);
RowStreams StreamsOf(Layout layout, std::int64_t pairs, std::int64_t element_bytes, std::byte* row);

}  // namespace phasor

#endif  // PHASOR_CORE_LAYOUT_H_
