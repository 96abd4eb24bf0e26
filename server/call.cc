#include "server/call.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/status_codec.h"
#include "server/failure.h"

namespace phasor::server {
namespace {

// A decoded request beside the bytes it came in: messages that hold much data
// are about as large again, and lists of small numbers larger than that.
constexpr std::int64_t kBytesPerRequestByte = 3;

class UnaryCall final : public grpc::ServerUnaryReactor, public WorkPool::Job {
 public:
  UnaryCall(Backend* backend, std::unique_ptr<UnaryHandler> handler,
            grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
            grpc::ByteBuffer* response)
      : in_flight_(&backend->calls),
        backend_(backend),
        handler_(std::move(handler)),
        context_(context),
        request_(request),
        response_(response) {}

  // Nothing of the call is touched after End, Submit or Step: it may be gone.
  void Begin() {
    try {
      if (request_->Length() > kMaxInlineRequestBytes) {
        absl::StatusOr<Charge> charge = ReserveForRequest(*request_, &backend_->cache);
        if (!charge.ok()) return End(charge.status());
        charge_.emplace(*std::move(charge));
      } else if (std::optional<absl::Status> end = Start()) {
        return End(*end);
      }
    } catch (...) {
      return End(CurrentExceptionStatus());
    }
    absl::Status taken = backend_->pool.Submit(this);
    if (!taken.ok()) End(taken);
  }

  Progress Step() override {
    absl::Status wanted = CheckWanted(*context_);
    if (!wanted.ok()) {
      End(wanted);
      return Progress::kDone;
    }
    if (!started_) {
      std::optional<absl::Status> end = Start();
      if (!end.has_value()) return Progress::kAgain;
      End(*end);
      return Progress::kDone;
    }
    const absl::StatusOr<Progress> progress = handler_->Step(
        Resume(&backend_->pool, this), [&] { return !(wanted = CheckWanted(*context_)).ok(); });
    if (progress.ok() && *progress != Progress::kDone) return *progress;
    End(wanted.ok() ? progress.status() : wanted);
    return Progress::kDone;
  }

  void Fail(absl::Status status) override { End(status); }

  void OnDone() override { delete this; }

 private:
  // Returns how the call ends, if it does so without further work.
  std::optional<absl::Status> Start() {
    started_ = true;
    absl::Status status = handler_->Start(*request_);
    if (!status.ok() || handler_->TryAnswer()) return status;
    return std::nullopt;
  }

  void End(absl::Status status) {
    const auto bytes = static_cast<std::int64_t>(handler_->response().Length());
    if (status.ok() && bytes > backend_->max_message_bytes) {
      status = absl::ResourceExhaustedError(
          absl::StrCat("the response has ", bytes, " bytes, more than max_message_bytes = ",
                       backend_->max_message_bytes, ": raise the server's --max_message_bytes"));
    }
    if (status.ok()) response_->Swap(&handler_->response());
    Finish(EndingStatus(status, context_));
  }

  const CallCount::Call in_flight_;
  Backend* const backend_;
  const std::unique_ptr<UnaryHandler> handler_;
  grpc::CallbackServerContext* const context_;
  const grpc::ByteBuffer* const request_;
  grpc::ByteBuffer* const response_;
  std::optional<Charge> charge_;
  bool started_ = false;
};

}  // namespace

absl::Status CheckWanted(const grpc::CallbackServerContext& context) {
  if (context.deadline() <= std::chrono::system_clock::now()) {
    return absl::DeadlineExceededError("the call's deadline has passed");
  }
  if (context.IsCancelled()) return absl::CancelledError("the call was cancelled");
  return absl::OkStatus();
}

grpc::Status EndingStatus(const absl::Status& status, grpc::CallbackServerContext* context) {
  if (status.code() == absl::StatusCode::kUnavailable) {
    context->AddTrailingMetadata("grpc-retry-pushback-ms",
                                 absl::StrCat(absl::ToInt64Milliseconds(kRetryDelay)));
  }
  return ToGrpcStatus(status);
}

absl::StatusOr<Charge> ReserveForRequest(const grpc::ByteBuffer& request, BlockCache* cache) {
  return cache->Reserve(kBytesPerRequestByte * static_cast<std::int64_t>(request.Length()));
}

grpc::ServerUnaryReactor* StartUnaryCall(Backend* backend, std::unique_ptr<UnaryHandler> handler,
                                         grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) {
  auto* call = new UnaryCall(backend, std::move(handler), context, request, response);
  call->Begin();
  return call;
}

}  // namespace phasor::server
