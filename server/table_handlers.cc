#include "server/table_handlers.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "phasor/v1/position_table_service.pb.h"
#include "server/request.h"
#include "server/stream_call.h"
#include "server/version.h"

namespace phasor::server {
namespace {

constexpr std::int64_t kDefaultPageSize = 100;
constexpr std::int64_t kMaxPageSize = 1000;
// A larger spec is left out of a list.
constexpr std::size_t kMaxListedSpecBytes = std::size_t{16} << 10;
// Room for what surrounds the items of a list.
constexpr std::size_t kListMarginBytes = 64;

// A method whose work is done when its request is checked.
class ImmediateHandler : public UnaryHandler {
 public:
  bool TryAnswer() override { return true; }
  absl::StatusOr<Progress> Step(Resume, StopRequest) override { return Progress::kDone; }
};

class GetTableHandler final : public ImmediateHandler {
 public:
  explicit GetTableHandler(Backend* backend) : backend_(backend) {}

  absl::Status Start(const grpc::ByteBuffer& bytes) override {
    v1::GetTableRequest request;
    absl::Status status = Decode(bytes, &request);
    if (!status.ok()) return status;
    absl::StatusOr<CanonicalSpec> spec = CheckTable(request, backend_->learned_tables);
    if (!spec.ok()) return spec.status();
    v1::GetTableResponse table;
    *table.mutable_spec() = CanonicalToProto(*spec);
    *table.mutable_effective_spec() = EffectiveToProto(*spec);
    table.set_fingerprint(spec->fingerprint());
    table.set_row_width(spec->row_width());
    table.set_row_bytes(spec->row_bytes());
    if (spec->bounded()) {
      table.set_row_count(spec->last_position() - spec->first_position() + 1);
    }
    if (const auto factor = spec->attention_factor()) table.set_attention_factor(*factor);
    table.set_first_position(spec->first_position());
    table.set_last_position(spec->last_position());
    const auto* learned = std::get_if<LearnedTable>(&spec->spec().scheme);
    table.set_numerics_description(
        spec->element_type() == ElementType::kInt32
            ? "EXACT: every element is the integer that its formula gives"
            : absl::StrCat(
                  "EXACT: every element is ",
                  learned == nullptr ? "the real value of its formula" : "the checkpoint's number",
                  ", rounded once to ", std::string(ElementTypeName(spec->element_type())),
                  ", to nearest, ties to even"));
    if (const auto held = learned == nullptr ? nullptr : Held(*learned)) {
      table.set_nan_count(held->rows.survey.nans);
      table.set_infinity_count(held->rows.survey.infinities);
    }
    // A spec that holds many frequencies is sent once rather than not at all.
    const auto bytes_needed = [&] { return static_cast<std::int64_t>(table.ByteSizeLong()); };
    if (bytes_needed() > backend_->max_message_bytes) table.clear_effective_spec();
    status = CheckFits("spec", "the table's spec", bytes_needed(), backend_->max_message_bytes);
    if (!status.ok()) return status;
    response() = Encode(table);
    return absl::OkStatus();
  }

 private:
  // The rows that `table` means, unless they were replaced meanwhile.
  std::shared_ptr<const LoadedTable> Held(const LearnedTable& table) const {
    auto held = backend_->learned_tables.Find(table.name);
    return held != nullptr && held->scheme() == table ? held : nullptr;
  }

  Backend* const backend_;
};

class GetFrequenciesHandler final : public UnaryHandler {
 public:
  explicit GetFrequenciesHandler(Backend* backend) : backend_(backend) {}

  absl::Status Start(const grpc::ByteBuffer& bytes) override {
    v1::GetFrequenciesRequest request;
    absl::Status status = Decode(bytes, &request);
    if (!status.ok()) return status;
    absl::StatusOr<CanonicalSpec> spec = CheckTable(request, backend_->learned_tables);
    if (!spec.ok()) return spec.status();
    status =
        CheckFits(absl::StrCat("spec.", std::string(SchemeName(spec->spec().scheme)), ".width"),
                  absl::StrCat(spec->pairs(), " frequencies"),
                  8 * spec->pairs() + static_cast<std::int64_t>(kListMarginBytes),
                  backend_->max_message_bytes);
    if (!status.ok()) return status;
    spec_.emplace(*std::move(spec));
    return absl::OkStatus();
  }

  bool TryAnswer() override { return false; }

  absl::StatusOr<Progress> Step(Resume, StopRequest stop) override {
    absl::StatusOr<std::vector<double>> frequencies = Frequencies(*spec_, stop);
    if (!frequencies.ok()) return frequencies.status();
    v1::GetFrequenciesResponse answer;
    answer.set_fingerprint(spec_->fingerprint());
    answer.mutable_frequencies()->Add(frequencies->begin(), frequencies->end());
    response() = Encode(answer);
    return Progress::kDone;
  }

 private:
  Backend* const backend_;
  std::optional<CanonicalSpec> spec_;
};

class ListTablesHandler final : public UnaryHandler {
 public:
  explicit ListTablesHandler(Backend* backend) : backend_(backend) {}

