#include "phasor/modules.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/src/sequence_length.h"
#include "phasor/core/errors.h"

namespace phasor {

absl::StatusOr<SinusoidalPE> SinusoidalPE::Create(Table table) {
  const TableSpec& spec = table.spec().spec();
  if (!std::holds_alternative<Sinusoidal>(spec.scheme)) {
    return FieldError(absl::StatusCode::kInvalidArgument, "spec", "is not a sinusoidal table");
  }
  if (spec.element_type != ElementType::kFloat32) {
    return FieldError(absl::StatusCode::kInvalidArgument, "spec.element_type",
                      absl::StrCat(ElementTypeName(spec.element_type),
                                   " cannot be added to float arrays; open the table as FLOAT32"));
  }
  return SinusoidalPE(std::move(table));
}

absl::Status SinusoidalPE::Forward(absl::Span<float> x, std::int64_t offset) const {
  return Forward(x, absl::MakeConstSpan(&offset, 1));
}

absl::Status SinusoidalPE::Forward(absl::Span<float> x,
                                   absl::Span<const std::int64_t> offsets) const {
  const absl::StatusOr<std::int64_t> checked =
      internal::SequenceLength(table_.spec(), "x", x.size(), offsets);
  if (!checked.ok()) return checked.status();
  const std::int64_t length = *checked;
  if (length == 0) return absl::OkStatus();
  const std::size_t sequence = x.size() / offsets.size();
  // All rows before the first addition: x stays as it is if one cannot be had.
  std::vector<float> rows(x.size());
  if (length == 1) {  // a step of a batch
    absl::Status status = table_.Gather(offsets, absl::MakeSpan(rows));
    if (!status.ok()) return status;
  }
  for (std::size_t b = 0; length > 1 && b < offsets.size(); ++b) {
    absl::Status status =
        table_.ReadInto(offsets[b], length, absl::MakeSpan(rows).subspan(b * sequence, sequence));
    if (!status.ok()) return status;
  }
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += rows[i];
  return absl::OkStatus();
}

}  // namespace phasor
