#include "core/rotation_kernel.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/rotation_kernel.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/double_double-inl.h"
#include "core/layout-inl.h"
#include "core/line_copy-inl.h"
#include "core/rounding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phasor::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kLanes = HWY_LANES(double);

HWY_INLINE Doubles Load(const double* from, std::int64_t i) {
  return hn::LoadU(DoubleTag(), from + i);
}
HWY_INLINE void Store(Doubles v, double* to, std::int64_t i) { hn::StoreU(v, DoubleTag(), to + i); }

struct SinesCosines {
  DoubleDoubles sin;
  DoubleDoubles cos;
};

// Of rows that have low parts, as those of FLOAT64 do.
HWY_INLINE SinesCosines LoadPairs(const PairRow& row, std::int64_t i) {
  if (row.sin_lo == nullptr || row.cos_lo == nullptr) __builtin_unreachable();
  return {{Load(row.sin, i), Load(row.sin_lo, i)}, {Load(row.cos, i), Load(row.cos_lo, i)}};
}

HWY_INLINE DoubleDoubles Normalised(DoubleDoubles a) { return TwoSum(a.hi, a.lo); }

template <ElementType kType>
HWY_INLINE Unrounded<kType> RotatedSine(const PairRow& at, const PairRow& by, std::int64_t i) {
  if constexpr (kType == ElementType::kFloat64) {
    const SinesCosines a = LoadPairs(at, i);
    const SinesCosines r = LoadPairs(by, i);
    return SumOfProducts(a.sin, r.cos, a.cos, r.sin);
  } else {
    return hn::MulAdd(Load(at.sin, i), Load(by.cos, i), hn::Mul(Load(at.cos, i), Load(by.sin, i)));
  }
}

template <ElementType kType>
HWY_INLINE Unrounded<kType> RotatedCosine(const PairRow& at, const PairRow& by, std::int64_t i) {
  if constexpr (kType == ElementType::kFloat64) {
    const SinesCosines a = LoadPairs(at, i);
    const SinesCosines r = LoadPairs(by, i);
    return SumOfProducts(a.cos, r.cos, Negated(a.sin), r.sin);
  } else {
    return hn::NegMulAdd(Load(at.sin, i), Load(by.sin, i),
                         hn::Mul(Load(at.cos, i), Load(by.cos, i)));
  }
}

void FillTurn(std::int64_t r, PairRows& turns) {
  const MutablePairRow turn = turns[r];
  if (r == 0) {
    std::fill_n(turn.cos, turns.pairs(), 1.0);
    return;
  }
  if (r == 1) return;
  const PairRow half = std::as_const(turns)[r / 2];
  const PairRow other = std::as_const(turns)[r - r / 2];
  for (std::int64_t i = 0; i < turns.pairs(); i += kLanes) {
    const DoubleDoubles sine = Normalised(RotatedSine<ElementType::kFloat64>(half, other, i));
    const DoubleDoubles cosine = Normalised(RotatedCosine<ElementType::kFloat64>(half, other, i));
    Store(sine.hi, turn.sin, i);
    Store(sine.lo, turn.sin_lo, i);
    Store(cosine.hi, turn.cos, i);
    Store(cosine.lo, turn.cos_lo, i);
  }
}

