#include "phasor/core/local_table.h"

#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/alibi_table.h"
#include "core/bucket_table.h"
#include "core/fp_environment.h"
#include "core/odd_width_table.h"
#include "core/seeded_table.h"
#include "core/sinusoidal_table.h"
#include "core/stop_check.h"
#include "core/zero_table.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

// A Table of the spec's element type.
template <template <ElementType> typename Table, typename... Arguments>
std::shared_ptr<const LocalTable> MakeOfType(CanonicalSpec spec, Arguments&... arguments) {
  switch (spec.element_type()) {
    case ElementType::kFloat32:
      return std::make_shared<Table<ElementType::kFloat32>>(std::move(spec), arguments...);
    case ElementType::kFloat64:
      return std::make_shared<Table<ElementType::kFloat64>>(std::move(spec), arguments...);
    case ElementType::kFloat16:
      return std::make_shared<Table<ElementType::kFloat16>>(std::move(spec), arguments...);
    case ElementType::kBfloat16:
      return std::make_shared<Table<ElementType::kBfloat16>>(std::move(spec), arguments...);
    case ElementType::kInt32: break;
  }
  return nullptr;
}

std::shared_ptr<const LocalTable> MakePairs(CanonicalSpec spec, StopCheck& stop) {
  return MakeOfType<SinusoidalTable>(std::move(spec), stop);
}

// The table of a scheme of odd width.
template <typename OddScheme>
std::shared_ptr<const LocalTable> MakeOdd(CanonicalSpec spec, StopCheck& stop) {
  const TableSpec even(EvenWidth(std::get<OddScheme>(spec.spec().scheme)), spec.element_type());
  return std::make_shared<OddWidthTable>(std::move(spec),
                                         MakePairs(*CanonicalSpec::Create(even), stop));
}

using Maker = std::shared_ptr<const LocalTable> (*)(CanonicalSpec, StopCheck&);

struct MakerOf {
  Maker operator()(const Sinusoidal& s) const {
    return s.odd_column == OddColumn::kNone ? MakePairs : MakeOdd<Sinusoidal>;
  }
  Maker operator()(const Rotary&) const { return MakePairs; }
  Maker operator()(const Timestep& t) const {
    return t.width % 2 == 0 ? MakePairs : MakeOdd<Timestep>;
  }
  Maker operator()(const Alibi&) const {
    return [](CanonicalSpec spec, StopCheck&) { return MakeOfType<AlibiTable>(std::move(spec)); };
  }
  Maker operator()(const RelativeBuckets&) const {
    return [](CanonicalSpec spec, StopCheck& stop) -> std::shared_ptr<const LocalTable> {
      return std::make_shared<BucketTable>(std::move(spec), stop);
    };
  }
  Maker operator()(const NoPosition& n) const {
    if (!n.additive) return MakePairs;
    return [](CanonicalSpec spec, StopCheck&) -> std::shared_ptr<const LocalTable> {
      return std::make_shared<ZeroTable>(std::move(spec));
    };
  }
  Maker operator()(const LearnedInit&) const {
    return [](CanonicalSpec spec, StopCheck&) -> std::shared_ptr<const LocalTable> {
      return std::make_shared<SeededTable>(std::move(spec));
    };
  }
  Maker operator()(const LearnedTable&) const { return nullptr; }
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
  return *Open(std::move(spec), NeverStop);
}

absl::StatusOr<std::shared_ptr<const LocalTable>> LocalTable::Open(CanonicalSpec spec,
                                                                   StopRequest stop) {
  const FpEnvironment environment;
  StopCheck check(stop);
  const auto make = std::visit(MakerOf{}, spec.spec().scheme);
  if (make == nullptr) {
    return FieldError(absl::StatusCode::kNotFound, "spec.learned_table.name",
                      "its rows are in a checkpoint, and cannot be computed: ask the server that "
                      "loaded it");
  }
  std::shared_ptr<const LocalTable> table = make(std::move(spec), check);
  if (check.stopped()) return check.status();
  return table;
}

absl::Status LocalTable::ReadInto(std::int64_t start, std::int64_t count, absl::Span<std::byte> out,
                                  StopRequest stop) const {
  const FpEnvironment environment;
  if (absl::Status status = spec_.CheckRange(start, count); !status.ok()) return status;
  if (absl::Status status = CheckSize(spec_, count, out.size()); !status.ok()) return status;
  StopCheck check(stop);
  if (count > 0) DoRead(start, count, out.data(), check);
  return check.status();
}

template <typename T>
absl::Status LocalTable::Gather(absl::Span<const T> positions, std::int64_t axes,
                                absl::Span<std::byte> out, StopRequest stop) const {
  const FpEnvironment environment;
  const auto count = static_cast<std::int64_t>(positions.size());
  if (absl::Status status =
          spec_.CheckAxes(axes, count, std::is_integral_v<T> ? "positions" : "real_positions");
      !status.ok()) {
    return status;
  }
  if (absl::Status status = spec_.CheckPositions(positions); !status.ok()) return status;
  if (absl::Status status = CheckSize(spec_, count / axes, out.size()); !status.ok()) return status;
  StopCheck check(stop);
  if (positions.empty()) return absl::OkStatus();
  DoGather(positions, axes, out.data(), check);
  return check.status();
}

absl::Status LocalTable::GatherInto(absl::Span<const std::int64_t> positions,
                                    absl::Span<std::byte> out, StopRequest stop) const {
  return Gather(positions, 1, out, stop);
}

absl::Status LocalTable::GatherInto(absl::Span<const double> positions, absl::Span<std::byte> out,
                                    StopRequest stop) const {
  return Gather(positions, 1, out, stop);
}

absl::Status LocalTable::GatherAxesInto(absl::Span<const std::int64_t> positions,
                                        absl::Span<std::byte> out, StopRequest stop) const {
  return Gather(positions, spec_.axes(), out, stop);
}

absl::Status LocalTable::GatherAxesInto(absl::Span<const double> positions,
                                        absl::Span<std::byte> out, StopRequest stop) const {
  return Gather(positions, spec_.axes(), out, stop);
}

}  // namespace phasor
