#include "core/layout.h"

#include <cstring>

namespace phasor {
namespace {

// A layout as strides: the first copy of pair i's sine (cosine) stands in
// column sine + i * step, the second `copy` columns on where copy is not 0.
struct Pattern {
  std::int64_t sine;
  std::int64_t cosine;
  std::int64_t step;
  std::int64_t copy;
};

constexpr std::int64_t kAbsent = -1;

Pattern PatternOf(Layout layout, std::int64_t pairs) {
  switch (layout) {
    case Layout::kSinCosInterleaved: return {0, 1, 2, 0};
    case Layout::kSinCosHalves: return {0, pairs, 1, 0};
    case Layout::kCosSinHalves: return {pairs, 0, 1, 0};
    case Layout::kCosSinInterleaved: return {1, 0, 2, 0};
    case Layout::kCosSinDuplicatedHalves: return {2 * pairs, 0, 1, pairs};
    case Layout::kCosSinDuplicatedPairs: return {2 * pairs, 0, 2, 1};
    case Layout::kCosOnly: return {kAbsent, 0, 1, 0};
    case Layout::kSinOnly: return {0, kAbsent, 1, 0};
  }
  return {kAbsent, kAbsent, 0, 0};
}

template <typename Bits>
void Scatter(const Bits* values, std::int64_t pairs, std::int64_t step, std::byte* out) {
  if (step == 1) {
    std::memcpy(out, values, static_cast<std::size_t>(pairs) * sizeof(Bits));
    return;
  }
  for (std::int64_t i = 0; i < pairs; ++i) {
    std::memcpy(out + 2 * i * sizeof(Bits), &values[i], sizeof(Bits));
  }
}

// Both at once, two columns a pair: what the compiler can vectorise.
template <typename Bits>
void Interleave(const Bits* first, const Bits* second, std::int64_t pairs, std::byte* out) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    std::memcpy(out + (2 * i) * sizeof(Bits), &first[i], sizeof(Bits));
    std::memcpy(out + (2 * i + 1) * sizeof(Bits), &second[i], sizeof(Bits));
  }
}

template <typename Bits>
Bits At(const std::byte* row, std::int64_t column) {
  Bits bits;
  std::memcpy(&bits, row + column * sizeof(Bits), sizeof(Bits));
  return bits;
}

}  // namespace

template <typename Bits>
void PlaceRow(Layout layout, std::int64_t pairs, const Bits* sines, const Bits* cosines,
              std::byte* row) {
  if (layout == Layout::kSinCosInterleaved) return Interleave(sines, cosines, pairs, row);
  if (layout == Layout::kCosSinInterleaved) return Interleave(cosines, sines, pairs, row);
  const Pattern pattern = PatternOf(layout, pairs);
  const auto place = [&](const Bits* values, std::int64_t first) {
    if (first == kAbsent) return;
    Scatter(values, pairs, pattern.step, row + first * sizeof(Bits));
    if (pattern.copy != 0) {
      Scatter(values, pairs, pattern.step, row + (first + pattern.copy) * sizeof(Bits));
    }
  };
  place(sines, pattern.sine);
  place(cosines, pattern.cosine);
}

template <typename Bits>
std::optional<std::int64_t> TakeRow(Layout layout, std::int64_t pairs, const std::byte* row,
                                    Bits* sines, Bits* cosines) {
  const Pattern pattern = PatternOf(layout, pairs);
  std::optional<std::int64_t> differing;
  const auto take = [&](Bits* values, std::int64_t first) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const std::int64_t column = first + i * pattern.step;
      values[i] = At<Bits>(row, column);
      if (!differing.has_value() && At<Bits>(row, column + pattern.copy) != values[i]) {
        differing = column + pattern.copy;
      }
    }
  };
  // In the order of columns: every layout with copies has its cosines first.
  take(cosines, pattern.cosine);
  take(sines, pattern.sine);
  return differing;
}

