#ifndef PHASOR_CORE_ALIBI_H_
#define PHASOR_CORE_ALIBI_H_

/// \file
/// Attention with linear biases (ALiBi).

#include <cstdint>

#include "absl/strings/string_view.h"
#include "phasor/core/export.h"

namespace phasor {

inline constexpr double kDefaultBiasMax = 8.0;

/// What position p of a table of biases is, m_k being the slope of head k.
enum class AlibiForm : std::uint8_t {
  kDistance = 0,     ///< a distance: -m_k |p|          (the paper, MPT; default)
  kKeyPosition = 1,  ///< a key's position: +m_k p      (the paper's code, BLOOM)
};

/// The form's name in the wire protocol without its prefix.
PHASOR_EXPORT absl::string_view AlibiFormName(AlibiForm form);

/// Biases that are added to attention scores (Press et al. 2021): row p has one
/// of each head. With N heads, N a power of two, the slopes are
/// m_k = 2^(-bias_max (k+1) / N). With n heads, N/2 < n < N, they are those of N
/// heads that stand second, fourth, ..., then those that stand first, third, ...,
/// n in all. Row 1 of kKeyPosition is the slopes.
struct Alibi {
  std::int64_t head_count = 0;        ///< n, elements in a row: 1 ... 65536; required
  double bias_max = kDefaultBiasMax;  ///< 2^-32 ... 128
  AlibiForm form = AlibiForm::kDistance;
  bool operator==(const Alibi&) const = default;
};

}  // namespace phasor

#endif  // PHASOR_CORE_ALIBI_H_
