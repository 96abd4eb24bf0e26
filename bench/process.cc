#include "bench/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bench/report.h"

namespace phasor::bench {
namespace {

struct Pipe {
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) Die("no pipe");
  }
  int ends[2];
};

cpu_set_t Only(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return set;
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  std::string name = std::filesystem::temp_directory_path() / "phasor_bench.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) Die("no temporary directory");
  path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

OnCpu::OnCpu(int cpu) {
  sched_getaffinity(0, sizeof before_, &before_);
  if (CPU_COUNT(&before_) < 2) return;
  const cpu_set_t set = Only(cpu);
  if (sched_setaffinity(0, sizeof set, &set) != 0) Die("cannot be kept on a processor");
}

OnCpu::~OnCpu() { sched_setaffinity(0, sizeof before_, &before_); }

Process::Process(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const Pipe in;
  const Pipe out;
  pid_ = fork();
  if (pid_ < 0) Die("cannot fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in.ends[0], STDIN_FILENO);
    dup2(out.ends[1], STDOUT_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(in.ends[0]);
  close(out.ends[1]);
  in_ = in.ends[1];
  out_ = out.ends[0];
}

Process::~Process() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(in_);
  close(out_);
}

void Process::Send(const std::string& line) {
  const std::string text = absl::StrCat(line, "\n");
  if (write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    Die("a child process does not listen");
  }
}

std::string Process::ReadLine() {
  for (;;) {
    const std::size_t end = read_.find('\n');
    if (end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    char buffer[4096];
    const ssize_t count = read(out_, buffer, sizeof buffer);
    if (count <= 0) return "";
    read_.append(buffer, static_cast<std::size_t>(count));
  }
}

void Process::RunOn(int cpu) const {
  const cpu_set_t set = Only(cpu);
  const std::string tasks = absl::StrCat("/proc/", pid_, "/task");
  if (std::filesystem::exists(absl::StrCat("/sys/devices/system/cpu/cpu", cpu))) {
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      sched_setaffinity(std::stoi(task.path().filename()), sizeof set, &set);
    }
  }
}

double Process::CpuSeconds() const {
  clockid_t clock;
  timespec time = {};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    Die("a child process is gone");
  }
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::int64_t Process::CpuTicks() const {
  std::ifstream file(absl::StrCat("/proc/", pid_, "/stat"));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // After the name, which may hold anything, user and system time are the
  // twelfth and the thirteenth.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  std::int64_t user = 0;
  std::int64_t system = 0;
  if (!(fields >> user >> system)) Die("a child process is gone");
  return user + system;
}

std::int64_t Process::MemoryLine(const char* name) const {
  std::ifstream file(absl::StrCat("/proc/", pid_, "/status"));
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, name)) {
      return std::stoll(line.substr(std::string(name).size())) * 1024;
    }
  }
  Die("a child process is gone");
}

ServerProcess::ServerProcess(const std::vector<std::string>& arguments, const std::string& socket)
    : process_(arguments), unix_(absl::StrCat("unix:", socket)) {
  for (int i = 0; i < 2; ++i) {
    const std::string line = process_.ReadLine();
    const std::size_t at = line.find(" ready on ");
    if (at == std::string::npos) Die(absl::StrCat(arguments[0], " does not start: ", line));
    const std::string address = line.substr(at + 10);
    if (!absl::StartsWith(address, "unix:")) tcp_ = address;
  }
}

ServerProcess* ServerProcess::Phasord(const ScratchDirectory& scratch,
                                      const std::vector<std::string>& flags) {
  static int count = 0;
  const std::string socket = absl::StrCat(scratch.path(), "/phasord", ++count);
  // Its lines go to stderr.
  std::vector<std::string> arguments = {"/bin/sh",
                                        "-c",
                                        "exec \"$0\" \"$@\" 2>&1",
                                        SiblingProgram("phasord"),
                                        absl::StrCat("--listen=127.0.0.1:0,unix:", socket),
                                        "--log_level=off"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return new ServerProcess(arguments, socket);
}

ServerProcess* ServerProcess::Bare(const ScratchDirectory& scratch, std::size_t bytes,
                                   std::int64_t messages, const std::vector<std::string>& flags) {
  static int count = 0;
  const std::string socket = absl::StrCat(scratch.path(), "/bare", ++count);
  std::vector<std::string> arguments = {SiblingProgram("phasor_bare"), socket, absl::StrCat(bytes),
                                        absl::StrCat(messages)};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return new ServerProcess(arguments, socket);
}

std::string SiblingProgram(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace phasor::bench
