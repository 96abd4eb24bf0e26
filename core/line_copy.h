#ifndef PHASOR_CORE_LINE_COPY_H_
#define PHASOR_CORE_LINE_COPY_H_

#include <cstddef>
#include <cstdint>

namespace phasor {

inline constexpr std::int64_t kLineBytes = 64;

/// Whole cache lines still to be copied past the caches: `to` is the beginning
/// of one, `from` needs no alignment.
struct LineCopy {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t lines = 0;
};

}  // namespace phasor

#endif  // PHASOR_CORE_LINE_COPY_H_