std::int64_t ColumnOf(Layout layout, std::int64_t pairs, std::int64_t i, bool sine) {
  const Pattern pattern = PatternOf(layout, pairs);
  return (sine ? pattern.sine : pattern.cosine) + i * pattern.step;
}

template <typename Bits>
void PlaceElement(Layout layout, std::int64_t pairs, std::int64_t i, bool sine, Bits bits,
                  std::byte* row) {
  const Pattern pattern = PatternOf(layout, pairs);
  const std::int64_t first = sine ? pattern.sine : pattern.cosine;
  if (first == kAbsent) return;
  for (const std::int64_t copy : {std::int64_t{0}, pattern.copy}) {
    std::memcpy(row + (first + i * pattern.step + copy) * sizeof(Bits), &bits, sizeof(Bits));
  }
}

void PlaceOddRow(Layout layout, std::int64_t pairs, OddColumn odd_column,
                 std::int64_t element_bytes, const std::byte* even, std::byte* row) {
  const auto bytes = [element_bytes](std::int64_t columns) {
    return static_cast<std::size_t>(columns * element_bytes);
  };
  if (odd_column == OddColumn::kZero) {
    std::memcpy(row, even, bytes(2 * pairs));
    std::memset(row + bytes(2 * pairs), 0, bytes(1));
    return;
  }
  const std::int64_t absent = ColumnOf(layout, pairs, pairs - 1, /*sine=*/false);
  std::memcpy(row, even, bytes(absent));
  std::memcpy(row + bytes(absent), even + bytes(absent + 1), bytes(2 * pairs - 1 - absent));
}

RowForm FormOf(Layout layout) {
  const Pattern pattern = PatternOf(layout, 1);
  if (pattern.cosine == kAbsent) return RowForm::kSineOnly;
  if (pattern.sine == kAbsent) return RowForm::kCosineOnly;
  if (pattern.step == 1) return RowForm::kSeparate;
  if (pattern.copy == 1) return RowForm::kTwins;
  return pattern.sine < pattern.cosine ? RowForm::kSineFirst : RowForm::kCosineFirst;
}

RowStreams StreamsOf(Layout layout, std::int64_t pairs, std::int64_t element_bytes,
                     std::byte* row) {
  const Pattern pattern = PatternOf(layout, pairs);
  RowStreams streams;
  streams.pair_bytes = pattern.step * element_bytes;
  const auto add = [&](std::int64_t column) {
    streams.start[streams.count++] = row + column * element_bytes;
  };
  const RowForm form = FormOf(layout);
  if (form != RowForm::kSeparate && form != RowForm::kTwins) {
    add(0);
    return streams;
  }
  add(pattern.sine);
  add(pattern.cosine);
  if (form == RowForm::kSeparate && pattern.copy != 0) {
    add(pattern.sine + pattern.copy);
    add(pattern.cosine + pattern.copy);
  }
  return streams;
}

template void PlaceRow(Layout, std::int64_t, const std::uint16_t*, const std::uint16_t*,
                       std::byte*);
template void PlaceRow(Layout, std::int64_t, const std::uint32_t*, const std::uint32_t*,
                       std::byte*);
template void PlaceRow(Layout, std::int64_t, const std::uint64_t*, const std::uint64_t*,
                       std::byte*);
template std::optional<std::int64_t> TakeRow(Layout, std::int64_t, const std::byte*, std::uint16_t*,
                                             std::uint16_t*);
template std::optional<std::int64_t> TakeRow(Layout, std::int64_t, const std::byte*, std::uint32_t*,
                                             std::uint32_t*);
template std::optional<std::int64_t> TakeRow(Layout, std::int64_t, const std::byte*, std::uint64_t*,
                                             std::uint64_t*);

template void PlaceElement(Layout, std::int64_t, std::int64_t, bool, std::uint16_t, std::byte*);
template void PlaceElement(Layout, std::int64_t, std::int64_t, bool, std::uint32_t, std::byte*);
template void PlaceElement(Layout, std::int64_t, std::int64_t, bool, std::uint64_t, std::byte*);

}  // namespace phasor
