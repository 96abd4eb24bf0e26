#include "client/cli/output.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace phasor::cli {
namespace {

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};

constexpr absl::string_view kReaderGone = "phasor.cli/reader_gone";

// What the signal handler removes; empty for nothing. Changed only while the
// signals are blocked.
std::array<char, 4096> g_temporary{};

void RemoveTemporaryAndDie(int signal_number) {
  if (g_temporary[0] != '\0') unlink(g_temporary.data());
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void RemoveOnSignal(absl::string_view path) {
  sigset_t ending, before;
  sigemptyset(&ending);
  for (int signal_number : kEndingSignals) sigaddset(&ending, signal_number);
  pthread_sigmask(SIG_BLOCK, &ending, &before);
  const std::size_t size = std::min(path.size(), g_temporary.size() - 1);
  path.copy(g_temporary.data(), size);
  g_temporary[size] = '\0';
  struct sigaction action {};
  action.sa_handler = RemoveTemporaryAndDie;
  for (int signal_number : kEndingSignals) {
    struct sigaction old {};
    sigaction(signal_number, nullptr, &old);
    if (old.sa_handler == SIG_DFL) sigaction(signal_number, &action, nullptr);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

mode_t ModeFor(const std::string& path) {
  struct stat existing {};
  if (stat(path.c_str(), &existing) == 0) return existing.st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// Where the links that `path` may be lead to.
absl::StatusOr<std::string> EndOfLinks(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the system's own
  std::filesystem::path end = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    std::error_code no_link;
    const std::filesystem::path target = std::filesystem::read_symlink(end, no_link);
    if (no_link) return end.string();
    end = end.parent_path() / target;
  }
  return absl::InternalError(absl::StrCat("cannot write ", path, ": ", std::strerror(ELOOP)));
}

bool IsSpecial(const std::string& path) {
  struct stat existing {};
  return stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode) &&
         !S_ISDIR(existing.st_mode);
}

}  // namespace

absl::StatusOr<Output> Output::Open(absl::string_view path_text) {
  if (path_text == "-") return Output(STDOUT_FILENO, "-");
  std::string path(path_text);
  if (IsSpecial(path)) {
    Output output(open(path.c_str(), O_WRONLY | O_CLOEXEC), path);
    if (output.descriptor_ < 0) return output.Failed("cannot open");
    return output;
  }
  // A link stays a link: what it leads to, whether there is one or not yet, is
  // made anew.
  const absl::StatusOr<std::string> target = EndOfLinks(path);
  if (!target.ok()) return target.status();
  std::string temporary = *target + ".XXXXXX";
  Output output(mkostemp(temporary.data(), O_CLOEXEC), *target);
  if (output.descriptor_ < 0) return output.Failed("cannot write");
  output.temporary_ = temporary;
  RemoveOnSignal(temporary);
  if (fchmod(output.descriptor_, ModeFor(*target)) != 0) return output.Failed("cannot write");
  return output;
}

Output::Output(Output&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")) {}

Output::~Output() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) close(descriptor_);
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
    RemoveOnSignal("");
  }
}

absl::Status Output::Failed(absl::string_view doing) const {
  const int error = errno;
  absl::Status status = absl::InternalError(
      absl::StrCat(doing, " ", path_ == "-" ? "stdout" : path_, ": ", std::strerror(error)));
  if (error == EPIPE) status.SetPayload(kReaderGone, absl::Cord());
  return status;
}

absl::Status Output::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status Output::Commit() {
  // Some file systems tell of a full disk only here.
  if (close(std::exchange(descriptor_, -1)) != 0) return Failed("cannot write");
  if (temporary_.empty()) return absl::OkStatus();
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return Failed("cannot replace");
  temporary_.clear();
  RemoveOnSignal("");
  return absl::OkStatus();
}

bool IsReaderGone(const absl::Status& status) { return status.GetPayload(kReaderGone).has_value(); }

bool StdoutIsTerminal() { return isatty(STDOUT_FILENO) != 0; }
bool StderrIsTerminal() { return isatty(STDERR_FILENO) != 0; }

}  // namespace phasor::cli
