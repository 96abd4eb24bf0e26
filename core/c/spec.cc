#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/c/boundary.h"
#include "core/c/wanted.h"

namespace phasor::c {
namespace {

absl::StatusOr<Ladder> TakeLadder(const phasor_sinusoidal& wanted) {
  // On the wire these are fields of their ladders, and cannot be set beside another.
  if (wanted.downscale_shift != nullptr && wanted.ladder != PHASOR_LADDER_DOWNSCALED) {
    return Invalid("spec.sinusoidal.downscaled.downscale_shift",
                   "is set beside another ladder; set ladder to PHASOR_LADDER_DOWNSCALED");
  }
  if ((wanted.frequencies != nullptr || wanted.frequency_count != 0) &&
      wanted.ladder != PHASOR_LADDER_EXPLICIT) {
    return Invalid("spec.sinusoidal.explicit.frequencies",
                   "are set beside another ladder; set ladder to PHASOR_LADDER_EXPLICIT");
  }
  switch (wanted.ladder) {
    case PHASOR_LADDER_PAPER: return PaperLadder{};
    case PHASOR_LADDER_INCLUSIVE: return InclusiveLadder{};
    case PHASOR_LADDER_DOWNSCALED: return DownscaledLadder{Optional(wanted.downscale_shift)};
    case PHASOR_LADDER_EXPLICIT: {
      absl::StatusOr<std::vector<double>> frequencies = TakeList(
          "spec.sinusoidal.explicit.frequencies", wanted.frequencies, wanted.frequency_count);
      if (!frequencies.ok()) return frequencies.status();
      return ExplicitLadder{*std::move(frequencies)};
    }
    default: break;
  }
  return Invalid("spec.sinusoidal.ladder", absl::StrCat(wanted.ladder, " is no known ladder"));
}

absl::StatusOr<Scheme> TakeSinusoidal(const phasor_sinusoidal& wanted) {
  absl::StatusOr<Ladder> ladder = TakeLadder(wanted);
  if (!ladder.ok()) return ladder.status();
  const absl::StatusOr<Layout> layout =
      TakeLayout("spec.sinusoidal.layout", wanted.layout, Layout::kSinCosInterleaved);
  if (!layout.ok()) return layout.status();
  return Sinusoidal{.width = wanted.width,
                    .base = Optional(wanted.base),
                    .ladder = *std::move(ladder),
                    .layout = *layout,
                    .position_offset = wanted.position_offset,
                    .zero_row = Optional(wanted.zero_row)};
}

absl::StatusOr<Scheme> TakeLearnedInit(const phasor_learned_init& wanted) {
  return LearnedInit{.max_positions = wanted.max_positions,
                     .width = wanted.width,
                     .stddev = Optional(wanted.stddev).value_or(kDefaultStddev),
                     .seed = wanted.seed,
                     .stream = wanted.stream};
}

absl::StatusOr<Scheme> TakeLearnedTable(const phasor_learned_table& wanted) {
  absl::Status given = CheckPointer("spec.learned_table.name", wanted.name);
  if (given.ok()) given = CheckPointer("spec.learned_table.content_sha256", wanted.content_sha256);
  if (!given.ok()) return given;
  return LearnedTable{.name = wanted.name,
                      .content_sha256 = wanted.content_sha256,
                      .max_positions = wanted.max_positions,
                      .width = wanted.width};
}

std::int32_t NumberOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return PHASOR_FLOAT32;
    case ElementType::kFloat64: return PHASOR_FLOAT64;
    case ElementType::kFloat16: return PHASOR_FLOAT16;
    case ElementType::kBfloat16: return PHASOR_BFLOAT16;
    case ElementType::kInt32: break;
  }
  return PHASOR_DEFAULT_ELEMENT_TYPE;
}

absl::Status Shift(const phasor_spec* spec, ShiftBy steps, const void* rows, void* out,
                   std::size_t bytes) {
  absl::Status status = CheckPointer("rows", rows, bytes);
  if (status.ok()) status = CheckPointer("out", out, bytes);
  if (!status.ok()) return status;
  return ShiftRows(spec->spec, steps, {static_cast<const std::byte*>(rows), bytes},
                   {static_cast<std::byte*>(out), bytes});
}

}  // namespace
}  // namespace phasor::c

