#include "diagnose/measurement.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace phasor::diagnose {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
/// Angles are measured no further than this: those of lesser precision go astray.
constexpr double kMostRadians = 64;
/// How much the lengths of pairs may differ in a table that was computed badly.
constexpr double kLengthSpread = 0x1p-5;

double Wrapped(double angle) { return std::remainder(angle, kTurn); }

std::complex<double> PairOf(const Sample& sample, const Arrangement& arrangement, std::size_t row,
                            std::int64_t pair) {
  const double* values = sample.Row(row);
  return {values[arrangement.Columns(pair, /*sine=*/false)[0]],
          values[arrangement.Columns(pair, /*sine=*/true)[0]]};
}

// The median length; nothing if lengths differ.
std::optional<double> LengthOfPairs(const Sample& sample, const Arrangement& arrangement,
                                    std::int64_t pairs) {
  std::vector<double> lengths;
  for (std::size_t row = 0; row < sample.rows.size(); ++row) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      lengths.push_back(std::abs(PairOf(sample, arrangement, row, i)));
    }
  }
  if (lengths.empty()) return std::nullopt;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  const double median = *middle;
  if (!(median > 0)) return std::nullopt;
  const auto off = std::count_if(lengths.begin(), lengths.end(), [median](double length) {
    return std::abs(length - median) > kLengthSpread * median;
  });
  if (off > std::ssize(lengths) / 50) return std::nullopt;
  return median;
}

}  // namespace

std::optional<Measurement> Measure(const Sample& sample, const Arrangement& arrangement) {
  const std::int64_t pairs = arrangement.pairs - (arrangement.odd_sine ? 1 : 0);
  if (!arrangement.has_both() || pairs < 1 || sample.rows.size() < 2) return std::nullopt;
  // The first row with its neighbour.
  std::size_t base = 0;
  while (base + 1 < sample.rows.size() && sample.rows[base + 1] != sample.rows[base] + 1) ++base;
  if (base + 1 == sample.rows.size()) return std::nullopt;
  const std::optional<double> length = LengthOfPairs(sample, arrangement, pairs);
  if (!length.has_value()) return std::nullopt;

  Measurement measured{.factor = *length};
  const double noise = 4 * std::exp2(-PrecisionOf(sample.type));
  double turned = 0;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::complex<double> from = std::conj(PairOf(sample, arrangement, base, i));
    double frequency = 0;
    double error = std::numbers::pi / 4;  // so far
    for (std::size_t row = base + 1; row < sample.rows.size(); ++row) {
      const auto gap = static_cast<double>(sample.rows[row] - sample.rows[base]);
      const double expected = frequency * gap;
      if (error * gap > std::numbers::pi / 2 || std::abs(expected) > kMostRadians) break;
      const double angle = std::arg(PairOf(sample, arrangement, row, i) * from);
      frequency = (expected + Wrapped(angle - expected)) / gap;
      error = noise / gap;
    }
    measured.frequencies.push_back(frequency);
    measured.errors.push_back(error);
    turned += std::clamp(frequency / error, -1e3, 1e3);
  }
  measured.direction = turned < 0 ? -1 : 1;

  // From the slowest pair, whose angle has not been round, to the fastest.
  std::vector<std::int64_t> order(static_cast<std::size_t>(pairs));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(measured.frequencies[static_cast<std::size_t>(a)]) <
           std::abs(measured.frequencies[static_cast<std::size_t>(b)]);
  });
  double position = 0;
  double position_error = -1;
  for (const std::int64_t i : order) {
    const double frequency = measured.frequencies[static_cast<std::size_t>(i)];
    const double error = measured.errors[static_cast<std::size_t>(i)];
    if (std::abs(frequency) < 8 * error) continue;  // too slow to tell
    const double angle = std::arg(PairOf(sample, arrangement, base, i));
    if (position_error < 0) {
      position = angle / frequency;
    } else {
      if (position_error * std::abs(frequency) > 1) break;
      position += Wrapped(angle - position * frequency) / frequency;
    }
    position_error = (noise + std::abs(position) * error) / std::abs(frequency);
  }
  // Of the sample's first row.
  position -= static_cast<double>(sample.rows[base] - sample.rows[0]);
  if (position_error >= 0 && position_error < 0.25) measured.first_position = position;
  return measured;
}

}  // namespace phasor::diagnose
