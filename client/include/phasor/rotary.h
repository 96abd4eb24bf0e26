#ifndef PHASOR_ROTARY_H_
#define PHASOR_ROTARY_H_

/// \file
/// Rotary position embedding (Su et al. 2021) of queries and keys, on the
/// caller's own arrays.

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "phasor/core/element_type.h"
#include "phasor/core/export.h"
#include "phasor/elements.h"
#include "phasor/table.h"

namespace phasor {

/// Where the two numbers of pair i, i = 0 ... r/2-1, stand in the first r of a
/// head. Models with the same weights and another pairing are wrong.
enum class Pairing : std::uint8_t {
  kHalfSplit,    ///< x[i], x[i + r/2]  (GPT-NeoX; Hugging Face's rotate_half)
  kInterleaved,  ///< x[2i], x[2i + 1]  (RoFormer, GPT-J, the original Llama)
};

/// Turns queries or keys to their positions, in place. `x` is
/// [positions.size(), heads, head_width], row-major; the number of heads follows
/// from its size. For [B, T, heads, head_width] give B*T positions: a decoder
/// with one new token a sequence, B of them.
///
/// Pair i of every head of row t becomes (a c - b s, a s + b c), where s and c
/// are the sine and cosine of pair i in the table's row at positions[t]. So r is
/// the table's width; of wider heads (partial rotary) the rest stays as it is.
/// `head_width` 0 means r. The score of a query at p and a key at q then depends
/// on p - q alone.
///
/// **Accuracy**: in float32, each product rounded and their sum rounded, without
/// fused operations: the same bits on every machine, and those of x * cos +
/// rotate_half(x) * sin in float32 with the same cos and sin. BFLOAT16 arrays are
/// widened, and rounded once to nearest, ties to even. With a FLOAT32 table an
/// element of a float array is within 3 * 2^-24 * (|a| + |b|) of the real value.
///
/// **Errors**: INVALID_ARGUMENT (table) if it is of another scheme than
/// sinusoidal, rotary and none (not additive), has one half of its pairs alone, a zero row, an odd
/// width, or is FLOAT64; (pairing) if it is neither of both; (head_width) if less than r; (x)
/// if x is not whole rows of heads; OUT_OF_RANGE (positions[k]); those of
/// Table::Gather, by which the rows come. `x` is then unchanged.
PHASOR_EXPORT absl::Status ApplyRotary(absl::Span<float> x,
                                       absl::Span<const std::int64_t> positions, const Table& table,
                                       Pairing pairing, std::int64_t head_width = 0);
PHASOR_EXPORT absl::Status ApplyRotary(absl::Span<Bfloat16> x,
                                       absl::Span<const std::int64_t> positions, const Table& table,
                                       Pairing pairing, std::int64_t head_width = 0);

/// Turns keys that stand at their positions already `shifts[t]` positions on
/// (back, if negative): a context shift, or a cached prefix put elsewhere. What
/// ApplyRotary did to them once beside the turn is not done again: the table's
/// position offset does not count, and one with an attention factor is refused
/// (give the same with attention_factor 1).
///
/// **Accuracy**: as ApplyRotary, on top of the rounding of the keys given.
///
/// **Errors**: as ApplyRotary, with (shifts[k]).
PHASOR_EXPORT absl::Status ShiftRotary(absl::Span<float> x, absl::Span<const std::int64_t> shifts,
                                       const Table& table, Pairing pairing,
                                       std::int64_t head_width = 0);
PHASOR_EXPORT absl::Status ShiftRotary(absl::Span<Bfloat16> x,
                                       absl::Span<const std::int64_t> shifts, const Table& table,
                                       Pairing pairing, std::int64_t head_width = 0);

}  // namespace phasor

#endif  // PHASOR_ROTARY_H_
