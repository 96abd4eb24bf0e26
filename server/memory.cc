#include "server/memory.h"

#include <new>

namespace phasor::server {
namespace {

constexpr std::size_t kAlignment = 64;

std::byte* Allocate(std::int64_t size) {
  // aligned_alloc wants whole multiples; one unit also for an empty buffer.
  const std::size_t rounded = (static_cast<std::size_t>(size) / kAlignment + 1) * kAlignment;
  void* data = std::aligned_alloc(kAlignment, rounded);
  if (data == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

}  // namespace

AlignedBytes::AlignedBytes(std::int64_t size) : size_(size), data_(Allocate(size)) {}

}  // namespace phasor::server
