#include <cmath>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/fp_environment.h"
#include "core/ladder.h"
#include "core/layout.h"
#include "core/pair_rotation.h"
#include "core/pair_rules.h"
#include "core/phase.h"
#include "core/position.h"
#include "core/real.h"
#include "core/rounding.h"
#include "core/settle.h"
#include "core/stop_check.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "phasor/core/row_shift.h"

namespace phasor {
namespace {

absl::Status Invalid(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, what);
}

absl::Status NotFinite(absl::string_view field, std::int64_t row, std::int64_t column) {
  return Invalid(field, absl::StrCat("row ", row, " column ", column,
                                     " is a NaN or an infinity; only finite elements are turned"));
}

absl::Status TooLarge(ElementType type, absl::string_view field, std::int64_t row,
                      std::int64_t column) {
  return FieldError(absl::StatusCode::kOutOfRange, field,
                    absl::StrCat("row ", row, " column ", column, " would round to an infinity of ",
                                 ElementTypeName(type), "; scale the rows down"));
}

constexpr std::int64_t kCostOfAngle = 1000;
constexpr std::int64_t kCostOfRotation = 200;

}  // namespace

// The rotations of a ladder's pairs by k w_i; none for an angle of zero.
class RowShift::Rotations {
 public:
  Rotations(const CanonicalSpec& spec, ShiftBy by) : ladder_(FrequencyLadder::Of(spec)), by_(by) {}

  std::int64_t memory_bytes() const {
    constexpr auto kBytesOfPair =
        static_cast<std::int64_t>(sizeof(PairRotation) + sizeof(WideSinCos<4>) + 16);
    return ladder_.memory_bytes() + ladder_.size() * kBytesOfPair;
  }

  void Prepare(StopCheck& stop) {
    if (static_cast<std::int64_t>(rotations_.size()) == ladder_.size()) return;
    rotations_.reserve(ladder_.size());
    const MpfrScope scope;
    // Angles are below 2^(63 + 32), or 2^(1024 + 32) where the shift is no position.
    constexpr mpfr_prec_t kFarBits = 1472;
    const mpfr_prec_t bits = AsPosition().has_value() ? FrequencyLadder::kChainBits : kFarBits;
    AngleSplitter splitter(bits);
    Real angle(bits);
    ladder_.ForEach(
        [&](std::int64_t, mpfr_srcptr w) {
          if (mpfr_zero_p(w) != 0) {
            rotations_.emplace_back();
          } else {
            Multiply(w, angle);
            rotations_.push_back(splitter.Split(angle, FrequencyLadder::kChainLostBits + 1 - bits));
          }
          return !stop.After(kCostOfAngle);
        },
        static_cast<std::int64_t>(rotations_.size()), bits);
  }

  bool is_rest(std::int64_t i) const { return ladder_.IsZero(i); }

  RotatedPair Rotate(ElementType type, std::int64_t i, double s, double c) {
    return phasor::Rotate(
        type, rotations_[i], s, c,
        [&](mpfr_ptr out) {
          if (const auto position = AsPosition()) return AngleOf(ladder_, i, *position, out);
          ladder_.Frequency(i, out);
          mpfr_mul_d(out, out, std::get<double>(by_), MPFR_RNDN);
        },
        counts_);
  }

  const SettleCounts& counts() const { return counts_; }

 private:
  // The shift as a position, if it is one: below 2^63.
  std::optional<Position> AsPosition() const {
    if (const auto* steps = std::get_if<std::int64_t>(&by_)) return Position{*steps, 0};
    const double steps = std::get<double>(by_);
    if (std::abs(steps) >= 0x1p63) return std::nullopt;
    return MakePosition(steps, 0);
  }

  void Multiply(mpfr_srcptr w, mpfr_ptr angle) const {
    if (const auto* steps = std::get_if<std::int64_t>(&by_)) {
      mpfr_mul_si(angle, w, *steps, MPFR_RNDN);
    } else {
      mpfr_mul_d(angle, w, std::get<double>(by_), MPFR_RNDN);
    }
  }

