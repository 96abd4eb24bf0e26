#ifndef PHASOR_TESTS_INTEGRATION_CHAOS_SERVER_PROCESS_H_
#define PHASOR_TESTS_INTEGRATION_CHAOS_SERVER_PROCESS_H_

#include <sys/types.h>

#include <string>

namespace phasor::chaos {

/// A phasord that comes back where it was.
class ServerProcess {
 public:
  /// Starts `program` on `listen`; port 0 becomes a real one. Ends this process
  /// with a message if it does not come up.
  ServerProcess(std::string program, std::string listen);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  const std::string& address() const { return listen_; }
  void Start();
  /// Ends it at once, without a word to anybody.
  void Kill();
  /// SIGTERM, and waits until it has answered what is under way.
  void Terminate();
  /// Stops it where it stands, connections open, and lets it go on.
  void Freeze();
  void Thaw();

 private:
  void Signal(int signal) const;
  void Reap();

  std::string program_;
  std::string listen_;
  pid_t pid_ = -1;
  int log_ = -1;
};

}  // namespace phasor::chaos

#endif  // PHASOR_TESTS_INTEGRATION_CHAOS_SERVER_PROCESS_H_
