#include "server/stream_call.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "phasor/v1/position_table_service.pb.h"
#include "server/failure.h"
#include "server/range_reader.h"
#include "server/range_request.h"
#include "server/rows_handlers.h"

namespace phasor::server {
namespace {

// Messages on their way, and those made while others are sent, may hold at most
// this part of the memory for rows; so they are smaller where streams are many.
constexpr std::int64_t kStreamsPart = 2;
// What a message is worth making for.
constexpr std::int64_t kLeastChunkBytes = std::int64_t{64} << 10;

// A message is made while the one before it is sent. Each of the two is done by
// one thread at a time: sending by gRPC, making by gRPC's while the call is
// started and by the pool's between Submit or Resume and the end of a Step.
// The one that ends last goes on with the call. Nothing of it is touched after
// handing it on.
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
        made_ = reader_->TryShort();
      }
    } catch (...) {
      return End(CurrentExceptionStatus());
    }
    if (made_) return GoOn();
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
    if (status.ok()) {
      const absl::StatusOr<Progress> progress = reader_->Step(Resume(&backend_->pool, this), [&] {
        WorkPool::GiveWay();
        return !(status = CheckWanted(*backend_, *context_)).ok();
      });
      if (progress.ok() && *progress != Progress::kDone) return *progress;
      if (status.ok()) status = progress.status();
    }
    // From the pool's view the call is done; the next message brings it back.
    Made(std::move(status));
    return Progress::kDone;
  }

  void Fail(absl::Status status) override { Made(std::move(status)); }

  void OnWriteDone(bool ok) override {
    if (!ok) sent_ = absl::CancelledError("the call was cancelled");
    if (IsLast()) GoOn();
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
    row_bytes_ = spec.row_bytes();
    reader_.emplace(backend_, *std::move(request));
    reader_->BeginMessage(MaxRows());
    return absl::OkStatus();
  }

  // What this stream may hold of what all of them may.
  std::int64_t ShareBytes() const {
    const BlockCache::Limits& limits = backend_->cache.limits();
    return (limits.cache_bytes + limits.working_bytes) / kStreamsPart / backend_->streams.count();
  }

  std::int64_t MaxRows() const {
    const std::int64_t most = MaxChunkBytes(backend_->max_message_bytes);
    return std::max<std::int64_t>(
        1, std::clamp(ShareBytes(), std::min(kLeastChunkBytes, most), most) / row_bytes_);
  }

  // With the call to itself: sends the message that is made, and begins the
  // next one.
  void GoOn() {
    do {
      if (!sent_.ok()) return End(sent_);
      // There may be room for the next message now that this one is sent.
      if (ahead_ && absl::IsUnavailable(making_)) making_ = absl::OkStatus();
      if (!making_.ok()) return End(making_);
      ahead_ = false;
      under_way_ = 1;
      if (std::exchange(made_, false)) {
        try {
          message_ = reader_->TakeMessage();
        } catch (...) {
          return End(CurrentExceptionStatus());
        }
        if (reader_->finished()) {
          return StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
        }
        ahead_ = ShareBytes() >= 2 * kMaxChunkBytes;
        const bool ahead = ahead_;
        if (ahead) under_way_ = 2;
        StartWrite(&message_);
        if (!ahead) return;
      }
    } while (MakeHere() && IsLast());
  }

  // Begins the next message; whether that is done with here and now.
  bool MakeHere() {
    try {
      making_ = CheckWanted(*backend_, *context_);
      if (!making_.ok()) return true;
      reader_->BeginMessage(MaxRows());
      made_ = reader_->TryShort();
      if (made_) return true;
    } catch (...) {
      making_ = CurrentExceptionStatus();
      return true;
    }
    backend_->pool.Resume(this);
    return false;
  }

  void Made(absl::Status status) {
    made_ = status.ok();
    making_ = std::move(status);
    if (IsLast()) GoOn();
  }

  bool IsLast() { return under_way_.fetch_sub(1) == 1; }

  void End(const absl::Status& status) { Finish(EndingStatus(status, context_)); }

  const CallCount::Call in_flight_;
  const CallCount::Call streaming_;
  Backend* const backend_;
  grpc::CallbackServerContext* const context_;
  const grpc::ByteBuffer* const request_;
  std::optional<Charge> charge_;

  // Of sending and making, those that are under way.
  std::atomic<int> under_way_ = 1;

  // Making's, while it is under way.
  std::int64_t row_bytes_ = 0;
  std::optional<RangeReader> reader_;
  bool made_ = false;
  absl::Status making_;

  // Sending's.
  grpc::ByteBuffer message_;
  absl::Status sent_;
  // Whether the message under way is made while another is sent.
  bool ahead_ = false;
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
