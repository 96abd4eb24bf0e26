#include "tests/oracle/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <variant>

namespace phasor::oracle {
namespace {

constexpr mpfr_prec_t kFirstBits = 320;
// Holds any int64 plus any binary64.
constexpr mpfr_prec_t kPositionBits = 1200;

struct Shape {
  int precision;
  int smallest;  // exponent of the smallest subnormal
  int largest;   // all finite values are below 2^largest
};

Shape ShapeOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return {24, -149, 128};
    case ElementType::kFloat64: return {53, -1074, 1024};
    case ElementType::kFloat16: return {11, -24, 16};
    case ElementType::kBfloat16: return {8, -133, 128};
    case ElementType::kInt32: break;
  }
  std::abort();
}

// Rounds what `compute` gives to a precision, within 2^error of the real value
// where it returns `error`; a precision that leaves it open is doubled.
std::uint64_t Settle(ElementType type, const std::function<mpfr_exp_t(mpfr_ptr)>& compute) {
  for (mpfr_prec_t bits = kFirstBits; bits < (1 << 20); bits *= 2) {
    Number value(bits);
    const mpfr_exp_t error_exponent = compute(value.v);
    Number error(16);
    mpfr_set_ui_2exp(error.v, 1, error_exponent, MPFR_RNDU);
    Number low(bits + 16);
    Number high(bits + 16);
    mpfr_sub(low.v, value.v, error.v, MPFR_RNDD);
    mpfr_add(high.v, value.v, error.v, MPFR_RNDU);
    const std::uint64_t result = Round(type, low.v);
    if (result == Round(type, high.v)) return result;
  }
  std::abort();
}

void SetPosition(Position p, mpfr_ptr out) {
  mpfr_set_si(out, p.integer, MPFR_RNDN);
  if (mpfr_add_d(out, out, p.fraction, MPFR_RNDN) != 0) std::abort();
}

// s cos a + c sin a (or with the sine's sign turned), where angle(a) gives the angle.
std::uint64_t Combined(ElementType type, const std::function<void(mpfr_ptr)>& angle, double s,
                       double c) {
  return Settle(type, [&](mpfr_ptr out) {
    const mpfr_prec_t bits = mpfr_get_prec(out);
    Number a(bits);
    angle(a.v);
    // The angle's own error, absolute, and that of each operation after it.
    const mpfr_exp_t angle_exponent = mpfr_zero_p(a.v) != 0 ? 0 : mpfr_get_exp(a.v);
    Number sine(bits);
    Number cosine(bits);
    mpfr_sin_cos(sine.v, cosine.v, a.v, MPFR_RNDN);
    Number left(bits + 60);
    Number right(bits + 60);
    mpfr_mul_d(left.v, cosine.v, s, MPFR_RNDN);
    mpfr_mul_d(right.v, sine.v, c, MPFR_RNDN);
    mpfr_add(out, left.v, right.v, MPFR_RNDN);
    const int largest =
        std::max(s == 0 ? -1100 : std::ilogb(s), c == 0 ? -1100 : std::ilogb(c)) + 1;
    return largest + std::max<mpfr_exp_t>(angle_exponent + 10, 4) - bits;
  });
}

std::uint64_t Zero() { return 0; }

}  // namespace

std::uint64_t Round(ElementType type, mpfr_srcptr value) {
  const Shape shape = ShapeOf(type);
  const std::uint64_t fraction_bits = shape.precision - 1;
  const mpfr_exp_t emin = mpfr_get_emin();
  const mpfr_exp_t emax = mpfr_get_emax();
  Number rounded(shape.precision);
  int ternary = mpfr_set(rounded.v, value, MPFR_RNDN);
  mpfr_set_emin(shape.smallest + 1);
  mpfr_set_emax(shape.largest);
  ternary = mpfr_check_range(rounded.v, ternary, MPFR_RNDN);
  mpfr_subnormalize(rounded.v, ternary, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);

  const int bits = ElementBytes(type) * 8;
  std::uint64_t result = mpfr_signbit(rounded.v) != 0 ? std::uint64_t{1} << (bits - 1) : 0;
  if (mpfr_zero_p(rounded.v) != 0) return result;
  const std::uint64_t all_exponent = (std::uint64_t{1} << (bits - 1 - fraction_bits)) - 1;
  if (mpfr_inf_p(rounded.v) != 0) return result | (all_exponent << fraction_bits);
  // 1.f * 2^e, or 0.f * 2^(smallest normal exponent).
  const std::int64_t exponent = mpfr_get_exp(rounded.v) - 1;
  const std::int64_t least = shape.smallest + static_cast<std::int64_t>(fraction_bits);
  const std::int64_t scale = std::max(exponent, least) - static_cast<std::int64_t>(fraction_bits);
  mpfr_mul_2si(rounded.v, rounded.v, -scale, MPFR_RNDN);
  mpfr_abs(rounded.v, rounded.v, MPFR_RNDN);
  const std::uint64_t integer = mpfr_get_ui(rounded.v, MPFR_RNDZ);
  if (exponent < least) return result | integer;
  return result | (static_cast<std::uint64_t>(exponent - least + 1) << fraction_bits) |
         (integer & ((std::uint64_t{1} << fraction_bits) - 1));
}

