#include "client/src/background_call.h"

#include <atomic>
#include <utility>

#include "client/src/fork.h"
#include "grpcpp/client_context.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/client_callback.h"

namespace phasor::internal {

class BackgroundCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  BackgroundCall(BackgroundCalls* all, const grpc::ByteBuffer& request,
                 std::function<absl::Status(grpc::ByteBuffer*)> on_response,
                 std::function<void(const Attempt&)> done)
      : all_(all),
        request_(request),
        on_response_(std::move(on_response)),
        done_(std::move(done)) {}

  void Start(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head) {
    PrepareContext(head, context_);
    grpc::GenericStub(channel).PrepareBidiStreamingCall(&context_, head.method, {}, this);
    StartWriteLast(&request_, grpc::WriteOptions());
    StartRead(&response_);
    StartCall();
  }

  void Cancel() {
    cancelled_ = true;
    context_.TryCancel();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    refused_ = on_response_(&response_);
    if (refused_.ok()) {
      StartRead(&response_);
    } else {
      context_.TryCancel();
    }
  }

  void OnDone(const grpc::Status& status) override {
    Attempt attempt = status.ok() ? Attempt{} : FailedAttempt(status, context_);
    if (!refused_.ok()) attempt = Attempt{.status = refused_};
    if (cancelled_) attempt = Attempt{.status = absl::CancelledError("the client ends")};
    done_(attempt);
    // The context goes before the connection may: it holds the channel, whose
    // end waits for this very thread.
    BackgroundCalls* const all = all_;
    all->Forget(this);
    delete this;
    all->Ended();
  }

 private:
  BackgroundCalls* const all_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  std::function<absl::Status(grpc::ByteBuffer*)> on_response_;
  std::function<void(const Attempt&)> done_;
  absl::Status refused_;
  std::atomic<bool> cancelled_{false};
};

BackgroundCalls::~BackgroundCalls() {
  if (GrpcLostByFork()) return;  // they are the parent's
  absl::MutexLock lock(&mutex_);
  for (BackgroundCall* call : calls_) call->Cancel();
  mutex_.Await(absl::Condition(
      +[](int* running) { return *running == 0; }, &running_));
}

void BackgroundCalls::Start(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                            const grpc::ByteBuffer& request,
                            std::function<absl::Status(grpc::ByteBuffer*)> on_response,
                            std::function<void(const Attempt&)> done) {
  auto* call = new BackgroundCall(this, request, std::move(on_response), std::move(done));
  {
    absl::MutexLock lock(&mutex_);
    calls_.insert(call);
    ++running_;
  }
  call->Start(channel, head);
}

void BackgroundCalls::Forget(BackgroundCall* call) {
  absl::MutexLock lock(&mutex_);
  calls_.erase(call);
}

void BackgroundCalls::Ended() {
  absl::MutexLock lock(&mutex_);
  --running_;
}

}  // namespace phasor::internal