using phasor::c::CheckPointer;
using phasor::c::Guard;

extern "C" {

phasor_code phasor_spec_sinusoidal(const phasor_sinusoidal* wanted, phasor_spec** spec,
                                   phasor_error* error) {
  return Guard(error, [&] { return phasor::c::Check(wanted, spec, phasor::c::TakeSinusoidal); });
}

phasor_code phasor_spec_learned_init(const phasor_learned_init* wanted, phasor_spec** spec,
                                     phasor_error* error) {
  return Guard(error, [&] { return phasor::c::Check(wanted, spec, phasor::c::TakeLearnedInit); });
}

phasor_code phasor_spec_learned_table(const phasor_learned_table* wanted, phasor_spec** spec,
                                      phasor_error* error) {
  return Guard(error, [&] { return phasor::c::Check(wanted, spec, phasor::c::TakeLearnedTable); });
}

void phasor_spec_free(phasor_spec* spec) { delete spec; }

const char* phasor_spec_text(const phasor_spec* spec) { return spec->spec.text().c_str(); }

const char* phasor_spec_fingerprint(const phasor_spec* spec) { return spec->fingerprint.c_str(); }

int32_t phasor_spec_element_type(const phasor_spec* spec) {
  return phasor::c::NumberOf(spec->spec.element_type());
}

int64_t phasor_spec_row_width(const phasor_spec* spec) { return spec->spec.row_width(); }

int64_t phasor_spec_row_bytes(const phasor_spec* spec) { return spec->spec.row_bytes(); }

int64_t phasor_spec_first_position(const phasor_spec* spec) { return spec->spec.first_position(); }

int64_t phasor_spec_last_position(const phasor_spec* spec) { return spec->spec.last_position(); }

int32_t phasor_spec_bounded(const phasor_spec* spec) { return spec->spec.bounded() ? 1 : 0; }

phasor_code phasor_check_range(const phasor_spec* spec, int64_t start, int64_t count,
                               phasor_error* error) {
  return Guard(error, [&] { return spec->spec.CheckRange(start, count); });
}

phasor_code phasor_check_positions(const phasor_spec* spec, const int64_t* positions, size_t count,
                                   phasor_error* error) {
  return Guard(error, [&] {
    const absl::Status given = CheckPointer("positions", positions, count);
    return given.ok() ? spec->spec.CheckPositions(absl::MakeConstSpan(positions, count)) : given;
  });
}

phasor_code phasor_check_real_positions(const phasor_spec* spec, const double* positions,
                                        size_t count, phasor_error* error) {
  return Guard(error, [&] {
    const absl::Status given = CheckPointer("real_positions", positions, count);
    return given.ok() ? spec->spec.CheckPositions(absl::MakeConstSpan(positions, count)) : given;
  });
}

size_t phasor_frequency_count(const phasor_spec* spec) {
  return static_cast<size_t>(spec->spec.pairs());
}

phasor_code phasor_frequencies(const phasor_spec* spec, double* out, size_t count,
                               phasor_error* error) {
  return Guard(error, [&]() -> absl::Status {
    const absl::StatusOr<std::vector<double>> frequencies = phasor::Frequencies(spec->spec);
    if (!frequencies.ok()) return frequencies.status();
    if (count != frequencies->size()) {
      return phasor::c::Invalid("out", absl::StrCat("has room for ", count, " of the table's ",
                                                    frequencies->size(), " frequencies"));
    }
    absl::Status given = CheckPointer("out", out, count);
    if (given.ok()) std::copy(frequencies->begin(), frequencies->end(), out);
    return given;
  });
}

phasor_code phasor_shift(const phasor_spec* spec, int64_t steps, const void* rows, void* out,
                         size_t bytes, phasor_error* error) {
  return Guard(error, [&] { return phasor::c::Shift(spec, steps, rows, out, bytes); });
}

phasor_code phasor_shift_real(const phasor_spec* spec, double steps, const void* rows, void* out,
                              size_t bytes, phasor_error* error) {
  return Guard(error, [&] { return phasor::c::Shift(spec, steps, rows, out, bytes); });
}

const char* phasor_version(void) { return PHASOR_VERSION; }

}  // extern "C"
