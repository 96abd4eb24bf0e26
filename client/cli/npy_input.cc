#include "client/cli/npy_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/number_text.h"

namespace phasor::cli {
namespace {

absl::Status SystemError(absl::string_view doing) {
  return absl::InternalError(absl::StrCat(doing, ": ", std::strerror(errno)));
}

absl::Status TooShort() {
  return absl::InvalidArgumentError("the file ends before what its head promises; is it complete?");
}

/// The bytes of the elements that a header promises; INVALID_ARGUMENT if there
/// cannot be so many.
absl::StatusOr<std::int64_t> ElementsBytes(const NpyHeader& header) {
  // The last digits of a type code are the bytes of an element, "<f4".
  absl::StatusOr<std::int64_t> bytes =
      header.type_code.size() < 3 ? 0 : ParseInt64(header.type_code.substr(2));
  if (!bytes.ok() || *bytes < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("descr \"", header.type_code, "\" is not a number type such as <f4"));
  }
  for (std::int64_t size : header.shape) {
    if (__builtin_mul_overflow(*bytes, size, &*bytes)) {
      return absl::InvalidArgumentError("its shape is larger than any file");
    }
  }
  return *bytes;
}

}  // namespace

absl::StatusOr<NpyInput> NpyInput::Open(const std::string& path) {
  NpyInput input(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (input.descriptor_ < 0) return SystemError("cannot open");
  absl::Status status = input.ReadHead();
  if (!status.ok()) return status;
  return input;
}

NpyInput::NpyInput(NpyInput&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      header_(std::move(other.header_)),
      is_regular_(other.is_regular_),
      elements_begin_(other.elements_begin_) {}

NpyInput::~NpyInput() {
  if (descriptor_ > STDIN_FILENO) close(descriptor_);
}

absl::Status NpyInput::ReadHead() {
  std::string preamble(kNpyPreambleBytes, '\0');
  absl::StatusOr<std::size_t> size =
      ReadSome({reinterpret_cast<std::byte*>(preamble.data()), preamble.size()});
  if (!size.ok()) return size.status();
  preamble.resize(*size);
  const absl::StatusOr<std::size_t> dictionary_bytes = ParseNpyPreamble(preamble);
  if (!dictionary_bytes.ok()) return dictionary_bytes.status();

  std::string dictionary(*dictionary_bytes, '\0');
  absl::Status status = Read({reinterpret_cast<std::byte*>(dictionary.data()), dictionary.size()});
  if (!status.ok()) return status;
  absl::StatusOr<NpyHeader> header = ParseNpyDictionary(dictionary);
  if (!header.ok()) return header.status();
  header_ = *std::move(header);

  const absl::StatusOr<std::int64_t> promised = ElementsBytes(header_);
  if (!promised.ok()) return promised.status();
  struct stat file {};
  if (fstat(descriptor_, &file) != 0) return SystemError("cannot read");
  if (!S_ISREG(file.st_mode)) return absl::OkStatus();
  is_regular_ = true;
  elements_begin_ = lseek(descriptor_, 0, SEEK_CUR);
  const off_t held = file.st_size - elements_begin_;
  if (held != *promised) {
    return absl::InvalidArgumentError(
        absl::StrCat("holds ", held, " bytes of elements where its head promises ", *promised));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> NpyInput::ReadSome(absl::Span<std::byte> out) {
  std::size_t size = 0;
  while (size < out.size()) {
    const ssize_t got = read(descriptor_, out.data() + size, out.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return size;
}

absl::Status NpyInput::Read(absl::Span<std::byte> out) {
  const absl::StatusOr<std::size_t> size = ReadSome(out);
  if (!size.ok()) return size.status();
  return *size == out.size() ? absl::OkStatus() : TooShort();
}

absl::Status NpyInput::ReadAt(std::int64_t offset, absl::Span<std::byte> out) const {
  offset += elements_begin_;
  while (!out.empty()) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read");
    if (got == 0) return TooShort();
    out.remove_prefix(static_cast<std::size_t>(got));
    offset += got;
  }
  return absl::OkStatus();
}

absl::Status NpyInput::ExpectEnd() {
  std::byte one;
  const absl::StatusOr<std::size_t> size = ReadSome({&one, 1});
  if (!size.ok()) return size.status();
  if (*size == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("the file goes on after what its head promises");
}

}  // namespace phasor::cli