  const FrequencyLadder ladder_;
  const ShiftBy by_;
  std::vector<PairRotation> rotations_;
  SettleCounts counts_;
};

namespace {

// What an element is where nothing turns it: itself, but zero is +0.
std::uint64_t AtRest(ElementType type, std::uint64_t bits) {
  return bits == FormatOf(type).sign_bit() ? 0 : bits;
}

// Rows of kType as sines and cosines.
template <ElementType kType, typename Rotations>
class RowShifter {
 public:
  RowShifter(const CanonicalSpec& spec, Layout layout, std::int64_t first_row)
      : first_row_(first_row),
        layout_(layout),
        pairs_(spec.pairs()),
        columns_(RowWidth(layout, 2 * pairs_)),
        row_bytes_(spec.row_bytes()),
        sines_(pairs_),
        cosines_(pairs_) {}

  // Reads row `row` of `rows`.
  absl::Status Take(absl::Span<const std::byte> rows, std::int64_t row) {
    const auto differing =
        TakeRow(layout_, pairs_, rows.data() + row * row_bytes_, sines_.data(), cosines_.data());
    for (std::int64_t i = 0; i < pairs_; ++i) {
      if (IsFiniteBits(kType, sines_[i]) && IsFiniteBits(kType, cosines_[i])) continue;
      return NotFinite("rows", first_row_ + row, Column(i, !IsFiniteBits(kType, sines_[i])));
    }
    if (HasColumnBeside()) {
      std::memcpy(&beside_, rows.data() + row * row_bytes_ + columns_ * sizeof(Bits), sizeof(Bits));
      if (!IsFiniteBits(kType, beside_)) return NotFinite("rows", first_row_ + row, columns_);
    }
    if (!differing.has_value()) return absl::OkStatus();
    return Invalid("rows", absl::StrCat("row ", first_row_ + row, " column ", *differing,
                                        " differs from the element it is a copy of in this layout;"
                                        " both have to be the same bits"));
  }

  absl::Status Shift(Rotations& rotations, std::int64_t row, StopCheck& stop) {
    for (std::int64_t i = 0; i < pairs_; ++i) {
      if (rotations.is_rest(i)) {
        sines_[i] = static_cast<Bits>(AtRest(kType, sines_[i]));
        cosines_[i] = static_cast<Bits>(AtRest(kType, cosines_[i]));
        continue;
      }
      const RotatedPair rotated =
          rotations.Rotate(kType, i, WidenBits(kType, sines_[i]), WidenBits(kType, cosines_[i]));
      if (stop.After(kCostOfRotation)) return stop.status();
      sines_[i] = static_cast<Bits>(rotated.sine);
      cosines_[i] = static_cast<Bits>(rotated.cosine);
      if (IsFiniteBits(kType, rotated.sine) && IsFiniteBits(kType, rotated.cosine)) continue;
      return TooLarge(kType, "rows", first_row_ + row,
                      Column(i, !IsFiniteBits(kType, rotated.sine)));
    }
    return absl::OkStatus();
  }

  void Place(std::int64_t row, absl::Span<std::byte> out) const {
    std::byte* to = out.data() + row * row_bytes_;
    PlaceRow(layout_, pairs_, sines_.data(), cosines_.data(), to);
    if (!HasColumnBeside()) return;
    const Bits rest = static_cast<Bits>(AtRest(kType, beside_));
    std::memcpy(to + columns_ * sizeof(Bits), &rest, sizeof(Bits));
  }

 private:
  using Bits = BitsOf<kType>;

  std::int64_t Column(std::int64_t i, bool sine) const {
    return ColumnOf(layout_, pairs_, i, sine);
  }
  // The zero column of an odd width: of no pair, it rests.
  bool HasColumnBeside() const {
    return row_bytes_ > columns_ * static_cast<std::int64_t>(sizeof(Bits));
  }

