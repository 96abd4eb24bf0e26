#include "phasor/learned_pe.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "checkpoint/safetensors_writer.h"
#include "client/src/sequence_length.h"
#include "phasor/core/errors.h"
#include "phasor/elements.h"

namespace phasor {
namespace {

// Adds the elements of `from` to the first of `to`.
void Add(absl::Span<const float> from, absl::Span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

absl::StatusOr<LearnedPE> LearnedPE::Create(const Table& table) {
  const CanonicalSpec& spec = table.spec();
  if (!spec.bounded()) {
    return FieldError(absl::StatusCode::kInvalidArgument, "spec",
                      "is a formula over all positions; open a LearnedInit or a LearnedTable");
  }
  if (spec.element_type() != ElementType::kFloat32) {
    return FieldError(absl::StatusCode::kInvalidArgument, "spec.element_type",
                      absl::StrCat(ElementTypeName(spec.element_type()),
                                   " cannot be trained here; open the table as FLOAT32"));
  }
  // Read tells whether memory has as many.
  const absl::StatusOr<Rows> rows = table.Read(0, spec.last_position() + 1);
  if (!rows.ok()) return rows.status();
  const absl::Span<const float> values = *rows->values<float>();
  return LearnedPE(spec, std::vector<float>(values.begin(), values.end()));
}

absl::StatusOr<absl::Span<const float>> LearnedPE::Positions(std::int64_t T,
                                                             std::int64_t offset) const {
  if (absl::Status status = spec_.CheckRange(offset, T); !status.ok()) return status;
  return weight().subspan(static_cast<std::size_t>(offset * d()),
                          static_cast<std::size_t>(T * d()));
}

absl::Status LearnedPE::Forward(absl::Span<float> x, std::int64_t offset) const {
  return Forward(x, absl::MakeConstSpan(&offset, 1));
}

absl::Status LearnedPE::Forward(absl::Span<float> x, absl::Span<const std::int64_t> offsets) const {
  const absl::StatusOr<std::int64_t> length =
      internal::SequenceLength(spec_, "x", x.size(), offsets);
  if (!length.ok()) return length.status();
  const auto sequence = static_cast<std::size_t>(*length * d());
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    Add(weight().subspan(static_cast<std::size_t>(offsets[b] * d()), sequence),
        x.subspan(b * sequence));
  }
  return absl::OkStatus();
}

absl::Status LearnedPE::Backward(absl::Span<const float> grad_output, std::int64_t offset) {
  return Backward(grad_output, absl::MakeConstSpan(&offset, 1));
}

absl::Status LearnedPE::Backward(absl::Span<const float> grad_output,
                                 absl::Span<const std::int64_t> offsets) {
  const absl::StatusOr<std::int64_t> length =
      internal::SequenceLength(spec_, "grad_output", grad_output.size(), offsets);
  if (!length.ok()) return length.status();
  const auto sequence = static_cast<std::size_t>(*length * d());
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    Add(grad_output.subspan(b * sequence, sequence),
        gradient().subspan(static_cast<std::size_t>(offsets[b] * d())));
  }
  return absl::OkStatus();
}

void LearnedPE::ZeroGrad() { std::fill(gradient_.begin(), gradient_.end(), 0.0F); }

absl::Status LearnedPE::Save(const std::string& path, absl::string_view name) const {
  const checkpoint::NewTensor tensor = {
      std::string(name), ElementType::kFloat32, {max_len(), d()}, AsBytes(weight())};
  return checkpoint::WriteSafetensors(path, absl::MakeConstSpan(&tensor, 1));
}

}  // namespace phasor