double Value(ElementType type, std::uint64_t bits) {
  const Shape shape = ShapeOf(type);
  const int size = ElementBytes(type) * 8;
  const std::uint64_t fraction_bits = shape.precision - 1;
  const double sign = (bits >> (size - 1)) != 0 ? -1.0 : 1.0;
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << (size - 1)) - 1);
  const std::uint64_t biased = magnitude >> fraction_bits;
  const std::uint64_t hidden = std::uint64_t{1} << fraction_bits;
  const std::uint64_t fraction = magnitude & (hidden - 1);
  if (biased == (std::uint64_t{1} << (size - shape.precision)) - 1) {
    return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  }
  const double significand = static_cast<double>(biased == 0 ? fraction : fraction + hidden);
  return sign *
         std::ldexp(significand, shape.smallest + static_cast<int>(biased == 0 ? 0 : biased - 1));
}

std::uint64_t Element(ElementType type, const std::byte* data, std::int64_t index) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data + index * ElementBytes(type), ElementBytes(type));
  return bits;
}

Table::Table(Sinusoidal spec, ElementType type)
    : spec_(std::move(spec)), type_(type), cache_(pairs()) {
  if (!spec_.base.has_value()) spec_.base = 10000.0;
}

Table::Table(const Timestep& spec, ElementType type)
    : Table(
          Sinusoidal{.width = spec.width,
                     .base = spec.max_period,
                     .ladder = DownscaledLadder{spec.downscale_freq_shift},
                     .layout = spec.flip_sin_to_cos ? Layout::kCosSinHalves : Layout::kSinCosHalves,
                     .odd_column = spec.width % 2 == 1 ? OddColumn::kZero : OddColumn::kNone},
          type) {
  scale_ = spec.scale;
}

void Table::Frequency(std::int64_t i, mpfr_ptr out) const {
  const mpfr_prec_t bits = mpfr_get_prec(out);
  if (const auto* given = std::get_if<ExplicitLadder>(&spec_.ladder)) {
    mpfr_set_d(out, given->frequencies[i], MPFR_RNDN);
    return;
  }
  if (cache_[i] != nullptr && mpfr_get_prec(cache_[i]->v) >= bits) {
    mpfr_set(out, cache_[i]->v, MPFR_RNDN);
    return;
  }
  cache_[i] = std::make_unique<Number>(bits);
  // The exponent magnifies its own error by ln(w_i): more bits there.
  Number denominator(bits + 64);
  mpfr_set_si(denominator.v, pairs(), MPFR_RNDN);
  if (std::holds_alternative<InclusiveLadder>(spec_.ladder)) {
    mpfr_sub_ui(denominator.v, denominator.v, 1, MPFR_RNDN);
  }
  if (const auto* down = std::get_if<DownscaledLadder>(&spec_.ladder)) {
    mpfr_sub_d(denominator.v, denominator.v, *down->downscale_shift, MPFR_RNDN);
  }
  if (std::holds_alternative<PaperLadder>(spec_.ladder) && spec_.odd_column == OddColumn::kSine) {
    mpfr_set_si(denominator.v, spec_.width, MPFR_RNDN);
    mpfr_div_ui(denominator.v, denominator.v, 2, MPFR_RNDN);
  }
  if (const auto* scales = std::get_if<TimescaleLadder>(&spec_.ladder)) {
    // m exp(-i ln(T/m) / max(h-1, 1)), as tensor2tensor writes it.
    Number exponent(bits + 64);
    mpfr_set_d(exponent.v, scales->max_timescale, MPFR_RNDN);
    mpfr_div_d(exponent.v, exponent.v, scales->min_timescale, MPFR_RNDN);
    mpfr_log(exponent.v, exponent.v, MPFR_RNDN);
    mpfr_mul_si(exponent.v, exponent.v, -i, MPFR_RNDN);
    mpfr_div_si(exponent.v, exponent.v, std::max<std::int64_t>(pairs() - 1, 1), MPFR_RNDN);
    mpfr_exp(exponent.v, exponent.v, MPFR_RNDN);
    mpfr_mul_d(out, exponent.v, scales->min_timescale, MPFR_RNDN);
  } else if (i == 0) {
    mpfr_set_ui(out, 1, MPFR_RNDN);
  } else {
    Number exponent(bits + 64);
    mpfr_si_div(exponent.v, -i, denominator.v, MPFR_RNDN);
    Number base(53);
    mpfr_set_d(base.v, *spec_.base, MPFR_RNDN);
    mpfr_pow(out, base.v, exponent.v, MPFR_RNDN);
  }
  mpfr_mul_d(out, out, scale_, MPFR_RNDN);
  mpfr_set(cache_[i]->v, out, MPFR_RNDN);
}

