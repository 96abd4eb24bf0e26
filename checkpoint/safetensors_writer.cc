#include "checkpoint/safetensors_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/dtype.h"
#include "checkpoint/safetensors.h"
#include "phasor/core/errors.h"

namespace phasor::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored as they are held");

constexpr std::size_t kAlignment = 8;

absl::Status Wrong(std::size_t k, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, absl::StrCat("tensors[", k, "]"), what);
}

// Length and JSON.
absl::StatusOr<std::string> HeaderOf(absl::Span<const NewTensor> tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::uint64_t end = 0;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const NewTensor& tensor = tensors[k];
    auto bytes = static_cast<std::uint64_t>(ElementBytes(tensor.type));
    for (const std::int64_t length : tensor.shape) {
      if (length < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(length), &bytes)) {
        return Wrong(k, "its shape is none");
      }
    }
    if (bytes != tensor.data.size()) {
      return Wrong(k, absl::StrCat(tensor.data.size(), " bytes given; its shape takes ", bytes));
    }
    if (header.contains(tensor.name)) return Wrong(k, "its name comes twice");
    header[tensor.name] = {{"dtype", std::string(DtypeOf(tensor.type))},
                           {"shape", tensor.shape},
                           {"data_offsets", {end, end + bytes}}};
    end += bytes;
    try {
      static_cast<void>(nlohmann::ordered_json(tensor.name).dump());
    } catch (const nlohmann::json::exception&) {
      return Wrong(k, absl::StrCat("its name, ", Quoted(tensor.name), ", is not UTF-8"));
    }
  }
  std::string json = header.dump();
  json.append((kAlignment - json.size() % kAlignment) % kAlignment, ' ');
  const auto length = static_cast<std::uint64_t>(json.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + json;
}

absl::Status Failure(absl::string_view what) {
  return FieldError(absl::StatusCode::kUnavailable, "path",
                    absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::Status WriteAll(int descriptor, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t put = write(descriptor, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Failure("cannot be written");
    bytes += put;
    size -= static_cast<std::size_t>(put);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteSafetensors(const std::string& path, absl::Span<const NewTensor> tensors) {
  const absl::StatusOr<std::string> header = HeaderOf(tensors);
  if (!header.ok()) return header.status();
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".tmp");
  const int descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) return Failure(absl::StrCat(temporary, " cannot be made"));
  absl::Status status = WriteAll(descriptor, header->data(), header->size());
  for (const NewTensor& tensor : tensors) {
    if (status.ok()) status = WriteAll(descriptor, tensor.data.data(), tensor.data.size());
  }
  // Renamed before its bytes are safe, a crash could leave an empty file there.
  if (status.ok() && fsync(descriptor) != 0) status = Failure("cannot be written");
  if (close(descriptor) != 0 && status.ok()) status = Failure("cannot be written");
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = Failure(absl::StrCat(path, " cannot be replaced"));
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace phasor::checkpoint