  const std::int64_t first_row_;  // the number of row 0, for errors
  const Layout layout_;
  const std::int64_t pairs_;
  const std::int64_t columns_;  // of the pairs
  const std::int64_t row_bytes_;
  Bits beside_ = 0;
  std::vector<Bits> sines_;
  std::vector<Bits> cosines_;
};

template <ElementType kType, typename Rotations>
absl::Status ShiftRowsOf(const CanonicalSpec& spec, Layout layout, ShiftBy by, Rotations& rotations,
                         absl::Span<const std::byte> rows, absl::Span<std::byte> out,
                         std::int64_t first_row, StopCheck& stop) {
  const std::int64_t count = static_cast<std::int64_t>(rows.size()) / spec.row_bytes();
  RowShifter<kType, Rotations> shifter(spec, layout, first_row);
  for (std::int64_t row = 0; row < count; ++row) {
    if (absl::Status status = shifter.Take(rows, row); !status.ok()) return status;
  }
  if (count == 0) return absl::OkStatus();
  if (std::visit([](auto k) { return k == 0; }, by)) {
    std::memmove(out.data(), rows.data(), rows.size());
    return absl::OkStatus();
  }
  rotations.Prepare(stop);
  if (stop.stopped()) return stop.status();
  for (std::int64_t row = 0; row < count; ++row) {
    if (absl::Status status = shifter.Take(rows, row); !status.ok()) return status;
    if (absl::Status status = shifter.Shift(rotations, row, stop); !status.ok()) return status;
    shifter.Place(row, out);
  }
  return absl::OkStatus();
}

}  // namespace

RowShift::RowShift(const CanonicalSpec& spec, ShiftBy by)
    : spec_(spec), by_(by), rotations_(std::make_unique<Rotations>(spec, by)) {}
RowShift::RowShift(RowShift&&) noexcept = default;
RowShift::~RowShift() = default;

absl::StatusOr<RowShift> RowShift::Create(const CanonicalSpec& spec, ShiftBy by) {
  const std::optional<PairRules> rules = PairRulesOf(spec.spec().scheme);
  if (!rules.has_value()) {
    return Invalid("spec", absl::StrCat(SchemeName(spec.spec().scheme),
                                        " rows are not shifted by a rotation; read the rows that"
                                        " are wanted"));
  }
  if (!HoldsBoth(rules->layout)) {
    return Invalid("spec", absl::StrCat(LayoutName(rules->layout),
                                        " rows hold one half of each pair, and a shift needs both;"
                                        " use a layout that holds both"));
  }
  if (rules->odd_column == OddColumn::kSine) {
    return Invalid("spec",
                   "rows of odd_column SINE lack the last pair's cosine, and a shift needs both;"
                   " use an even width");
  }
  if (const auto* steps = std::get_if<double>(&by); steps != nullptr && !IsFinite(*steps)) {
    return Invalid("by", absl::StrCat(*steps, " is not finite; give a number"));
  }
  return RowShift(spec, by);
}

absl::Status RowShift::Prepare(StopRequest stop) {
  if (std::visit([](auto k) { return k == 0; }, by_)) return absl::OkStatus();
  const FpEnvironment environment;
  StopCheck check(stop);
  rotations_->Prepare(check);
  return check.status();
}

absl::Status RowShift::Apply(absl::Span<const std::byte> rows, absl::Span<std::byte> out,
                             std::int64_t first_row, StopRequest stop) {
  const FpEnvironment environment;
  StopCheck check(stop);
  if (rows.size() % static_cast<std::size_t>(spec_.row_bytes()) != 0) {
    return Invalid("rows", absl::StrCat(rows.size(), " bytes are not whole rows of ",
                                        spec_.row_bytes(), " bytes"));
  }
  if (out.size() != rows.size()) {
    return Invalid("out", absl::StrCat(out.size(), " bytes given; as many as in rows, ",
                                       rows.size(), ", are written"));
  }
  const Layout layout = PairRulesOf(spec_.spec().scheme)->layout;
  const auto shift = [&]<ElementType kType>() {
    return ShiftRowsOf<kType>(spec_, layout, by_, *rotations_, rows, out, first_row, check);
  };
  switch (spec_.element_type()) {
    case ElementType::kFloat32: return shift.template operator()<ElementType::kFloat32>();
    case ElementType::kFloat64: return shift.template operator()<ElementType::kFloat64>();
    case ElementType::kFloat16: return shift.template operator()<ElementType::kFloat16>();
    case ElementType::kBfloat16: return shift.template operator()<ElementType::kBfloat16>();
    case ElementType::kInt32: break;
  }
  return absl::InternalError("unreachable");
}

