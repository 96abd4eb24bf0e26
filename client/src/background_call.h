#ifndef PHASOR_CLIENT_SRC_BACKGROUND_CALL_H_
#define PHASOR_CLIENT_SRC_BACKGROUND_CALL_H_

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "client/src/call.h"
#include "client/src/retry.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/byte_buffer.h"

namespace phasor::internal {

class BackgroundCall;

/// The calls of a connection that nobody waits for. They run on gRPC's own
/// threads, which are few, so that what is called from there may not block.
class BackgroundCalls {
 public:
  BackgroundCalls() = default;
  BackgroundCalls(const BackgroundCalls&) = delete;
  BackgroundCalls& operator=(const BackgroundCalls&) = delete;
  /// Cancels what is on the way, and returns when all of it has ended.
  ~BackgroundCalls();

  /// A call that has a stream of responses: `on_response` with each of them
  /// until it gives an error, then `done`, once.
  void Start(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
             const grpc::ByteBuffer& request,
             std::function<absl::Status(grpc::ByteBuffer*)> on_response,
             std::function<void(const Attempt&)> done);

 private:
  friend class BackgroundCall;
  void Forget(BackgroundCall* call);
  void Ended();

  absl::Mutex mutex_;
  absl::flat_hash_set<BackgroundCall*> calls_ ABSL_GUARDED_BY(mutex_);  // to cancel
  int running_ ABSL_GUARDED_BY(mutex_) = 0;                             // those that end, too
};

}  // namespace phasor::internal

#endif  // PHASOR_CLIENT_SRC_BACKGROUND_CALL_H_
