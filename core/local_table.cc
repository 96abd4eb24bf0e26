#include "phasor/core/local_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/fp_environment.h"
#include "core/rounding.h"
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

absl::Status CheckRealPosition(const CanonicalSpec& spec, double position, std::size_t k) {
  if (!IsFinite(position)) {
    return FieldError(absl::StatusCode::kInvalidArgument, absl::StrCat("real_positions[", k, "]"),
                      absl::StrCat(position, " is not finite; give a number"));
  }
  // The bounds are at most 2^53 and so exact here.
  if (position < static_cast<double>(spec.first_position()) ||
      position > static_cast<double>(spec.last_position())) {
    return FieldError(
        absl::StatusCode::kOutOfRange, absl::StrCat("real_positions[", k, "]"),
        absl::StrCat("there is no row at ", absl::StrFormat("%.17g", position), "; rows are at ",
                     spec.first_position(), " ... ", spec.last_position()));
  }
  return absl::OkStatus();
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
  for (std::size_t k = 0; k < positions.size(); ++k) {
    if (positions[k] >= spec_.first_position() && positions[k] <= spec_.last_position()) continue;
    return spec_.CheckPosition(positions[k], absl::StrCat("positions[", k, "]"));
  }
  if (absl::Status status =
          CheckSize(spec_, static_cast<std::int64_t>(positions.size()), out.size());
      !status.ok()) {
    return status;
  }
  DoGather(positions, out.data());
  return absl::OkStatus();
}

absl::Status LocalTable::GatherInto(absl::Span<const double> positions,
                                    absl::Span<std::byte> out) const {
  const FpEnvironment environment;
  if (spec_.bounded()) {
    return FieldError(absl::StatusCode::kInvalidArgument, "real_positions",
                      "a learned table has rows at integers alone; use positions");
  }
  for (std::size_t k = 0; k < positions.size(); ++k) {
    if (absl::Status status = CheckRealPosition(spec_, positions[k], k); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status =
          CheckSize(spec_, static_cast<std::int64_t>(positions.size()), out.size());
      !status.ok()) {
    return status;
  }
  DoGather(positions, out.data());
  return absl::OkStatus();
}

}  // namespace phasor
