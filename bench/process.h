#ifndef PHASOR_BENCH_PROCESS_H_
#define PHASOR_BENCH_PROCESS_H_

/// \file
/// Servers and other programs that are measured from outside.

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace phasor::bench {

/// A directory of its own, removed at the end with what is in it.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ~ScratchDirectory();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Keeps the calling thread, and those it starts, on one processor, if there is
/// more than one.
class OnCpu {
 public:
  explicit OnCpu(int cpu);
  OnCpu(const OnCpu&) = delete;
  ~OnCpu();

 private:
  cpu_set_t before_;
};

/// A child process. Killed at the end, and when this process ends in any way.
class Process {
 public:
  /// Starts `arguments`, whose first is the program; its stdin and stdout are
  /// Send and ReadLine, its stderr is this one's.
  explicit Process(const std::vector<std::string>& arguments);
  Process(const Process&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  void Send(const std::string& line);
  /// The next line of its stdout; empty at its end.
  std::string ReadLine();

  /// Keeps its threads on one processor, if there is more than one.
  void RunOn(int cpu) const;

  /// CPU time so far of all its threads, in seconds, as exact as the kernel's
  /// own account of it.
  double CpuSeconds() const;
  /// The same in clock ticks, as /proc tells it.
  std::int64_t CpuTicks() const;
  /// Resident memory now, and the most so far, in bytes.
  std::int64_t ResidentBytes() const { return MemoryLine("VmRSS:"); }
  std::int64_t PeakResidentBytes() const { return MemoryLine("VmHWM:"); }

 private:
  std::int64_t MemoryLine(const char* name) const;

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::string read_;  // past the last line
};

/// A gRPC server on a free port and a UNIX socket.
class ServerProcess {
 public:
  /// phasord with `flags`.
  static ServerProcess* Phasord(const ScratchDirectory& scratch,
                                const std::vector<std::string>& flags = {});
  /// phasor_bare: GetRows answers `bytes` bytes, ReadRows `messages` times those.
  static ServerProcess* Bare(const ScratchDirectory& scratch, std::size_t bytes,
                             std::int64_t messages = 1, const std::vector<std::string>& flags = {});

  Process& process() { return process_; }
  const std::string& tcp() const { return tcp_; }
  const std::string& unix_address() const { return unix_; }

 private:
  ServerProcess(const std::vector<std::string>& arguments, const std::string& socket);

  Process process_;
  std::string tcp_;
  std::string unix_;
};

/// A program that is built beside this one.
std::string SiblingProgram(const std::string& name);

}  // namespace phasor::bench

#endif  // PHASOR_BENCH_PROCESS_H_
