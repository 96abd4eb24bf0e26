#ifndef PHASOR_TESTS_INTEGRATION_CHAOS_CUTTING_PROXY_H_
#define PHASOR_TESTS_INTEGRATION_CHAOS_CUTTING_PROXY_H_

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

namespace phasor::chaos {

/// A way to a server on a UNIX socket that breaks: each connection ends after
/// some bytes of answers, wherever in a message that is.
class CuttingProxy {
 public:
  /// Connections carry between a kilobyte and twice `mean_bytes` back.
  CuttingProxy(std::string server_path, std::uint32_t seed, std::uint32_t mean_bytes);
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;
  ~CuttingProxy();

  /// "127.0.0.1:port".
  const std::string& address() const { return address_; }
  int cuts() const { return cuts_; }

 private:
  void Serve();
  void Forward(int client, std::int64_t budget);

  const std::string server_path_;
  const std::uint32_t mean_bytes_;
  std::mt19937 random_;
  std::string address_;
  int listener_ = -1;
  std::atomic<bool> ends_{false};
  std::atomic<int> cuts_{0};
  std::thread thread_;
};

}  // namespace phasor::chaos

#endif  // PHASOR_TESTS_INTEGRATION_CHAOS_CUTTING_PROXY_H_