template <ElementType kType>
void RotateAnchorOf(std::int64_t pairs, const PairRow& base, const PairRow& turn,
                    const double* largest_sin, const double* angle_error, Anchor& anchor) {
  const MutablePairRow to = anchor.row[0];
  const MutablePairRow error = anchor.error[0];
  for (std::int64_t i = 0; i < pairs; i += kLanes) {
    Doubles sine;
    Doubles cosine;
    if constexpr (kType == ElementType::kFloat64) {
      const DoubleDoubles s = Normalised(RotatedSine<kType>(base, turn, i));
      const DoubleDoubles c = Normalised(RotatedCosine<kType>(base, turn, i));
      sine = s.hi;
      cosine = c.hi;
      Store(s.lo, to.sin_lo, i);
      Store(c.lo, to.cos_lo, i);
    } else {
      sine = RotatedSine<kType>(base, turn, i);
      cosine = RotatedCosine<kType>(base, turn, i);
    }
    Store(sine, to.sin, i);
    Store(cosine, to.cos, i);
    const auto load = [i](const double* from) HWY_ATTR { return hn::Abs(Load(from, i)); };
    const Doubles unit = Broadcast(kRotationError<kType>);
    const Doubles largest = largest_sin != nullptr ? load(largest_sin) : hn::Zero(DoubleTag());
    // P and Q, and with them s and c: the row's own parts.
    const Doubles sine_parts =
        hn::Add(hn::MulAdd(load(base.sin), load(turn.cos), hn::Mul(load(base.cos), load(turn.sin))),
                hn::Abs(sine));
    const Doubles cosine_parts =
        hn::Add(hn::MulAdd(load(base.cos), load(turn.cos), hn::Mul(load(base.sin), load(turn.sin))),
                hn::Abs(cosine));
    Doubles sine_error = hn::Mul(unit, hn::MulAdd(largest, cosine_parts, sine_parts));
    Doubles cosine_error = hn::Mul(unit, hn::MulAdd(largest, sine_parts, cosine_parts));
    if (angle_error != nullptr) {
      sine_error = hn::Add(sine_error, load(angle_error));
      cosine_error = hn::Add(cosine_error, load(angle_error));
    }
    Store(sine_error, error.sin, i);
    Store(cosine_error, error.cos, i);
  }
  // What is past the last pair is never in doubt.
  for (double* past : {to.sin, to.cos, to.sin_lo, to.cos_lo, error.sin, error.cos}) {
    if (past != nullptr) std::fill_n(past + pairs, kLanes, 0.0);
  }
}

void RotateAnchor(ElementType type, std::int64_t pairs, const PairRow& base, const PairRow& turn,
                  const double* largest_sin, const double* angle_error, Anchor& anchor) {
  if (type == ElementType::kFloat64) {
    return RotateAnchorOf<ElementType::kFloat64>(pairs, base, turn, largest_sin, angle_error,
                                                 anchor);
  }
  RotateAnchorOf<ElementType::kFloat32>(pairs, base, turn, largest_sin, angle_error, anchor);
}

// An anchor and a rotation, as pointers.
struct Rotation {
  Rotation(const Anchor& anchor, const PairRow& turn)
      : at(anchor.row[0]), by(turn), error(anchor.error[0]) {}
  PairRow at;
  PairRow by;
  PairRow error;
};

// Sines or cosines, with the bounds of their errors.
template <ElementType kType, bool kSines>
HWY_INLINE void RotateHalves(const Rotation& rotation, std::int64_t i,
                             Unrounded<kType> (&values)[kParts<kType>],
                             Doubles (&errors)[kParts<kType>]) {
  const double* const error = kSines ? rotation.error.sin : rotation.error.cos;
  for (std::size_t k = 0; k < kParts<kType>; ++k) {
    const std::int64_t j = i + static_cast<std::int64_t>(k) * kLanes;
    if constexpr (kSines) {
      values[k] = RotatedSine<kType>(rotation.at, rotation.by, j);
    } else {
      values[k] = RotatedCosine<kType>(rotation.at, rotation.by, j);
    }
    errors[k] = Load(error, j);
  }
}

template <ElementType kType, bool kSines>
HWY_INLINE Rounded<kType> RoundedHalves(const Rotation& rotation, std::int64_t i) {
  Unrounded<kType> values[kParts<kType>];
  Doubles errors[kParts<kType>];
  RotateHalves<kType, kSines>(rotation, i, values, errors);
  return Round<kType>(values, errors);
}

#if HWY_TARGET != HWY_SCALAR
// Apart, so that rows that do without stay in registers.
template <ElementType kType, bool kSines>
HWY_NOINLINE Rounded<kType> RoundedHalvesApart(const Rotation& rotation, std::int64_t i) {
  return RoundedHalves<kType, kSines>(rotation, i);
}
#endif

