#include "phasor/rotary.h"

#include <cstring>
#include <optional>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/src/rotary_kernel.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

using internal::Heads;

// To the positions, or by them.
enum class Turn : std::uint8_t { kTo, kBy };

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, what);
}

// Columns of a row that hold pair 0, and the way to the next pair.
struct Places {
  std::int64_t sin;
  std::int64_t cos;
  std::int64_t step;
};

// What turning needs to know of a table's scheme.
struct PairTable {
  std::int64_t width = 0;
  Layout layout = Layout::kSinCosInterleaved;
  std::int64_t position_offset = 0;
  bool has_zero_row = false;
  bool is_odd = false;
};

struct PairTableOf {
  std::optional<PairTable> operator()(const Sinusoidal& s) const {
    return PairTable{s.width, s.layout, s.position_offset, s.zero_row.has_value(),
                     s.odd_column != OddColumn::kNone};
  }
  std::optional<PairTable> operator()(const Rotary& r) const {
    return PairTable{r.width, r.layout};
  }
  std::optional<PairTable> operator()(const Timestep&) const { return std::nullopt; }
  std::optional<PairTable> operator()(const Alibi&) const { return std::nullopt; }
  std::optional<PairTable> operator()(const RelativeBuckets&) const { return std::nullopt; }
  std::optional<PairTable> operator()(const NoPosition& n) const {
    if (n.additive) return std::nullopt;
    return PairTable{n.width, n.layout};
  }
  std::optional<PairTable> operator()(const LearnedInit&) const { return std::nullopt; }
  std::optional<PairTable> operator()(const LearnedTable&) const { return std::nullopt; }
};

absl::StatusOr<Places> PlacesOf(const PairTable& pairs) {
  const std::int64_t h = pairs.width / 2;
  switch (pairs.layout) {
    case Layout::kSinCosInterleaved: return Places{0, 1, 2};
    case Layout::kSinCosHalves: return Places{0, h, 1};
    case Layout::kCosSinHalves: return Places{h, 0, 1};
    case Layout::kCosSinInterleaved: return Places{1, 0, 2};
    case Layout::kCosSinDuplicatedHalves: return Places{2 * h, 0, 1};
    case Layout::kCosSinDuplicatedPairs: return Places{2 * h, 0, 2};
    case Layout::kCosOnly:
    case Layout::kSinOnly: break;
  }
  return Bad("table", absl::StrCat("has layout ", LayoutName(pairs.layout),
                                   ", one half of its pairs; both are needed"));
}

float Value(ElementType type, const std::byte* row, std::int64_t column) {
  if (type == ElementType::kFloat32) {
    float value = 0;
    std::memcpy(&value, row + column * 4, 4);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, row + column * 2, 2);
  return type == ElementType::kFloat16 ? ToFloat(Float16{bits}) : ToFloat(Bfloat16{bits});
}

template <typename T>
void RotateRow(Pairing pairing, T* x, const Heads& heads, const float* cos, const float* sin) {
  switch (pairing) {
    case Pairing::kHalfSplit: return internal::RotateHalfSplit(x, heads, cos, sin);
    case Pairing::kInterleaved: return internal::RotateInterleaved(x, heads, cos, sin);
  }
}

