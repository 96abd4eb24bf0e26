#include "server/stream_call.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "phasor/v1/position_table_service.pb.h"
#include "server/failure.h"
#include "server/range_reader.h"
#include "server/range_request.h"
#include "server/rows_handlers.h"

namespace phasor::server {
namespace {

// At any time one thread has the call: gRPC's while it is started, during a
// write and for OnWriteDone, the pool's between Submit or Resume and the end of
// a Step. Nothing of it is touched after handing it on.
class ReadRowsCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public WorkPool::Job {
 public:
  ReadRowsCall(Backend* backend, grpc::CallbackServerContext* context,
               const grpc::ByteBuffer* request)
      : in_flight_(&backend->calls),
        streaming_(&backend->streams),
        backend_(backend),
        context_(context),
        request_(request) {}

  void Begin() {
    try {
      if (request_->Length() > kMaxInlineRequestBytes) {
        absl::StatusOr<Charge> charge = ReserveForRequest(*request_, &backend_->cache);
        if (!charge.ok()) return End(charge.status());
        charge_.emplace(*std::move(charge));
      } else {
        absl::Status status = Start();
        if (!status.ok()) return End(status);
        if (reader_->TryCached()) return Write();
      }
    } catch (...) {
      return End(CurrentExceptionStatus());
    }
    absl::Status taken = backend_->pool.Submit(this);
    if (!taken.ok()) End(taken);
  }

  Progress Step() override {
    absl::Status status = CheckWanted(*backend_, *context_);
    if (status.ok() && !reader_.has_value()) {
      status = Start();
      charge_.reset();
      if (status.ok()) return Progress::kAgain;
    }
    if (!status.ok()) {
      End(status);
      return Progress::kDone;
    }
    const absl::StatusOr<Progress> progress = reader_->Step(Resume(&backend_->pool, this), [&] {
      return !(status = CheckWanted(*backend_, *context_)).ok();
    });
    if (!progress.ok()) {
      End(status.ok() ? progress.status() : status);
      return Progress::kDone;
    }
    // From the pool's view a call that is being written is done; OnWriteDone
    // brings it back.
    if (*progress == Progress::kDone) Write();
    return *progress;
  }

  void Fail(absl::Status status) override { End(status); }

  void OnWriteDone(bool ok) override {
    if (!ok) return End(absl::CancelledError("the call was cancelled"));
    try {
      absl::Status wanted = CheckWanted(*backend_, *context_);
      if (!wanted.ok()) return End(wanted);
      reader_->BeginMessage();
      if (reader_->TryCached()) return Write();
    } catch (...) {
      return End(CurrentExceptionStatus());
    }
    backend_->pool.Resume(this);
  }

  void OnDone() override { delete this; }

 private:
  absl::Status Start() {
    auto request = ReadRangeRequest<v1::ReadRowsRequest>(*request_, backend_->learned_tables,
                                                         &backend_->known_specs);
    if (!request.ok()) return request.status();
    const CanonicalSpec& spec = *request->spec;
    if (request->count > 0) {
      absl::Status status = CheckRowSize(spec, request->start, backend_->max_message_bytes);
      if (!status.ok()) return status;
    }
    const std::int64_t max_rows =
        std::max<std::int64_t>(1, MaxChunkBytes(backend_->max_message_bytes) / spec.row_bytes());
    reader_.emplace(backend_, *std::move(request), max_rows);
    reader_->BeginMessage();
    return absl::OkStatus();
  }

  void Write() {
    message_ = reader_->TakeMessage();
    try {
      reader_->MakeAhead();
    } catch (const std::bad_alloc&) {
      // Then the next message waits until it is asked for.
    }
    if (reader_->finished()) {
      StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
    } else {
      StartWrite(&message_);
    }
  }

  void End(const absl::Status& status) { Finish(EndingStatus(status, context_)); }

  const CallCount::Call in_flight_;
  const CallCount::Call streaming_;
  Backend* const backend_;
  grpc::CallbackServerContext* const context_;
  const grpc::ByteBuffer* const request_;
  std::optional<Charge> charge_;
  std::optional<RangeReader> reader_;
  grpc::ByteBuffer message_;
};

}  // namespace

std::int64_t MaxChunkBytes(std::int64_t max_message_bytes) {
  return std::min(kMaxChunkBytes, max_message_bytes - kMaxRowsHeadBytes);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartReadRowsCall(Backend* backend,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request) {
  auto* call = new ReadRowsCall(backend, context, request);
  call->Begin();
  return call;
}

}  // namespace phasor::server
