#include "checkpoint/safetensors_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace phasor::checkpoint {
namespace {

absl::Status Failure(const std::string& path, absl::string_view what, int error) {
  const std::string message = absl::StrCat(path, ": ", what, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

std::int64_t Nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileVersion VersionFrom(const struct stat& info) {
  return {info.st_dev, info.st_ino, info.st_size, Nanoseconds(info.st_mtim),
          Nanoseconds(info.st_ctim)};
}

// Opens a regular file; anything else could make its reader wait for ever.
absl::StatusOr<std::FILE*> OpenRegular(const std::string& path, struct stat* info) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return Failure(path, "cannot be opened", errno);
  std::FILE* file = fdopen(descriptor, "rb");
  if (file == nullptr) {
    const int error = errno;
    close(descriptor);
    return Failure(path, "cannot be opened", error);
  }
  absl::Status status;
  if (fstat(descriptor, info) != 0) {
    status = Failure(path, "cannot be looked at", errno);
  } else if (!S_ISREG(info->st_mode)) {
    status = absl::UnavailableError(absl::StrCat(path, ": is no regular file"));
  }
  if (status.ok()) return file;
  std::fclose(file);
  return status;
}

absl::Status ReadFully(const std::string& path, std::FILE* file, std::uint64_t offset,
                       absl::Span<char> out) {
  const std::uint64_t end = offset + out.size();
  while (!out.empty()) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
    const ssize_t got = pread(fileno(file), out.data(), std::min(out.size(), kMostAtOnce),
                              static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failure(path, absl::StrCat("byte ", offset, " cannot be read"), errno);
    if (got == 0) {
      return absl::DataLossError(absl::StrCat(path, ": ends at byte ", offset, " now, before byte ",
                                              end, ": it was cut while it was read"));
    }
    offset += static_cast<std::uint64_t>(got);
    out.remove_prefix(static_cast<std::size_t>(got));
  }
  return absl::OkStatus();
}

}  // namespace

FileVersion VersionOf(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? VersionFrom(info) : FileVersion{};
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, std::uint64_t max_bytes) {
  struct stat info;
  const absl::StatusOr<std::FILE*> opened = OpenRegular(path, &info);
  if (!opened.ok()) return opened.status();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(*opened, &std::fclose);
  if (static_cast<std::uint64_t>(info.st_size) > max_bytes) {
    return absl::UnavailableError(absl::StrCat(
        path, ": has ", info.st_size, " bytes, more than the ", max_bytes, " that are read"));
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  absl::Status status = ReadFully(path, file.get(), 0, absl::MakeSpan(bytes));
  if (!status.ok()) return status;
  return bytes;
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  struct stat info;
  const absl::StatusOr<std::FILE*> opened = OpenRegular(path, &info);
  if (!opened.ok()) return opened.status();
  SafetensorsFile file(path, File(*opened), VersionFrom(info));
  absl::StatusOr<std::vector<Tensor>> tensors = ReadTensors(
      static_cast<std::uint64_t>(info.st_size),
      [&](std::uint64_t offset, absl::Span<char> out) { return file.ReadAt(offset, out); });
  if (tensors.ok()) {
    file.tensors_ = *std::move(tensors);
    return file;
  }
  // What the reading itself says begins with the path.
  if (!absl::IsDataLoss(tensors.status()) ||
      absl::string_view(tensors.status().message()).substr(0, path.size()) == path) {
    return tensors.status();
  }
  return absl::DataLossError(absl::StrCat(path, ": ", tensors.status().message()));
}

absl::Status SafetensorsFile::ReadAt(std::uint64_t offset, absl::Span<char> out) const {
  return ReadFully(path_, file_.get(), offset, out);
}

absl::Status SafetensorsFile::Read(const Tensor& tensor, std::uint64_t first,
                                   absl::Span<std::byte> out) const {
  absl::Status status =
      ReadAt(tensor.begin + first, absl::MakeSpan(reinterpret_cast<char*>(out.data()), out.size()));
  if (!status.ok()) return status;
  struct stat info;
  if (fstat(fileno(file_.get()), &info) != 0) return Failure(path_, "cannot be looked at", errno);
  if (VersionFrom(info) == version_) return absl::OkStatus();
  // Being renamed or linked changes a file's times too: reading it again settles that.
  return absl::UnavailableError(
      absl::StrCat(path_, ": was changed while bytes ", tensor.begin + first, " ... ",
                   tensor.begin + first + out.size(), " were read; replace files by renaming"));
}

}  // namespace phasor::checkpoint
