#include "core/c/boundary.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace phasor::c {
namespace {

// Copies as much of `text` as fits before a zero byte, never a part of a
// UTF-8 character.
template <std::size_t kSize>
void CopyText(absl::string_view text, char (&to)[kSize]) {
  std::size_t length = std::min(text.size(), kSize - 1);
  while (length > 0 && length < text.size() &&
         (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) {
    --length;
  }
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

}  // namespace

phasor_code Report(const absl::Status& status, phasor_error* error) {
  const auto code = static_cast<phasor_code>(status.code());
  if (error != nullptr) {
    error->code = code;
    CopyText(FieldOf(status), error->field);
    CopyText(status.message(), error->message);
  }
  return code;
}

}  // namespace phasor::c