std::int64_t RowShift::memory_bytes() const { return rotations_->memory_bytes(); }
std::int64_t RowShift::settled_elements() const { return rotations_->counts().settled; }
std::int64_t RowShift::costly_elements() const { return rotations_->counts().costly; }

absl::Status ShiftRows(const CanonicalSpec& spec, ShiftBy by, absl::Span<const std::byte> rows,
                       absl::Span<std::byte> out, std::int64_t first_row) {
  absl::StatusOr<RowShift> shift = RowShift::Create(spec, by);
  if (!shift.ok()) return shift.status();
  return shift->Apply(rows, out, first_row, NeverStop);
}

absl::Status RotatePairs(ElementType type, absl::Span<const double> angles,
                         absl::Span<std::byte> pairs) {
  const FpEnvironment environment;
  if (type == ElementType::kInt32) return Invalid("type", "INT32 pairs are not turned");
  const std::size_t size = ElementBytes(type);
  if (pairs.size() % (2 * size) != 0 || pairs.size() / (2 * size) != angles.size()) {
    return Invalid("pairs", absl::StrCat(pairs.size(), " bytes given; ", angles.size(),
                                         " angles turn as many pairs of ", 2 * size, " bytes"));
  }
  const auto read = [&](std::size_t k) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, pairs.data() + k * size, size);
    return bits;
  };
  for (std::size_t j = 0; j < angles.size(); ++j) {
    if (!IsFinite(angles[j])) {
      return Invalid(absl::StrCat("angles[", j, "]"),
                     absl::StrCat(angles[j], " is not finite; give a number"));
    }
    for (const std::size_t column : {0, 1}) {
      if (IsFiniteBits(type, read(2 * j + column))) continue;
      return NotFinite("pairs", static_cast<std::int64_t>(j), static_cast<std::int64_t>(column));
    }
  }
  const MpfrScope scope;
  constexpr mpfr_prec_t kFarBits = 1472;
  AngleSplitter splitter(kFarBits);
  SettleCounts counts;
  for (std::size_t j = 0; j < angles.size(); ++j) {
    std::uint64_t x = read(2 * j);
    std::uint64_t y = read(2 * j + 1);
    if (angles[j] == 0) {
      x = AtRest(type, x);
      y = AtRest(type, y);
    } else {
      Real angle(53);
      mpfr_set_d(angle, angles[j], MPFR_RNDN);
      PairRotation rotation = splitter.Split(angle, -kFarBits);
      // (x, y) turned by a is (s, c) = (y, x) turned by -a.
      const RotatedPair rotated = Rotate(
          type, rotation, WidenBits(type, y), WidenBits(type, x),
          [&angle](mpfr_ptr out) { mpfr_set(out, angle, MPFR_RNDN); }, counts);
      x = rotated.cosine;
      y = rotated.sine;
      if (!IsFiniteBits(type, x) || !IsFiniteBits(type, y)) {
        return TooLarge(type, "pairs", static_cast<std::int64_t>(j), IsFiniteBits(type, x) ? 1 : 0);
      }
    }
    std::memcpy(pairs.data() + 2 * j * size, &x, size);
    std::memcpy(pairs.data() + (2 * j + 1) * size, &y, size);
  }
  return absl::OkStatus();
}

}  // namespace phasor
