#include "phasor/core/local_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/fp_environment.h"
#include "core/seeded_table.h"
#include "core/sinusoidal_table.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

std::shared_ptr<const LocalTable> MakeSinusoidal(CanonicalSpec spec) {
  switch (spec.element_type()) {
    case ElementType::kFloat32:
      return std::make_shared<SinusoidalTable<ElementType::kFloat32>>(std::move(spec));
    case ElementType::kFloat64:
      return std::make_shared<SinusoidalTable<ElementType::kFloat64>>(std::move(spec));
    case ElementType::kFloat16:
      return std::make_shared<SinusoidalTable<ElementType::kFloat16>>(std::move(spec));
    case ElementType::kBfloat16:
      return std::make_shared<SinusoidalTable<ElementType::kBfloat16>>(std::move(spec));
  }
  return nullptr;
}

using Maker = std::shared_ptr<const LocalTable> (*)(CanonicalSpec);

struct MakerOf {
  Maker operator()(const Sinusoidal&) const { return MakeSinusoidal; }
  Maker operator()(const LearnedInit&) const {
    return [](CanonicalSpec spec) -> std::shared_ptr<const LocalTable> {
      return std::make_shared<SeededTable>(std::move(spec));
    };
  }
};

absl::Status CheckSize(const CanonicalSpec& spec, std::int64_t rows, std::size_t bytes) {
  const auto row_bytes = static_cast<std::uint64_t>(spec.row_bytes());
  // By division: the product may be beyond any integer here.
  if (bytes % row_bytes == 0 && bytes / row_bytes == static_cast<std::uint64_t>(rows)) {
    return absl::OkStatus();
  }
  return FieldError(absl::StatusCode::kInvalidArgument, "out",
                    absl::StrCat(bytes, " bytes given; ", rows, " rows of ", row_bytes,
                                 " bytes each are written"));
}

}  // namespace

std::shared_ptr<const LocalTable> LocalTable::Create(CanonicalSpec spec) {
  const FpEnvironment environment;
  const auto make = std::visit(MakerOf{}, spec.spec().scheme);
  return make(std::move(spec));
}

absl::Status LocalTable::ReadInto(std::int64_t start, std::int64_t count,
                                  absl::Span<std::byte> out) const {
  const FpEnvironment environment;
  if (absl::Status status = spec_.CheckRange(start, count); !status.ok()) return status;
  if (absl::Status status = CheckSize(spec_, count, out.size()); !status.ok()) return status;
  if (count > 0) DoRead(start, count, out.data());
  return absl::OkStatus();
}

absl::Status LocalTable::GatherInto(absl::Span<const std::int64_t> positions,
                                    absl::Span<std::byte> out) const {
  const FpEnvironment environment;
  if (absl::Status status = spec_.CheckPositions(positions); !status.ok()) return status;
  if (absl::Status status =
          CheckSize(spec_, static_cast<std::int64_t>(positions.size()), out.size());
      !status.ok()) {
    return status;
  }
  if (!positions.empty()) DoGather(positions, out.data());
  return absl::OkStatus();
}

absl::Status LocalTable::GatherInto(absl::Span<const double> positions,
                                    absl::Span<std::byte> out) const {
  const FpEnvironment environment;
  if (absl::Status status = spec_.CheckPositions(positions); !status.ok()) return status;
  if (absl::Status status =
          CheckSize(spec_, static_cast<std::int64_t>(positions.size()), out.size());
      !status.ok()) {
    return status;
  }
  if (!positions.empty()) DoGather(positions, out.data());
  return absl::OkStatus();
}

}  // namespace phasor
