// Cache lines copied past the caches, for every target.

#if defined(PHASOR_CORE_LINE_COPY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHASOR_CORE_LINE_COPY_INL_H_
#undef PHASOR_CORE_LINE_COPY_INL_H_
#else
#define PHASOR_CORE_LINE_COPY_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "core/line_copy.h"

HWY_BEFORE_NAMESPACE();
namespace phasor::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The next line.
HWY_INLINE void CopyLine(LineCopy& copy) {
#if HWY_TARGET == HWY_SCALAR
  std::memcpy(copy.to, copy.from, kLineBytes);
#else
  const hn::ScalableTag<std::uint8_t> bytes;
  const auto* from = reinterpret_cast<const std::uint8_t*>(copy.from);
  auto* to = reinterpret_cast<std::uint8_t*>(copy.to);
  for (std::int64_t i = 0; i < kLineBytes; i += HWY_LANES(std::uint8_t)) {
    hn::Stream(hn::LoadU(bytes, from + i), bytes, to + i);
  }
#endif
  copy.from += kLineBytes;
  copy.to += kLineBytes;
  --copy.lines;
}

}  // namespace phasor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