  absl::Status Start(const grpc::ByteBuffer& bytes) override {
    v1::ListTablesRequest request;
    absl::Status status = Decode(bytes, &request);
    if (!status.ok()) return status;
    page_size_ = request.has_page_size() ? request.page_size() : kDefaultPageSize;
    if (page_size_ < 1 || page_size_ > kMaxPageSize) {
      return FieldError(absl::StatusCode::kInvalidArgument, "page_size",
                        absl::StrCat(page_size_, " is not in 1 ... ", kMaxPageSize));
    }
    if (!request.page_token().empty() && !IsFingerprint(request.page_token())) {
      return FieldError(absl::StatusCode::kInvalidArgument, "page_token",
                        "is not the next_page_token of an earlier page");
    }
    after_ = absl::HexStringToBytes(request.page_token());
    return absl::OkStatus();
  }

  // Writing specs of up to 1000 tables takes its time.
  bool TryAnswer() override { return false; }

  absl::StatusOr<Progress> Step(Resume, StopRequest) override {
    v1::ListTablesResponse page;
    std::size_t page_bytes = kListMarginBytes;
    for (v1::TableInfo& info : Tables()) {
      page_bytes += info.ByteSizeLong() + kListMarginBytes;
      if (page.tables_size() == page_size_ ||
          page_bytes > static_cast<std::size_t>(backend_->max_message_bytes)) {
        page.set_next_page_token(page.tables(page.tables_size() - 1).fingerprint());
        break;
      }
      *page.add_tables() = std::move(info);
    }
    response() = Encode(page);
    return Progress::kDone;
  }

 private:
  // Opened tables, and loaded ones that are not opened as FLOAT32, in order of
  // fingerprint from the first after `after_`. One more than asked for tells
  // whether there is a next page.
  std::vector<v1::TableInfo> Tables() const {
    const auto most = static_cast<std::size_t>(page_size_) + 1;
    const auto* after = reinterpret_cast<const std::uint8_t*>(after_.data());
    std::map<std::string, v1::TableInfo> tables;
    for (const auto& loaded : backend_->learned_tables.All()) {
      const absl::StatusOr<CanonicalSpec> spec = CanonicalSpec::Create(loaded->scheme());
      if (!spec.ok() || spec->fingerprint() <= absl::BytesToHexString(after_)) continue;
      v1::TableInfo& info = tables[spec->fingerprint()];
      *info.mutable_spec() = CanonicalToProto(*spec);
      info.set_fingerprint(spec->fingerprint());
    }
    for (const TablePtr& table :
         backend_->cache.Tables(absl::MakeConstSpan(after, after_.size()), most)) {
      tables[table->fingerprint()] = Describe(*table);
    }
    std::vector<v1::TableInfo> result;
    for (auto& [fingerprint, info] : tables) {
      if (result.size() == most) break;
      result.push_back(std::move(info));
    }
    return result;
  }

  static v1::TableInfo Describe(const OpenTable& table) {
    v1::TableInfo info;
    v1::TableSpec spec = CanonicalToProto(table.spec());
    if (spec.ByteSizeLong() <= kMaxListedSpecBytes) *info.mutable_spec() = std::move(spec);
    info.set_fingerprint(table.fingerprint());
    info.set_cached_bytes(table.cached_bytes());
    info.set_cached_blocks(table.cached_blocks());
    info.set_hits(table.hits());
    info.set_misses(table.misses());
    return info;
  }

  Backend* const backend_;
  std::int64_t page_size_ = 0;
  std::string after_;
};

class GetServerInfoHandler final : public ImmediateHandler {
 public:
  explicit GetServerInfoHandler(Backend* backend) : backend_(backend) {}

  absl::Status Start(const grpc::ByteBuffer& bytes) override {
    v1::GetServerInfoRequest request;
    absl::Status status = Decode(bytes, &request);
    if (!status.ok()) return status;
    v1::GetServerInfoResponse info;
    info.set_version(kVersion);
    info.set_numerics_version(kNumericsVersion);
    info.set_max_message_bytes(backend_->max_message_bytes);
    info.set_max_chunk_bytes(MaxChunkBytes(backend_->max_message_bytes));
    info.set_cache_bytes(backend_->cache.limits().cache_bytes);
    info.set_cached_bytes(backend_->cache.live_bytes());
    info.set_max_width(kMaxWidth);
    info.set_settled_elements(backend_->cache.settled().settled);
    info.set_costly_elements(backend_->cache.settled().costly);
    response() = Encode(info);
    return absl::OkStatus();
  }

 private:
  Backend* const backend_;
};

}  // namespace

std::unique_ptr<UnaryHandler> NewGetTableHandler(Backend* backend) {
  return std::make_unique<GetTableHandler>(backend);
}
std::unique_ptr<UnaryHandler> NewGetFrequenciesHandler(Backend* backend) {
  return std::make_unique<GetFrequenciesHandler>(backend);
}
std::unique_ptr<UnaryHandler> NewListTablesHandler(Backend* backend) {
  return std::make_unique<ListTablesHandler>(backend);
}
std::unique_ptr<UnaryHandler> NewGetServerInfoHandler(Backend* backend) {
  return std::make_unique<GetServerInfoHandler>(backend);
}

}  // namespace phasor::server
