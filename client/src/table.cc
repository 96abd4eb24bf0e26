#include "phasor/table.h"

#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/src/open_table.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kInvalidArgument, field, what);
}

// Memory for `count` rows; not set, so that what is large is touched only as
// rows arrive.
absl::StatusOr<std::shared_ptr<std::byte[]>> Allocate(std::int64_t count, std::int64_t row_bytes,
                                                      absl::string_view field) {
  std::byte* memory = nullptr;
  if (count <= std::numeric_limits<std::int64_t>::max() / row_bytes) {
    memory = new (std::nothrow) std::byte[static_cast<std::size_t>(count * row_bytes)];
  }
  if (memory == nullptr) {
    return FieldError(absl::StatusCode::kResourceExhausted, field,
                      absl::StrCat("no memory for ", count, " rows of ", row_bytes, " bytes"));
  }
  return std::shared_ptr<std::byte[]>(memory);
}

// The same error, of a step among several.
absl::Status InStep(const absl::Status& status, std::size_t i) {
  const std::string field = FieldOf(status);
  return FieldError(status.code(), absl::StrCat("steps[", i, "].", field),
                    absl::StripPrefix(status.message(), absl::StrCat(field, ": ")));
}

absl::Status CheckSize(absl::Span<const std::byte> out, std::int64_t count,
                       std::int64_t row_bytes) {
  // Divided, not multiplied: the product may be past int64.
  const auto size = static_cast<std::int64_t>(out.size());
  if (size % row_bytes == 0 && size / row_bytes == count) return absl::OkStatus();
  return Bad("out", absl::StrCat("has ", size, " bytes, not ", count, " rows of ", row_bytes));
}

}  // namespace

const CanonicalSpec& Table::spec() const { return table_->spec(); }

const std::string& Table::fingerprint() const { return table_->handle().fingerprint(); }

absl::Status Table::CheckType(ElementType asked, absl::string_view field) const {
  if (asked == element_type()) return absl::OkStatus();
  return Bad(field, absl::StrCat("holds ", ElementTypeName(asked), ", the table is ",
                                 ElementTypeName(element_type())));
}

absl::StatusOr<Rows> Table::Read(std::int64_t start, std::int64_t count) const {
  absl::Status status = spec().CheckRange(start, count);
  if (!status.ok()) return status;
  auto memory = Allocate(count, row_bytes(), "row_count");
  if (!memory.ok()) return memory.status();
  status = table_->ReadInto(start, count,
                            {memory->get(), static_cast<std::size_t>(count * row_bytes())});
  if (!status.ok()) return status;
  return Rows(*std::move(memory), count, row_width(), element_type());
}

absl::Status Table::ReadInto(std::int64_t start, std::int64_t count,
                             absl::Span<std::byte> out) const {
  absl::Status status = spec().CheckRange(start, count);
  if (status.ok()) status = CheckSize(out, count, row_bytes());
  return status.ok() ? table_->ReadInto(start, count, out) : status;
}

template <typename T>
absl::Status Table::GatherRows(absl::Span<const T> positions, std::int64_t axes,
                               absl::Span<std::byte> out) const {
  const auto count = static_cast<std::int64_t>(positions.size());
  absl::Status status =
      spec().CheckAxes(axes, count, std::is_integral_v<T> ? "positions" : "real_positions");
  if (status.ok()) status = spec().CheckPositions(positions);
  if (status.ok()) status = CheckSize(out, count / axes, row_bytes());
  if (!status.ok() || positions.empty()) return status;
  internal::Session& session = table_->session();
  const internal::GatherJob job{&table_->handle(), positions, out};
  return session.connection().Gather(absl::MakeConstSpan(&job, 1), session.Limits());
}

template <typename T>
absl::StatusOr<Rows> Table::GatherRows(absl::Span<const T> positions, std::int64_t axes) const {
  const auto count = static_cast<std::int64_t>(positions.size()) / axes;
  auto memory =
      Allocate(count, row_bytes(), std::is_integral_v<T> ? "positions" : "real_positions");
  if (!memory.ok()) return memory.status();
  absl::Status status =
      GatherRows(positions, axes, {memory->get(), static_cast<std::size_t>(count * row_bytes())});
  if (!status.ok()) return status;
  return Rows(*std::move(memory), count, row_width(), element_type());
}

