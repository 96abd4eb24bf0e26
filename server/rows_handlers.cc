#include "server/rows_handlers.h"

#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "phasor/core/errors.h"
#include "phasor/v1/position_table_service.pb.h"
#include "server/range_reader.h"
#include "server/range_request.h"
#include "server/request.h"

namespace phasor::server {
namespace {

class GetRowsHandler final : public UnaryHandler {
 public:
  explicit GetRowsHandler(Backend* backend) : backend_(backend) {}

  absl::Status Start(const grpc::ByteBuffer& bytes) override {
    auto request = ReadRangeRequest<v1::GetRowsRequest>(bytes, backend_->learned_tables,
                                                        &backend_->known_specs);
    if (!request.ok()) return request.status();
    absl::Status status = CheckMessageSize(*request->spec, request->start, request->count,
                                           backend_->max_message_bytes, "row_count",
                                           "read longer ranges with ReadRows");
    if (!status.ok()) return status;
    reader_.emplace(backend_, *std::move(request));
    reader_->BeginMessage(std::numeric_limits<std::int64_t>::max());
    return absl::OkStatus();
  }

  bool TryAnswer() override {
    if (!reader_->TryShort()) return false;
    response() = reader_->TakeMessage();
    return true;
  }

  absl::StatusOr<Progress> Step(Resume resume, StopRequest stop) override {
    absl::StatusOr<Progress> progress = reader_->Step(resume, stop);
    if (progress.ok() && *progress == Progress::kDone) response() = reader_->TakeMessage();
    return progress;
  }

 private:
  Backend* const backend_;
  std::optional<RangeReader> reader_;
};

}  // namespace

absl::Status CheckRowSize(const CanonicalSpec& spec, std::int64_t start,
                          std::int64_t max_message_bytes) {
  const RowsHead head = RangeReader::HeadOf(spec, start, 1);
  return CheckFits("spec", "one row", RowsMessageBytes(head, spec.row_bytes()), max_message_bytes);
}

absl::Status CheckMessageSize(const CanonicalSpec& spec, std::int64_t start, std::int64_t count,
                              std::int64_t max_message_bytes, absl::string_view field,
                              absl::string_view way_out) {
  // Few enough, whatever the head: nearly always.
  if (count <= (max_message_bytes - kMaxRowsHeadBytes) / spec.row_bytes()) {
    return absl::OkStatus();
  }
  if (count > 0) {
    // Rows that cannot be sent one by one cannot be asked for in parts.
    absl::Status one_row = CheckRowSize(spec, start, max_message_bytes);
    if (!one_row.ok()) return one_row;
  }
  // Far too many rows first: the product of what is left cannot overflow.
  if (count <= max_message_bytes / spec.row_bytes()) {
    const RowsHead head = RangeReader::HeadOf(spec, start, count);
    if (RowsMessageBytes(head, count * spec.row_bytes()) <= max_message_bytes) {
      return absl::OkStatus();
    }
  }
  std::ostringstream bytes;
  bytes << absl::uint128(static_cast<std::uint64_t>(count)) *
               static_cast<std::uint64_t>(spec.row_bytes());
  return FieldError(absl::StatusCode::kResourceExhausted, field,
                    absl::StrCat(count, " rows of ", spec.row_bytes(), " bytes are ", bytes.str(),
                                 " bytes; a message, head included, has at most max_message_bytes"
                                 " = ",
                                 max_message_bytes, ": ", way_out));
}

std::unique_ptr<UnaryHandler> NewGetRowsHandler(Backend* backend) {
  return std::make_unique<GetRowsHandler>(backend);
}

}  // namespace phasor::server
