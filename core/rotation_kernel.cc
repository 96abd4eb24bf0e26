#include "core/rotation_kernel.h"

#include <bit>

namespace phasor {

void FillTurns(absl::Span<SinCos> turns) {
  for (std::size_t r = 2; r < turns.size(); ++r) turns[r] = turns[r / 2] * turns[r - r / 2];
}

// Written so that the compiler vectorises it: no branch, no call, one width.
template <ElementType kType>
bool Rotate(const Anchor& anchor, const PairArrays& rotations, std::int64_t first,
            BitsOf<kType>* __restrict sines, BitsOf<kType>* __restrict cosines,
            BitsOf<kType>* __restrict doubt) {
  using Bits = BitsOf<kType>;
  const auto size = static_cast<std::int64_t>(anchor.pairs.sin.size());
  const double* __restrict anchor_sin = anchor.pairs.sin.data();
  const double* __restrict anchor_cos = anchor.pairs.cos.data();
  const double* __restrict sin_error = anchor.sin_error.data();
  const double* __restrict cos_error = anchor.cos_error.data();
  const double* __restrict turn_sin = rotations.sin.data() + first;
  const double* __restrict turn_cos = rotations.cos.data() + first;
  Bits any = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const double sine = anchor_sin[i] * turn_cos[i] + anchor_cos[i] * turn_sin[i];
    const double cosine = anchor_cos[i] * turn_cos[i] - anchor_sin[i] * turn_sin[i];
    const Bits sine_below = RoundToBits<kType>(sine - sin_error[i]);
    const Bits sine_above = RoundToBits<kType>(sine + sin_error[i]);
    const Bits cosine_below = RoundToBits<kType>(cosine - cos_error[i]);
    const Bits cosine_above = RoundToBits<kType>(cosine + cos_error[i]);
    sines[i] = sine_below;
    cosines[i] = cosine_below;
    const Bits marks = (sine_below != sine_above ? kSineInDoubt : 0) |
                       (cosine_below != cosine_above ? kCosineInDoubt : 0);
    doubt[i] = marks;
    any |= marks;
  }
  return any != 0;
}

template <>
bool Rotate<ElementType::kFloat64>(const Anchor& anchor, const PairArrays& rotations,
                                   std::int64_t first, std::uint64_t* __restrict sines,
                                   std::uint64_t* __restrict cosines,
                                   std::uint64_t* __restrict doubt) {
  const auto size = static_cast<std::int64_t>(anchor.pairs.sin.size());
  const PairArrays& a = anchor.pairs;
  std::uint64_t any = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t k = first + i;
    const SinCos at_anchor = {{a.sin[i], a.sin_lo[i]}, {a.cos[i], a.cos_lo[i]}};
    const SinCos turn = {{rotations.sin[k], rotations.sin_lo[k]},
                         {rotations.cos[k], rotations.cos_lo[k]}};
    const auto [sine, cosine] = at_anchor * turn;
    const double sine_below = sine.hi + (sine.lo - anchor.sin_error[i]);
    const double sine_above = sine.hi + (sine.lo + anchor.sin_error[i]);
    const double cosine_below = cosine.hi + (cosine.lo - anchor.cos_error[i]);
    const double cosine_above = cosine.hi + (cosine.lo + anchor.cos_error[i]);
    sines[i] = std::bit_cast<std::uint64_t>(sine_below);
    cosines[i] = std::bit_cast<std::uint64_t>(cosine_below);
    const std::uint64_t marks = (sine_below != sine_above ? kSineInDoubt : 0) |
                                (cosine_below != cosine_above ? kCosineInDoubt : 0);
    doubt[i] = marks;
    any |= marks;
  }
  return any != 0;
}

template bool Rotate<ElementType::kFloat32>(const Anchor&, const PairArrays&, std::int64_t,
                                            std::uint32_t*, std::uint32_t*, std::uint32_t*);
template bool Rotate<ElementType::kFloat16>(const Anchor&, const PairArrays&, std::int64_t,
                                            std::uint16_t*, std::uint16_t*, std::uint16_t*);
template bool Rotate<ElementType::kBfloat16>(const Anchor&, const PairArrays&, std::int64_t,
                                             std::uint16_t*, std::uint16_t*, std::uint16_t*);

}  // namespace phasor