// The same, faster where that is enough.
template <ElementType kType, bool kSines>
HWY_INLINE Rounded<kType> QuicklyRoundedHalves(const Rotation& rotation, std::int64_t i) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(BitsOf<kType>) == 2) {
    Unrounded<kType> values[kParts<kType>];
    Doubles errors[kParts<kType>];
    RotateHalves<kType, kSines>(rotation, i, values, errors);
    Elements<kType> bits;
    if (HWY_LIKELY(RoundByFloats<kType>(values, errors, bits))) {
      return {bits, hn::Zero(ElementTag<kType>())};
    }
    return RoundedHalvesApart<kType, kSines>(rotation, i);
  }
#endif
  return RoundedHalves<kType, kSines>(rotation, i);
}

template <ElementType kType, RowForm kForm>
bool RotateRowTo(std::int64_t pairs, const Rotation& rotation, const RowStreams& streams,
                 LineCopy* behind) {
  constexpr std::int64_t kStep = kElementLanes<kType>;
  static_assert(2 * kStep <= PairRows::kOverrun);
  constexpr bool kSines = kForm != RowForm::kCosineOnly;
  constexpr bool kCosines = kForm != RowForm::kSineOnly;
  const ElementTag<kType> tag;
  Elements<kType> doubt = hn::Zero(tag);
  Elements<kType> sines = hn::Zero(tag);
  Elements<kType> cosines = hn::Zero(tag);
  const auto rotate = [&](std::int64_t i) HWY_ATTR {
    if constexpr (kSines) {
      const Rounded<kType> rounded = QuicklyRoundedHalves<kType, true>(rotation, i);
      sines = rounded.bits;
      doubt = hn::Or(doubt, rounded.doubt);
    }
    if constexpr (kCosines) {
      const Rounded<kType> rounded = QuicklyRoundedHalves<kType, false>(rotation, i);
      cosines = rounded.bits;
      doubt = hn::Or(doubt, rounded.doubt);
    }
  };
  LineCopy copy = behind == nullptr ? LineCopy{} : *behind;
  const std::int64_t bytes_a_step = kStep * streams.pair_bytes * streams.count;
  std::int64_t bytes_to_come = pairs * streams.pair_bytes * streams.count;
  std::int64_t i = 0;
  for (; i + kStep <= pairs; i += kStep) {
    rotate(i);
    PutPairs<kForm>(sines, cosines, streams, i * streams.pair_bytes);
    bytes_to_come -= bytes_a_step;
    while (copy.lines * kLineBytes > bytes_to_come) CopyLine(copy);
  }
  if (behind != nullptr) *behind = copy;
  if (i < pairs) {
    rotate(i);
    PutSomePairs<kForm>(sines, cosines, streams, i * streams.pair_bytes, pairs - i);
  }
  return !hn::AllTrue(tag, hn::Eq(doubt, hn::Zero(tag)));
}

template <ElementType kType>
bool RotateRowOf(std::int64_t pairs, const Rotation& rotation, const RowTarget& target) {
  const RowStreams streams = StreamsOf(target.layout, pairs, sizeof(BitsOf<kType>), target.row);
  switch (FormOf(target.layout)) {
    case RowForm::kSineFirst:
      return RotateRowTo<kType, RowForm::kSineFirst>(pairs, rotation, streams, target.behind);
    case RowForm::kCosineFirst:
      return RotateRowTo<kType, RowForm::kCosineFirst>(pairs, rotation, streams, target.behind);
    case RowForm::kSeparate:
      return RotateRowTo<kType, RowForm::kSeparate>(pairs, rotation, streams, target.behind);
    case RowForm::kTwins:
      return RotateRowTo<kType, RowForm::kTwins>(pairs, rotation, streams, target.behind);
    case RowForm::kSineOnly:
      return RotateRowTo<kType, RowForm::kSineOnly>(pairs, rotation, streams, target.behind);
    case RowForm::kCosineOnly:
      return RotateRowTo<kType, RowForm::kCosineOnly>(pairs, rotation, streams, target.behind);
  }
  return false;
}

