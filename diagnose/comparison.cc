#include "diagnose/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "core/rounding.h"
#include "phasor/core/local_table.h"

namespace phasor::diagnose {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

std::uint64_t BitsAt(const std::byte* bytes, int size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<std::size_t>(size));
  return bits;
}

// Elements that lie between two of them and one; both zeros are one.
double UlpsBetween(ElementType type, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sign = FormatOf(type).sign_bit();
  const std::uint64_t x = a & (sign - 1);
  const std::uint64_t y = b & (sign - 1);
  if ((a & sign) != (b & sign)) return static_cast<double>(x + y);
  return static_cast<double>(x > y ? x - y : y - x);
}

class Comparer {
 public:
  Comparer(const CanonicalSpec& spec, ElementType given)
      : right_(spec.element_type()), given_(given) {}

  void Row(const std::byte* found, const std::byte* right, std::int64_t row, std::int64_t position,
           std::int64_t columns) {
    const int found_bytes = ElementBytes(given_);
    const int right_bytes = ElementBytes(right_);
    const std::int64_t before = comparison_.different;
    comparison_.compared += columns;
    if (given_ == right_ &&
        std::memcmp(found, right, static_cast<std::size_t>(columns * right_bytes)) == 0) {
      return;
    }
    for (std::int64_t column = 0; column < columns; ++column) {
      Element(BitsAt(found + column * found_bytes, found_bytes),
              BitsAt(right + column * right_bytes, right_bytes), {row, position, column});
    }
    if (comparison_.different != before) ++comparison_.different_rows;
  }

  const Comparison& comparison() const { return comparison_; }

 private:
  void Element(std::uint64_t found, std::uint64_t right, WrongElement element) {
    if (right_ == ElementType::kInt32) {
      if (found == right) return;
      element.found = static_cast<std::int32_t>(found);
      element.right = static_cast<std::int32_t>(right);
      element.ulps = std::abs(element.found - element.right);
      return Add(element);
    }
    std::uint64_t narrow = found;
    bool fits = true;
    if (given_ != right_ && IsFiniteBits(given_, found)) {
      const double value = WidenBits(given_, found);
      narrow = RoundToBits(right_, value);
      fits = IsFiniteBits(right_, narrow) && WidenBits(right_, narrow) == value;
    }
    if (narrow == right && fits && (given_ == right_ || IsFiniteBits(given_, found))) return;
    element.right = WidenBits(right_, right);
    element.found = std::numeric_limits<double>::quiet_NaN();
    element.ulps = std::numeric_limits<double>::infinity();
    if (IsFiniteBits(given_, found)) {
      element.found = WidenBits(given_, found);
      element.ulps = UlpsBetween(right_, narrow, right);
      comparison_.largest_off =
          std::max(comparison_.largest_off, std::abs(element.found - element.right));
    } else {
      const std::uint64_t magnitude = found & (FormatOf(given_).sign_bit() - 1);
      if (magnitude == FormatOf(given_).infinity()) {
        element.found = (found == magnitude ? 1 : -1) * std::numeric_limits<double>::infinity();
      }
      ++comparison_.not_finite;
      if (!comparison_.first_not_finite.has_value()) comparison_.first_not_finite = element;
    }
    Add(element);
  }

  void Add(const WrongElement& element) {
    ++comparison_.different;
    if (!comparison_.first.has_value()) comparison_.first = element;
    if (!comparison_.largest.has_value() || element.ulps > comparison_.largest->ulps) {
      comparison_.largest = element;
    }
  }

  const ElementType right_;
  const ElementType given_;
  Comparison comparison_;
};

}  // namespace

absl::StatusOr<Comparison> Compare(const CanonicalSpec& spec, const ObservedTable& table,
                                   const DiagnoseOptions& options) {
  const std::shared_ptr<const LocalTable> right = LocalTable::Create(spec);
  const std::int64_t found_bytes = table.columns * ElementBytes(table.type);
  const std::int64_t piece_rows = std::clamp<std::int64_t>(
      kPieceBytes / std::max(found_bytes, spec.row_bytes()), 1, table.rows);
  std::vector<std::byte> found(static_cast<std::size_t>(piece_rows * found_bytes));
  std::vector<std::byte> rows(static_cast<std::size_t>(piece_rows * spec.row_bytes()));
  Comparer comparer(spec, table.type);
  for (std::int64_t first = 0; first < table.rows; first += piece_rows) {
    const std::int64_t count = std::min(piece_rows, table.rows - first);
    absl::Status status = table.read(
        first, count, absl::MakeSpan(found).first(static_cast<std::size_t>(count * found_bytes)));
    if (!status.ok()) return status;
    status = right->ReadInto(
        options.start + first, count,
        absl::MakeSpan(rows).first(static_cast<std::size_t>(count * spec.row_bytes())));
    if (!status.ok()) return status;
    for (std::int64_t row = 0; row < count; ++row) {
      comparer.Row(found.data() + row * found_bytes, rows.data() + row * spec.row_bytes(),
                   first + row, options.start + first + row, table.columns);
    }
    if (options.progress) options.progress(count);
  }
  return comparer.comparison();
}

}  // namespace phasor::diagnose
