#ifndef PHASOR_CORE_LAYOUT_H_
#define PHASOR_CORE_LAYOUT_H_

/// \file
/// Where the sines and cosines of a row's pairs stand in it.

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

}  // namespace phasor

#endif  // PHASOR_CORE_LAYOUT_H_