// The positions whose rows turn as asked: where a row's own position counts,
// the position; where the distance does, the one that the offset leads to it.
absl::Status CheckPositions(const CanonicalSpec& spec, absl::Span<const std::int64_t> positions,
                            std::int64_t offset, Turn turn) {
  if (turn == Turn::kTo) return spec.CheckPositions(positions);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const std::string field = absl::StrCat("shifts[", k, "]");
    if (positions[k] < -kMaxPosition || positions[k] > kMaxPosition) {
      return FieldError(absl::StatusCode::kOutOfRange, field,
                        absl::StrCat(positions[k], " is past +-2^53"));
    }
    absl::Status status = spec.CheckPosition(positions[k] - offset, field);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Rotate(ElementType type, void* x, std::size_t size,
                    absl::Span<const std::int64_t> positions, const Table& table, Pairing pairing,
                    std::int64_t head_width, Turn turn) {
  if (pairing != Pairing::kHalfSplit && pairing != Pairing::kInterleaved) {
    return Bad("pairing", absl::StrCat(static_cast<int>(pairing), " is no known pairing"));
  }
  const CanonicalSpec& spec = table.spec();
  const std::optional<PairTable> turning = std::visit(PairTableOf{}, spec.spec().scheme);
  if (!turning.has_value()) {
    return Bad("table", absl::StrCat("is of scheme ", SchemeName(spec.spec().scheme),
                                     ", which turns no vectors"));
  }
  if (turning->has_zero_row) return Bad("table", "has a zero row, which turns nothing");
  if (turning->is_odd) return Bad("table", "has an odd width, of which one column is no pair's");
  if (turn == Turn::kBy && spec.attention_factor() != 1) {
    return Bad("table", absl::StrCat("has attention factor ", *spec.attention_factor(),
                                     ", which the keys have already; shift with the same table of "
                                     "attention_factor 1"));
  }
  if (spec.element_type() == ElementType::kFloat64) {
    return Bad("table", "is FLOAT64; open it as FLOAT32");
  }
  const absl::StatusOr<Places> places = PlacesOf(*turning);
  if (!places.ok()) return places.status();

  const std::int64_t width = turning->width;
  if (head_width == 0) head_width = width;
  if (head_width < width) {
    return Bad("head_width", absl::StrCat(head_width, " is less than the table's width ", width));
  }
  const std::size_t row = positions.size() * static_cast<std::size_t>(head_width);
  if (row == 0 ? size != 0 : size % row != 0) {
    return Bad("x", absl::StrCat(size, " elements are not whole heads of ", head_width, " for ",
                                 positions.size(), " positions"));
  }
  // A shift is an angle, not a place: the offset of the table's places is undone.
  const std::int64_t offset = turn == Turn::kBy ? turning->position_offset : 0;
  absl::Status status = CheckPositions(spec, positions, offset, turn);
  if (!status.ok() || size == 0) return status;

  // Rows that follow each other and are the same are one.
  std::vector<std::int64_t> wanted;
  for (std::size_t t = 0; t < positions.size(); ++t) {
    if (t == 0 || positions[t] != positions[t - 1]) wanted.push_back(positions[t] - offset);
  }
  const auto row_bytes = static_cast<std::size_t>(spec.row_bytes());
  std::vector<std::byte> rows(wanted.size() * row_bytes);
  status = table.Gather(wanted, absl::MakeSpan(rows));
  if (!status.ok()) return status;

  const std::int64_t pairs = width / 2;
  const auto heads_size = size / positions.size();
  const Heads heads{static_cast<std::int64_t>(heads_size) / head_width, head_width, pairs};
  std::vector<float> cos(static_cast<std::size_t>(pairs));
  std::vector<float> sin(static_cast<std::size_t>(pairs));
  const std::byte* next = rows.data();
  for (std::size_t t = 0; t < positions.size(); ++t) {
    if (t == 0 || positions[t] != positions[t - 1]) {
      for (std::int64_t i = 0; i < pairs; ++i) {
        const auto at = static_cast<std::size_t>(i);
        cos[at] = Value(spec.element_type(), next, places->cos + i * places->step);
        sin[at] = Value(spec.element_type(), next, places->sin + i * places->step);
      }
      next += row_bytes;
    }
    if (type == ElementType::kFloat32) {
      RotateRow(pairing, static_cast<float*>(x) + t * heads_size, heads, cos.data(), sin.data());
    } else {
      RotateRow(pairing, static_cast<Bfloat16*>(x) + t * heads_size, heads, cos.data(), sin.data());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyRotary(absl::Span<float> x, absl::Span<const std::int64_t> positions,
                         const Table& table, Pairing pairing, std::int64_t head_width) {
  return Rotate(ElementType::kFloat32, x.data(), x.size(), positions, table, pairing, head_width,
                Turn::kTo);
}

absl::Status ApplyRotary(absl::Span<Bfloat16> x, absl::Span<const std::int64_t> positions,
                         const Table& table, Pairing pairing, std::int64_t head_width) {
  return Rotate(ElementType::kBfloat16, x.data(), x.size(), positions, table, pairing, head_width,
                Turn::kTo);
}

absl::Status ShiftRotary(absl::Span<float> x, absl::Span<const std::int64_t> shifts,
                         const Table& table, Pairing pairing, std::int64_t head_width) {
  return Rotate(ElementType::kFloat32, x.data(), x.size(), shifts, table, pairing, head_width,
                Turn::kBy);
}

absl::Status ShiftRotary(absl::Span<Bfloat16> x, absl::Span<const std::int64_t> shifts,
                         const Table& table, Pairing pairing, std::int64_t head_width) {
  return Rotate(ElementType::kBfloat16, x.data(), x.size(), shifts, table, pairing, head_width,
                Turn::kBy);
}

}  // namespace phasor
