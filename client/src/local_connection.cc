#include "client/src/local_connection.h"

#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "phasor/core/errors.h"

namespace phasor::internal {

absl::StatusOr<CanonicalSpec> Connection::Resolve(const LearnedTable& table, ElementType /*type*/,
                                                  CallLimits /*limits*/) {
  if (absl::Status status = CheckTableName(table.name); !status.ok()) return status;
  return FieldError(absl::StatusCode::kNotFound, "spec.learned_table.name",
                    absl::StrCat("\"", table.name,
                                 "\" is in a checkpoint that a server loads, and cannot be "
                                 "computed here; ask a server"));
}

absl::Status LocalConnection::Open(const TableHandle& table, CallLimits limits) {
  const auto* learned = std::get_if<LearnedTable>(&table.spec().spec().scheme);
  return learned == nullptr ? absl::OkStatus()
                            : Resolve(*learned, table.spec().element_type(), limits).status();
}

absl::Status LocalConnection::Read(const TableHandle& table, std::int64_t start, std::int64_t count,
                                   absl::Span<std::byte> out, CallLimits /*limits*/) {
  return table.local().ReadInto(start, count, out);
}

void LocalConnection::StartRead(std::shared_ptr<const TableHandle> /*table*/,
                                std::int64_t /*start*/, std::int64_t /*count*/, Parts /*parts*/,
                                absl::Time /*deadline*/, std::function<void(absl::Status)> done) {
  done(absl::UnimplementedError("there is no wait to be hidden"));
}

absl::Status LocalConnection::Gather(absl::Span<const GatherJob> jobs, CallLimits /*limits*/) {
  for (const GatherJob& job : jobs) {
    const LocalTable& table = job.table->local();
    const std::size_t rows = job.out.size() / static_cast<std::size_t>(table.spec().row_bytes());
    absl::Status status = std::visit(
        [&](auto span) {
          return span.size() == rows ? table.GatherInto(span, job.out)
                                     : table.GatherAxesInto(span, job.out);
        },
        job.positions);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LocalConnection::Shift(const TableHandle& table, ShiftBy by,
                                    absl::Span<const std::byte> rows, absl::Span<std::byte> out,
                                    CallLimits /*limits*/) {
  absl::Status status = ShiftRows(table.spec(), by, rows, out);
  if (FieldOf(status) != "rows") return status;
  // Table's name for it, which is the wire's.
  return FieldError(status.code(), "data", absl::StripPrefix(status.message(), "rows: "));
}

absl::StatusOr<std::vector<double>> LocalConnection::Frequencies(const TableHandle& table,
                                                                 CallLimits /*limits*/) {
  return phasor::Frequencies(table.spec());
}

absl::StatusOr<std::vector<TableInfo>> LocalConnection::ListTables(CallLimits /*limits*/) {
  return std::vector<TableInfo>();
}

absl::StatusOr<ServerInfo> LocalConnection::GetServerInfo(CallLimits /*limits*/) {
  ServerInfo info;
  info.version = PHASOR_VERSION;
  info.numerics_version = 1;
  info.max_width = kMaxWidth;
  return info;
}

absl::StatusOr<ServingStatus> LocalConnection::CheckHealth(absl::string_view /*service*/,
                                                           CallLimits /*limits*/) {
  return ServingStatus::kServing;
}

}  // namespace phasor::internal
