#include "core/alibi_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/real.h"
#include "core/settle.h"
#include "core/stop_check.h"

namespace phasor {
namespace {

// bias_max * i / N has 53 + 17 bits at most.
constexpr mpfr_prec_t kExponentBits = 96;

// Positions from here on have products of normal numbers: bias_max is 128 at most.
constexpr double kLeastPosition = 0x1p-700;

constexpr std::int64_t kCostOfElement = 20;

const Alibi& AlibiOf(const CanonicalSpec& spec) { return std::get<Alibi>(spec.spec().scheme); }

std::int64_t HeadsOfPowerOfTwo(const Alibi& spec) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(spec.head_count)));
}

// i of head k: its slope is 2^(-bias_max i / N).
std::int64_t Numerator(const Alibi& spec, std::int64_t k) {
  const std::int64_t heads = HeadsOfPowerOfTwo(spec);
  if (heads == spec.head_count) return k + 1;
  const std::int64_t second = heads / 2;
  return k < second ? 2 * (k + 1) : 2 * (k - second) + 1;
}

// bias_max i / N, exactly.
void SetExponent(const Alibi& spec, std::int64_t numerator, mpfr_ptr out) {
  mpfr_set_d(out, spec.bias_max, MPFR_RNDN);
  mpfr_mul_si(out, out, numerator, MPFR_RNDN);
  mpfr_div_si(out, out, HeadsOfPowerOfTwo(spec), MPFR_RNDN);
}

// slope * position to the precision of `out`; returns an e such that it is within 2^e.
mpfr_exp_t SetProduct(const Alibi& spec, std::int64_t numerator, double position, mpfr_ptr out) {
  Real exponent(kExponentBits);
  SetExponent(spec, numerator, exponent);
  mpfr_neg(exponent, exponent, MPFR_RNDN);
  mpfr_exp2(out, exponent, MPFR_RNDN);
  mpfr_mul_d(out, out, position, MPFR_RNDN);
  return mpfr_get_exp(out) + 2 - mpfr_get_prec(out);
}

AlibiSlope SlopeOf(const Alibi& spec, std::int64_t numerator) {
  Real exponent(kExponentBits);
  SetExponent(spec, numerator, exponent);
  AlibiSlope slope;
  slope.numerator = numerator;
  const auto whole = static_cast<int>(mpfr_get_si(exponent, MPFR_RNDD));
  slope.power = std::ldexp(1.0, -whole);
  mpfr_sub_si(exponent, exponent, whole, MPFR_RNDN);
  mpfr_neg(exponent, exponent, MPFR_RNDN);
  Real fraction(kFirstSettleBits);
  mpfr_exp2(fraction, exponent, MPFR_RNDN);
  slope.fraction = ToDoubleDouble(fraction);
  return slope;
}

}  // namespace

std::vector<AlibiSlope> AlibiSlopesOf(const Alibi& spec) {
  const MpfrScope scope;
  std::vector<AlibiSlope> slopes;
  slopes.reserve(spec.head_count);
  for (std::int64_t k = 0; k < spec.head_count; ++k) {
    slopes.push_back(SlopeOf(spec, Numerator(spec, k)));
  }
  return slopes;
}

std::int64_t SteepestHead(const Alibi& spec) {
  const std::int64_t heads = HeadsOfPowerOfTwo(spec);
  return heads == spec.head_count ? 0 : heads / 2;
}

std::int64_t LastAlibiPosition(const Alibi& spec, ElementType type) {
  // Of the others the largest is above 2^53, and no slope is above 1.
  if (type != ElementType::kFloat16) return kMaxPosition;
  // From here on numbers round to an infinity.
  constexpr double kInfinite = 65520;
  const MpfrScope scope;
  Real last(kFirstSettleBits);
  SetExponent(spec, Numerator(spec, SteepestHead(spec)), last);
  mpfr_exp2(last, last, MPFR_RNDN);
  mpfr_mul_d(last, last, kInfinite, MPFR_RNDN);
  if (mpfr_cmp_si(last, kMaxPosition) > 0) return kMaxPosition;
  // It is an integer only where the slope is a power of two, and exact then.
  return mpfr_get_si(last, MPFR_RNDU) - 1;
}