double Table::Frequency(std::int64_t i) const {
  // Powers of two are the only exact values: MPFR gives them without an error.
  Number value(kFirstBits);
  Frequency(i, value.v);
  Number near(56);
  mpfr_set(near.v, value.v, MPFR_RNDN);
  Number error(kFirstBits);
  mpfr_sub(error.v, value.v, near.v, MPFR_RNDN);
  if (mpfr_zero_p(error.v) != 0 || mpfr_get_exp(error.v) < mpfr_get_exp(value.v) - 250) {
    return Value(ElementType::kFloat64, Round(ElementType::kFloat64, near.v));
  }
  return Value(ElementType::kFloat64, Settle(ElementType::kFloat64, [&](mpfr_ptr out) {
                 Frequency(i, out);
                 return mpfr_get_exp(out) + 8 - mpfr_get_prec(out);
               }));
}

bool Table::IsZeroAngle(std::int64_t i, Position p) const {
  Number position(kPositionBits);
  SetPosition(p, position.v);
  Number frequency(64);
  Frequency(i, frequency.v);
  return mpfr_zero_p(position.v) != 0 || mpfr_zero_p(frequency.v) != 0;
}

void Table::Angle(std::int64_t i, Position p, mpfr_ptr out) const {
  Number position(kPositionBits);
  SetPosition(p, position.v);
  Number frequency(std::max<mpfr_prec_t>(mpfr_get_prec(out), 64));
  Frequency(i, frequency.v);
  mpfr_mul(out, position.v, frequency.v, MPFR_RNDN);
}

std::uint64_t Table::SineOrCosine(std::int64_t i, Position p, bool sine) const {
  p.integer += spec_.position_offset;
  if (IsZeroAngle(i, p)) {
    Number exact(8);
    mpfr_set_ui(exact.v, sine ? 0 : 1, MPFR_RNDN);
    return Round(type_, exact.v);
  }
  return Settle(type_, [&](mpfr_ptr out) {
    const mpfr_prec_t bits = mpfr_get_prec(out);
    Number angle(bits);
    Angle(i, p, angle.v);
    const mpfr_exp_t angle_error = mpfr_get_exp(angle.v) + 10 - bits;
    if (sine) {
      mpfr_sin(out, angle.v, MPFR_RNDN);
    } else {
      mpfr_cos(out, angle.v, MPFR_RNDN);
    }
    return std::max(angle_error, mpfr_get_exp(out) - bits) + 1;
  });
}

std::uint64_t Table::Column(Position p, std::int64_t column) const {
  if (spec_.zero_row.has_value() && p.fraction == 0 &&
      p.integer + spec_.position_offset == *spec_.zero_row) {
    return Zero();
  }
  if (spec_.odd_column == OddColumn::kZero && column == spec_.width - 1) return Zero();
  Place place = PlaceOf(spec_.layout, pairs(), column);
  if (spec_.odd_column == OddColumn::kSine) {
    // The columns from the absent cosine's on are those of the next.
    for (std::int64_t before = 0; before <= column; ++before) {
      const Place absent = PlaceOf(spec_.layout, pairs(), before);
      if (absent.pair != pairs() - 1 || absent.sine) continue;
      place = PlaceOf(spec_.layout, pairs(), column + 1);
    }
  }
  return SineOrCosine(place.pair, p, place.sine);
}

std::pair<std::uint64_t, std::uint64_t> Table::Shifted(std::int64_t i, Position k, double s,
                                                       double c) const {
  if (s == 0 && c == 0) return {Zero(), Zero()};
  if (IsZeroAngle(i, k)) {
    Number given(53);
    mpfr_set_d(given.v, s + 0.0, MPFR_RNDN);
    const std::uint64_t first = Round(type_, given.v);
    mpfr_set_d(given.v, c + 0.0, MPFR_RNDN);
    return {first, Round(type_, given.v)};
  }
  const auto angle = [&](mpfr_ptr out) { Angle(i, k, out); };
  const auto minus_angle = [&](mpfr_ptr out) {
    Angle(i, k, out);
    mpfr_neg(out, out, MPFR_RNDN);
  };
  return {Combined(type_, angle, s, c), Combined(type_, minus_angle, c, s)};
}

std::pair<std::uint64_t, std::uint64_t> Turned(ElementType type, double angle, double x, double y) {
  Sinusoidal spec{.width = 2, .ladder = ExplicitLadder{{angle}}};
  // (x, y) turned by +a is (y, x) read as (sine, cosine) and turned by -a.
  const auto [sine, cosine] = Table(spec, type).Shifted(0, {1, 0}, y, x);
  return {cosine, sine};
}

Place PlaceOf(Layout layout, std::int64_t pairs, std::int64_t column) {
  switch (layout) {
    case Layout::kSinCosInterleaved: return {column / 2, column % 2 == 0};
    case Layout::kSinCosHalves: return {column % pairs, column < pairs};
    case Layout::kCosSinHalves: return {column % pairs, column >= pairs};
    case Layout::kCosSinInterleaved: return {column / 2, column % 2 == 1};
    case Layout::kCosSinDuplicatedHalves: return {column % pairs, column >= 2 * pairs};
    case Layout::kCosSinDuplicatedPairs: return {column % (2 * pairs) / 2, column >= 2 * pairs};
    case Layout::kCosOnly: return {column, false};
    case Layout::kSinOnly: return {column, true};
  }
  std::abort();
}

}  // namespace phasor::oracle
