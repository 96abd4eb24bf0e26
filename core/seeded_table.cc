#include "core/seeded_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "core/fp_environment.h"
#include "core/rounding.h"
#include "core/stop_check.h"

namespace phasor {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored as they are held");

const LearnedInit& InitOf(const CanonicalSpec& spec) {
  return std::get<LearnedInit>(spec.spec().scheme);
}

// The bits of stddev * estimate if every number within the estimate's error
// rounds to them.
template <ElementType kType>
std::optional<BitsOf<kType>> DecideEstimate(double estimate, double stddev) {
  const double product = estimate * stddev;
  const double error = product * kEstimateNormalsError;
  const BitsOf<kType> bits = RoundToBits<kType>(product - error);
  if (bits != RoundToBits<kType>(product + error)) return std::nullopt;
  return bits;
}

}  // namespace

SeededTable::SeededTable(CanonicalSpec checked)
    : LocalTable(std::move(checked)),
      generator_(static_cast<std::uint64_t>(InitOf(spec()).seed),
                 static_cast<std::uint64_t>(InitOf(spec()).stream)),
      scaled_stddev_(InitOf(spec()).stddev),
      scale_(0) {
  const FpEnvironment environment;
  if (spec().element_type() != ElementType::kFloat64) {
    // Everything below rounds to the same signed zeros.
    scaled_stddev_ = std::max(scaled_stddev_, 0x1p-700);
  } else if (scaled_stddev_ < 0x1p-700 || scaled_stddev_ > 0x1p700) {
    scaled_stddev_ = std::frexp(scaled_stddev_, &scale_);
  }
}

std::int64_t SeededTable::memory_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this) + spec().text().capacity());
}

template <ElementType kType>
void SeededTable::FillAs(std::int64_t first, std::int64_t count, std::byte* out) const {
  using Bits = BitsOf<kType>;
  std::int64_t settled = 0;
  std::int64_t costly = 0;

  const auto round_exactly = [&](UniformPair uniforms) {
    const NormalPair<DoubleDouble> normals = Normals(uniforms);
    const auto round = [&](DoubleDouble normal, bool sine) -> Bits {
      const DoubleDouble product = normal * scaled_stddev_;
      // The product's own error fits into what kNormalsError leaves.
      const double error = std::abs(product.hi) * kNormalsError;
      std::optional<Bits> bits;
      if constexpr (kType == ElementType::kFloat64) {
        bits = scale_ == 0 ? DecideBits<kType>(product, error)
                           : DecideScaledBits(product, error, scale_);
      } else {
        bits = DecideBits<kType>(product, error);
      }
      if (bits.has_value()) return *bits;
      // Of the other types the estimate's doubt was counted already.
      if (kType == ElementType::kFloat64) ++settled;
      ++costly;
      return static_cast<Bits>(RoundNormal(kType, InitOf(spec()).stddev, uniforms, sine));
    };
    return NormalPair<Bits>{round(normals.cosine, false), round(normals.sine, true)};
  };
  const auto round_pair = [&](UniformPair uniforms) -> NormalPair<Bits> {
    if constexpr (kType != ElementType::kFloat64) {
      const NormalPair<double> estimate = EstimateNormals(uniforms);
      const auto cosine = DecideEstimate<kType>(estimate.cosine, scaled_stddev_);
      const auto sine = DecideEstimate<kType>(estimate.sine, scaled_stddev_);
      if (cosine.has_value() && sine.has_value()) return {*cosine, *sine};
      settled += (cosine.has_value() ? 0 : 1) + (sine.has_value() ? 0 : 1);
    }
    return round_exactly(uniforms);
  };

  Pcg32 generator = generator_;
  generator.Advance(static_cast<std::uint64_t>(first) & ~std::uint64_t{1});
  const auto next = [&] {
    const std::uint32_t a = generator.Next();
    return round_pair({a, generator.Next()});
  };
  const auto store = [&out](Bits bits) {
    std::memcpy(out, &bits, sizeof bits);
    out += sizeof bits;
  };
  const std::int64_t end = first + count;
  std::int64_t n = first;
  if (n < end && n % 2 != 0) {
    store(next().sine);
    ++n;
  }
  for (; n + 1 < end; n += 2) {
    const NormalPair<Bits> pair = next();
    store(pair.cosine);
    store(pair.sine);
  }
  if (n < end) store(next().cosine);
  if (settled != 0) settled_elements_.fetch_add(settled, std::memory_order_relaxed);
  if (costly != 0) costly_elements_.fetch_add(costly, std::memory_order_relaxed);
}

void SeededTable::Fill(std::int64_t first, std::int64_t count, std::byte* out,
                       StopCheck& stop) const {
  constexpr std::int64_t kElementsPerCheck = 1024;
  constexpr std::int64_t kCostOfElement = 50;
  const std::int64_t bytes = ElementBytes(spec().element_type());
  for (const std::int64_t end = first + count; first < end; first += kElementsPerCheck) {
    FillSome(first, std::min(kElementsPerCheck, end - first), out);
    if (stop.After(kElementsPerCheck * kCostOfElement)) return;
    out += kElementsPerCheck * bytes;
  }
}

void SeededTable::FillSome(std::int64_t first, std::int64_t count, std::byte* out) const {
  switch (spec().element_type()) {
    case ElementType::kFloat32: return FillAs<ElementType::kFloat32>(first, count, out);
    case ElementType::kFloat64: return FillAs<ElementType::kFloat64>(first, count, out);
    case ElementType::kFloat16: return FillAs<ElementType::kFloat16>(first, count, out);
    case ElementType::kBfloat16: return FillAs<ElementType::kBfloat16>(first, count, out);
    case ElementType::kInt32: break;
  }
}

void SeededTable::DoRead(std::int64_t start, std::int64_t count, std::byte* out,
                         StopCheck& stop) const {
  // Within 2^62: the spec has been checked.
  Fill(start * spec().row_width(), count * spec().row_width(), out, stop);
}

void SeededTable::DoGather(absl::Span<const std::int64_t> positions, std::int64_t /*axes*/,
                           std::byte* out, StopCheck& stop) const {
  for (std::int64_t position : positions) {
    Fill(position * spec().row_width(), spec().row_width(), out, stop);
    if (stop.stopped()) return;
    out += spec().row_bytes();
  }
}

// LocalTable refuses real positions of a table that ends.
void SeededTable::DoGather(absl::Span<const double> /*positions*/, std::int64_t /*axes*/,
                           std::byte* /*out*/, StopCheck& /*stop*/) const {}

}  // namespace phasor