bool RotateRow(ElementType type, std::int64_t pairs, const Anchor& anchor, const PairRow& turn,
               const RowTarget& target) {
  const Rotation rotation(anchor, turn);
  switch (type) {
    case ElementType::kFloat32: return RotateRowOf<ElementType::kFloat32>(pairs, rotation, target);
    case ElementType::kFloat64: return RotateRowOf<ElementType::kFloat64>(pairs, rotation, target);
    case ElementType::kFloat16: return RotateRowOf<ElementType::kFloat16>(pairs, rotation, target);
    case ElementType::kBfloat16:
      return RotateRowOf<ElementType::kBfloat16>(pairs, rotation, target);
    case ElementType::kInt32: break;
  }
  return false;
}

template <ElementType kType>
void MarkDoubtOf(std::int64_t pairs, const Rotation& rotation, void* sines, void* cosines) {
  const ElementTag<kType> tag;
  for (std::int64_t i = 0; i < pairs; i += kElementLanes<kType>) {
    hn::StoreU(RoundedHalves<kType, true>(rotation, i).doubt, tag,
               static_cast<BitsOf<kType>*>(sines) + i);
    hn::StoreU(RoundedHalves<kType, false>(rotation, i).doubt, tag,
               static_cast<BitsOf<kType>*>(cosines) + i);
  }
}

void MarkDoubt(ElementType type, std::int64_t pairs, const Anchor& anchor, const PairRow& turn,
               void* sines, void* cosines) {
  const Rotation rotation(anchor, turn);
  switch (type) {
    case ElementType::kFloat32:
      return MarkDoubtOf<ElementType::kFloat32>(pairs, rotation, sines, cosines);
    case ElementType::kFloat64:
      return MarkDoubtOf<ElementType::kFloat64>(pairs, rotation, sines, cosines);
    case ElementType::kFloat16:
      return MarkDoubtOf<ElementType::kFloat16>(pairs, rotation, sines, cosines);
    case ElementType::kBfloat16:
      return MarkDoubtOf<ElementType::kBfloat16>(pairs, rotation, sines, cosines);
    case ElementType::kInt32: break;
  }
}

}  // namespace phasor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phasor {

HWY_EXPORT(FillTurn);
HWY_EXPORT(RotateAnchor);
HWY_EXPORT(RotateRow);
HWY_EXPORT(MarkDoubt);

void FillTurn(std::int64_t r, PairRows& turns) { HWY_DYNAMIC_DISPATCH(FillTurn)(r, turns); }

template <ElementType kType>
void RotateAnchor(std::int64_t pairs, const PairRow& base, const PairRow& turn,
                  const double* largest_sin, const double* angle_error, Anchor& anchor) {
  HWY_DYNAMIC_DISPATCH(RotateAnchor)(kType, pairs, base, turn, largest_sin, angle_error, anchor);
}

template <ElementType kType>
bool RotateRow(std::int64_t pairs, const Anchor& anchor, const PairRow& turn,
               const RowTarget& target) {
  return HWY_DYNAMIC_DISPATCH(RotateRow)(kType, pairs, anchor, turn, target);
}

template <ElementType kType>
void MarkDoubt(std::int64_t pairs, const Anchor& anchor, const PairRow& turn, BitsOf<kType>* sines,
               BitsOf<kType>* cosines) {
  HWY_DYNAMIC_DISPATCH(MarkDoubt)(kType, pairs, anchor, turn, sines, cosines);
}

#define PHASOR_INSTANTIATE(kType)                                                                \
  template void RotateAnchor<kType>(std::int64_t, const PairRow&, const PairRow&, const double*, \
                                    const double*, Anchor&);                                     \
  template bool RotateRow<kType>(std::int64_t, const Anchor&, const PairRow&, const RowTarget&); \
  template void MarkDoubt<kType>(std::int64_t, const Anchor&, const PairRow&, BitsOf<kType>*,    \
                                 BitsOf<kType>*);
PHASOR_INSTANTIATE(ElementType::kFloat32)
PHASOR_INSTANTIATE(ElementType::kFloat64)
PHASOR_INSTANTIATE(ElementType::kFloat16)
PHASOR_INSTANTIATE(ElementType::kBfloat16)
#undef PHASOR_INSTANTIATE

}  // namespace phasor
#endif  // HWY_ONCE
