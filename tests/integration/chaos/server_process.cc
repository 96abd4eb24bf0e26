#include "tests/integration/chaos/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

extern char** environ;

namespace phasor::chaos {

ServerProcess::ServerProcess(std::string program, std::string listen)
    : program_(std::move(program)), listen_(std::move(listen)) {
  Start();
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) Kill();
}

void ServerProcess::Start() {
  int log[2];
  if (pipe2(log, O_CLOEXEC) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, log[1], STDERR_FILENO);
  std::string listen = "--listen=" + listen_;
  char* const arguments[] = {program_.data(), listen.data(), nullptr};
  const int error = posix_spawn(&pid_, program_.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(log[1]);
  log_ = log[0];
  // The pipe takes what little it says later.
  static constexpr char kReady[] = "phasord ready on ";
  std::string text;
  char byte = 0;
  while (error == 0 && read(log_, &byte, 1) == 1) {
    text += byte;
    const std::size_t begin = text.find(kReady);
    if (byte != '\n' || begin == std::string::npos) continue;
    const std::size_t address = begin + sizeof kReady - 1;
    listen_ = text.substr(address, text.find('\n', address) - address);
    return;
  }
  std::fprintf(stderr, "chaos: %s did not start on %s: %s\n", program_.c_str(), listen_.c_str(),
               text.c_str());
  std::exit(1);
}

void ServerProcess::Signal(int signal) const { kill(pid_, signal); }

void ServerProcess::Reap() {
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  close(log_);
}

void ServerProcess::Kill() {
  Signal(SIGKILL);
  Reap();
}

void ServerProcess::Terminate() {
  Signal(SIGTERM);
  Reap();
}

void ServerProcess::Freeze() { Signal(SIGSTOP); }

void ServerProcess::Thaw() { Signal(SIGCONT); }

}  // namespace phasor::chaos
