#include "client/cli/text_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace phasor::cli {

absl::StatusOr<std::string> ReadTextFile(const std::string& path, std::size_t most) {
  const auto close = [](std::FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  std::string text;
  std::array<char, 65536> piece;
  while (file != nullptr && text.size() <= most) {
    const std::size_t size = std::fread(piece.data(), 1, piece.size(), file.get());
    text.append(piece.data(), size);
    if (size < piece.size()) break;
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return absl::InternalError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
  }
  if (text.size() > most) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has more than the ", most, " bytes that are read of such a file"));
  }
  return text;
}

}  // namespace phasor::cli