template <ElementType kType>
AlibiTable<kType>::AlibiTable(CanonicalSpec checked)
    : LocalTable(std::move(checked)), slopes_(AlibiSlopesOf(AlibiOf(spec()))) {}

template <ElementType kType>
std::int64_t AlibiTable<kType>::memory_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this) + spec().text().capacity() +
                                   slopes_.capacity() * sizeof(AlibiSlope));
}

template <ElementType kType>
void AlibiTable<kType>::DoRead(std::int64_t start, std::int64_t count, std::byte* out,
                               StopCheck& stop) const {
  for (std::int64_t row = 0; row < count && !stop.stopped(); ++row) {
    Row(static_cast<double>(start + row), out + row * spec().row_bytes(), stop);
  }
}

template <ElementType kType>
void AlibiTable<kType>::DoGather(absl::Span<const std::int64_t> positions, std::int64_t /*axes*/,
                                 std::byte* out, StopCheck& stop) const {
  for (const std::int64_t position : positions) {
    Row(static_cast<double>(position), out, stop);
    if (stop.stopped()) return;
    out += spec().row_bytes();
  }
}

template <ElementType kType>
void AlibiTable<kType>::DoGather(absl::Span<const double> positions, std::int64_t /*axes*/,
                                 std::byte* out, StopCheck& stop) const {
  for (const double position : positions) {
    Row(position, out, stop);
    if (stop.stopped()) return;
    out += spec().row_bytes();
  }
}

template <ElementType kType>
void AlibiTable<kType>::Row(double position, std::byte* out, StopCheck& stop) const {
  const bool is_negative = AlibiOf(spec()).form == AlibiForm::kDistance || position < 0;
  const Bits sign = is_negative ? static_cast<Bits>(FormatOf(kType).sign_bit()) : Bits{0};
  for (const AlibiSlope& slope : slopes_) {
    const Bits bits = position == 0 ? Bits{0} : Product(slope, std::abs(position)) | sign;
    std::memcpy(out, &bits, sizeof bits);
    out += sizeof bits;
    if (stop.After(kCostOfElement)) return;
  }
}

template <ElementType kType>
auto AlibiTable<kType>::Product(const AlibiSlope& slope, double position) const -> Bits {
  if (position < kLeastPosition) return Settle(slope, position);
  const double scaled = position * slope.power;  // exact
  if (slope.is_power_of_two()) return RoundToBits<kType>(scaled);
  if constexpr (kType != ElementType::kFloat64) {
    // Two roundings, and the fraction's low part.
    const double product = scaled * slope.fraction.hi;
    const double error = product * 0x1p-51;
    const Bits bits = RoundToBits<kType>(product - error);
    if (bits == RoundToBits<kType>(product + error)) return bits;
    settled_elements_.fetch_add(1, std::memory_order_relaxed);
  }
  const DoubleDouble product = slope.fraction * scaled;
  const auto bits = DecideBits<kType>(product, product.hi * 0x1p-102);
  return bits.has_value() ? *bits : Settle(slope, position);
}

template <ElementType kType>
auto AlibiTable<kType>::Settle(const AlibiSlope& slope, double position) const -> Bits {
  if (kType == ElementType::kFloat64) settled_elements_.fetch_add(1, std::memory_order_relaxed);
  costly_elements_.fetch_add(1, std::memory_order_relaxed);
  const MpfrScope scope;
  if (slope.is_power_of_two()) {
    Real exact(53);
    mpfr_set_d(exact, position, MPFR_RNDN);
    mpfr_mul_d(exact, exact, slope.power, MPFR_RNDN);
    return static_cast<Bits>(RoundToBits(kType, exact));
  }
  return static_cast<Bits>(SettleBits(kType, [&](mpfr_ptr out) {
    return SetProduct(AlibiOf(spec()), slope.numerator, position, out);
  }));
}

template class AlibiTable<ElementType::kFloat32>;
template class AlibiTable<ElementType::kFloat64>;
template class AlibiTable<ElementType::kFloat16>;
template class AlibiTable<ElementType::kBfloat16>;

}  // namespace phasor
