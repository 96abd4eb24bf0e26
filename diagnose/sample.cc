#include "diagnose/sample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <set>

#include "core/rounding.h"

namespace phasor::diagnose {
namespace {

constexpr std::int64_t kFirstRows = 24;
constexpr std::int64_t kLastRows = 3;
constexpr std::int64_t kSpread = 24;
/// So many values that could have been anything say of which type they are.
constexpr int kTellingValues = 16;

std::set<std::int64_t> RowsToTake(std::int64_t rows) {
  std::set<std::int64_t> taken;
  const auto take = [&](std::int64_t row) {
    if (row >= 0 && row < rows) taken.insert(row);
  };
  for (std::int64_t row = 0; row < kFirstRows; ++row) take(row);
  for (std::int64_t row = kFirstRows; row < rows && row > 0; row += row / 2) {
    take(row);
    take(row + 1);
  }
  for (std::int64_t k = 1; k < kSpread; ++k) {
    take(static_cast<std::int64_t>(static_cast<double>(rows) * static_cast<double>(k) / kSpread));
  }
  for (std::int64_t k = 1; k <= kLastRows; ++k) take(rows - k);
  return taken;
}

std::uint64_t BitsAt(const std::byte* bytes, ElementType type) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<std::size_t>(ElementBytes(type)));
  return bits;
}

double ValueAt(const std::byte* bytes, ElementType type) {
  const std::uint64_t bits = BitsAt(bytes, type);
  if (type == ElementType::kInt32) return static_cast<std::int32_t>(bits);
  return WidenBits(type, bits);
}

// Whether all values have as few bits as `type` has, and some of them as many.
bool Holds(const std::vector<double>& values, ElementType type) {
  int telling = 0;
  for (const double value : values) {
    if (WidenBits(type, RoundToBits(type, value)) != value) return false;
    const double magnitude = std::abs(value);
    if (magnitude != 0 && magnitude != 1) ++telling;
  }
  return telling >= kTellingValues;
}

ElementType NarrowestType(const Sample& sample, ElementType type) {
  if (type != ElementType::kFloat32 && type != ElementType::kFloat64) return type;
  for (const ElementType narrow : {ElementType::kBfloat16, ElementType::kFloat16}) {
    if (Holds(sample.values, narrow)) return narrow;
  }
  return Holds(sample.values, ElementType::kFloat32) ? ElementType::kFloat32 : type;
}

}  // namespace

int PrecisionOf(ElementType type) { return FormatOf(type).precision; }

absl::StatusOr<Sample> TakeSample(const ObservedTable& table, std::int64_t start) {
  Sample sample;
  sample.columns = table.columns;
  const std::int64_t element_bytes = ElementBytes(table.type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(table.columns * element_bytes));
  std::vector<double> row(static_cast<std::size_t>(table.columns));
  for (const std::int64_t number : RowsToTake(table.rows)) {
    absl::Status status = table.read(number, 1, absl::MakeSpan(bytes));
    if (!status.ok()) return status;
    bool zero = true;
    bool finite = true;
    for (std::size_t column = 0; column < row.size(); ++column) {
      row[column] =
          ValueAt(bytes.data() + static_cast<std::int64_t>(column) * element_bytes, table.type);
      zero = zero && row[column] == 0;
      finite = finite && IsFinite(row[column]);
    }
    if (zero && table.type != ElementType::kInt32) sample.zero_rows.push_back(number);
    if ((zero && table.type != ElementType::kInt32) || !finite) continue;
    sample.rows.push_back(number);
    sample.positions.push_back(start + number);
    sample.values.insert(sample.values.end(), row.begin(), row.end());
  }
  sample.type = NarrowestType(sample, table.type);
  return sample;
}

}  // namespace phasor::diagnose