absl::StatusOr<Rows> Table::Gather(absl::Span<const std::int64_t> positions) const {
  const auto count = static_cast<std::int64_t>(positions.size());
  auto memory = Allocate(count, row_bytes(), "positions");
  if (!memory.ok()) return memory.status();
  absl::Status status =
      Gather(positions, absl::MakeSpan(memory->get(), positions.size() * row_bytes()));
  if (!status.ok()) return status;
  return Rows(*std::move(memory), count, row_width(), element_type());
}

absl::Status Table::Gather(absl::Span<const std::int64_t> positions,
                           absl::Span<std::byte> out) const {
  absl::Status status = spec().CheckPositions(positions);
  if (status.ok()) {
    status = CheckSize(out, static_cast<std::int64_t>(positions.size()), row_bytes());
  }
  if (!status.ok()) return status;
  const internal::TableGather gather{table_.get(), positions, out};
  return internal::GatherFrom(absl::MakeConstSpan(&gather, 1));
}

absl::Status Table::Gather(absl::Span<const TableStep> steps) {
  std::vector<internal::TableGather> gathers;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const TableStep& step = steps[i];
    absl::Status status = step.table->CheckType(step.type, "out");
    if (status.ok()) status = step.table->spec().CheckPositions(step.positions);
    if (status.ok()) {
      status = CheckSize(step.out, static_cast<std::int64_t>(step.positions.size()),
                         step.table->row_bytes());
    }
    if (!status.ok()) return InStep(status, i);
    gathers.push_back({step.table->table_.get(), step.positions, step.out});
    if (&gathers[i].table->session() != &gathers[0].table->session()) {
      return Bad(absl::StrCat("steps[", i, "].table"), "is another client's than that of steps[0]");
    }
  }
  return internal::GatherFrom(gathers);
}

absl::StatusOr<Rows> Table::GatherReal(absl::Span<const double> positions) const {
  return GatherRows(positions, 1);
}

absl::Status Table::GatherReal(absl::Span<const double> positions,
                               absl::Span<std::byte> out) const {
  return GatherRows(positions, 1, out);
}

absl::StatusOr<Rows> Table::GatherAxes(absl::Span<const std::int64_t> positions) const {
  return GatherRows(positions, spec().axes());
}

absl::Status Table::GatherAxes(absl::Span<const std::int64_t> positions,
                               absl::Span<std::byte> out) const {
  return GatherRows(positions, spec().axes(), out);
}

absl::StatusOr<Rows> Table::GatherRealAxes(absl::Span<const double> positions) const {
  return GatherRows(positions, spec().axes());
}

absl::Status Table::GatherRealAxes(absl::Span<const double> positions,
                                   absl::Span<std::byte> out) const {
  return GatherRows(positions, spec().axes(), out);
}

absl::StatusOr<Rows> Table::Shift(const Rows& rows, ShiftBy by) const {
  absl::Status status = CheckType(rows.element_type(), "data");
  if (!status.ok()) return status;
  if (rows.row_width() != row_width()) {
    return Bad("data",
               absl::StrCat("has rows of ", rows.row_width(), " elements, not ", row_width()));
  }
  auto memory = Allocate(rows.row_count(), row_bytes(), "data");
  if (!memory.ok()) return memory.status();
  status = Shift(rows.bytes(), by, {memory->get(), rows.bytes().size()});
  if (!status.ok()) return status;
  return Rows(*std::move(memory), rows.row_count(), row_width(), element_type());
}

absl::Status Table::Shift(absl::Span<const std::byte> rows, ShiftBy by,
                          absl::Span<std::byte> out) const {
  if (rows.size() % static_cast<std::size_t>(row_bytes()) != 0) {
    return Bad("data", absl::StrCat(rows.size(), " bytes are not whole rows of ", row_bytes()));
  }
  absl::Status status =
      CheckSize(out, static_cast<std::int64_t>(rows.size()) / row_bytes(), row_bytes());
  if (!status.ok()) return status;
  internal::Session& session = table_->session();
  return session.connection().Shift(table_->handle(), by, rows, out, session.Limits());
}

absl::StatusOr<std::vector<double>> Table::Frequencies() const {
  internal::Session& session = table_->session();
  return session.connection().Frequencies(table_->handle(), session.Limits());
}

}  // namespace phasor
