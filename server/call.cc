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

// A larger response counts as in flight until it is sent.
constexpr std::size_t kMaxUncountedBytes = std::size_t{2} << 20;

// Returns how the call ends, if it does so without further work.
std::optional<absl::Status> Start(UnaryHandler& handler, const grpc::ByteBuffer& request) {
  absl::Status status = handler.Start(request);
  if (!status.ok() || handler.TryAnswer()) return status;
  return std::nullopt;
}

// Moves the response to where gRPC takes it from, and returns its status.
grpc::Status Answer(absl::Status status, const Backend& backend, UnaryHandler& handler,
                    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  const auto bytes = static_cast<std::int64_t>(handler.response().Length());
  if (status.ok() && bytes > backend.max_message_bytes) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("the response has ", bytes, " bytes, more than max_message_bytes = ",
                     backend.max_message_bytes, ": raise the server's --max_message_bytes"));
  }
  if (status.ok()) response->Swap(&handler.response());
  return EndingStatus(status, context);
}

// A call that is not answered where it arrives.
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

  // Nothing of the call is touched after one of these or Step: it may be gone.

  // With a request that is not decoded yet.
  void Begin() {
    try {
      absl::StatusOr<Charge> charge = ReserveForRequest(*request_, &backend_->cache);
      if (!charge.ok()) return End(charge.status());
      charge_.emplace(*std::move(charge));
    } catch (...) {
      return End(CurrentExceptionStatus());
    }
    Submit();
  }

  // With a handler that is started.
  void Continue() {
    started_ = true;
    Submit();
  }

  void End(absl::Status status) {
    Finish(Answer(std::move(status), *backend_, *handler_, context_, response_));
  }

  Progress Step() override {
    absl::Status wanted = CheckWanted(*backend_, *context_);
    if (!wanted.ok()) {
      End(wanted);
      return Progress::kDone;
    }
    if (!started_) {
      started_ = true;
      std::optional<absl::Status> end = Start(*handler_, *request_);
      if (!end.has_value()) return Progress::kAgain;
      End(*end);
      return Progress::kDone;
    }
    const absl::StatusOr<Progress> progress = handler_->Step(Resume(&backend_->pool, this), [&] {
      WorkPool::GiveWay();
      return !(wanted = CheckWanted(*backend_, *context_)).ok();
    });
    if (progress.ok() && *progress != Progress::kDone) return *progress;
    End(wanted.ok() ? progress.status() : wanted);
    return Progress::kDone;
  }

  void Fail(absl::Status status) override { End(status); }

  void OnDone() override { delete this; }

 private:
  void Submit() {
    absl::Status taken = backend_->pool.Submit(this);
    if (!taken.ok()) End(taken);
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

absl::Status CheckWanted(const Backend& backend, const grpc::CallbackServerContext& context) {
  if (context.deadline() <= std::chrono::system_clock::now()) {
    return absl::DeadlineExceededError("the call's deadline has passed");
  }
  if (context.IsCancelled()) return absl::CancelledError("the call was cancelled");
  if (backend.ending) {
    return absl::UnavailableError(
        "the server is ending, and the time that calls in flight had for it is over; try again, "
        "a stream from the first row not received");
  }
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
  const bool here = request->Length() <= kMaxInlineRequestBytes;
  std::optional<absl::Status> end;
  if (here) {
    try {
      end = Start(*handler, *request);
    } catch (...) {
      end = CurrentExceptionStatus();
    }
    // gRPC's own reactor ends on the thread that it is on. Others go to another
    // thread first, which costs more than all that is done here.
    if (end.has_value() && handler->response().Length() <= kMaxUncountedBytes) {
      grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
      reactor->Finish(Answer(*std::move(end), *backend, *handler, context, response));
      return reactor;
    }
  }
  auto* call = new UnaryCall(backend, std::move(handler), context, request, response);
  if (end.has_value()) {
    call->End(*std::move(end));
  } else if (here) {
    call->Continue();
  } else {
    call->Begin();
  }
  return call;
}

}  // namespace phasor::server
