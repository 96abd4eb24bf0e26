#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/c/boundary.h"

namespace phasor::c {
namespace {

std::int32_t NumberOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return PHASOR_FLOAT32;
    case ElementType::kFloat64: return PHASOR_FLOAT64;
    case ElementType::kFloat16: return PHASOR_FLOAT16;
    case ElementType::kBfloat16: return PHASOR_BFLOAT16;
    case ElementType::kInt32: return PHASOR_INT32;
  }
  return PHASOR_DEFAULT_ELEMENT_TYPE;
}

// Whether two ranges of `bytes` share some, but are not the same.
bool OverlapInPart(const void* a, const void* b, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return first != second && (first < second ? second - first : first - second) < bytes;
}

absl::Status Shift(const phasor_spec* spec, ShiftBy steps, const void* rows, void* out,
                   std::size_t bytes) {
  absl::Status status = CheckPointer("spec", spec);
  if (status.ok()) status = CheckPointer("rows", rows, bytes);
  if (status.ok()) status = CheckPointer("out", out, bytes);
  if (!status.ok()) return status;
  if (OverlapInPart(rows, out, bytes)) {
    return Invalid("out", "overlaps rows in part; give the same memory, or other memory");
  }
  return ShiftRows(spec->spec, steps, {static_cast<const std::byte*>(rows), bytes},
                   {static_cast<std::byte*>(out), bytes});
}

// What `read` gives of the spec, or `none` where there is no spec.
template <typename T, typename Read>
T Of(const phasor_spec* spec, T none, Read read) {
  return spec == nullptr ? none : static_cast<T>(read(*spec));
}

template <typename Check>
phasor_code CheckSpec(const phasor_spec* spec, phasor_error* error, Check check) {
  return Guard(error, [&] {
    absl::Status given = CheckPointer("spec", spec);
    return given.ok() ? check(spec->spec) : given;
  });
}

template <typename Position>
phasor_code CheckGiven(const phasor_spec* spec, absl::string_view field, const Position* positions,
                       std::size_t count, phasor_error* error) {
  return CheckSpec(spec, error, [&](const CanonicalSpec& checked) {
    absl::Status given = CheckPointer(field, positions, count);
    return given.ok() ? checked.CheckPositions(absl::MakeConstSpan(positions, count)) : given;
  });
}

}  // namespace
}  // namespace phasor::c

using phasor::CanonicalSpec;
using phasor::c::CheckGiven;
using phasor::c::CheckPointer;
using phasor::c::Guard;
using phasor::c::Of;

extern "C" {

void phasor_spec_free(phasor_spec* spec) { delete spec; }

const char* phasor_spec_text(const phasor_spec* spec) {
  return Of(spec, "", [](const phasor_spec& s) { return s.spec.text().c_str(); });
}

const char* phasor_spec_fingerprint(const phasor_spec* spec) {
  return Of(spec, "", [](const phasor_spec& s) { return s.fingerprint.c_str(); });
}

int32_t phasor_spec_element_type(const phasor_spec* spec) {
  return Of(spec, 0,
            [](const phasor_spec& s) { return phasor::c::NumberOf(s.spec.element_type()); });
}

int64_t phasor_spec_row_width(const phasor_spec* spec) {
  return Of(spec, std::int64_t{0}, [](const phasor_spec& s) { return s.spec.row_width(); });
}

int64_t phasor_spec_axes(const phasor_spec* spec) {
  return Of(spec, std::int64_t{0}, [](const phasor_spec& s) { return s.spec.axes(); });
}

double phasor_spec_attention_factor(const phasor_spec* spec) {
  return Of(spec, 0.0, [](const phasor_spec& s) { return s.spec.attention_factor().value_or(0); });
}

int64_t phasor_spec_row_bytes(const phasor_spec* spec) {
  return Of(spec, std::int64_t{0}, [](const phasor_spec& s) { return s.spec.row_bytes(); });
}

int64_t phasor_spec_first_position(const phasor_spec* spec) {
  return Of(spec, std::int64_t{0}, [](const phasor_spec& s) { return s.spec.first_position(); });
}

int64_t phasor_spec_last_position(const phasor_spec* spec) {
  return Of(spec, std::int64_t{0}, [](const phasor_spec& s) { return s.spec.last_position(); });
}

int32_t phasor_spec_bounded(const phasor_spec* spec) {
  return Of(spec, 0, [](const phasor_spec& s) { return s.spec.bounded(); });
}

phasor_code phasor_check_range(const phasor_spec* spec, int64_t start, int64_t count,
                               phasor_error* error) {
  return phasor::c::CheckSpec(
      spec, error, [&](const CanonicalSpec& checked) { return checked.CheckRange(start, count); });
}

phasor_code phasor_check_positions(const phasor_spec* spec, const int64_t* positions, size_t count,
                                   phasor_error* error) {
  return CheckGiven(spec, "positions", positions, count, error);
}

phasor_code phasor_check_real_positions(const phasor_spec* spec, const double* positions,
                                        size_t count, phasor_error* error) {
  return CheckGiven(spec, "real_positions", positions, count, error);
}

size_t phasor_frequency_count(const phasor_spec* spec) {
  return Of(spec, std::size_t{0}, [](const phasor_spec& s) { return s.spec.pairs(); });
}

phasor_code phasor_frequencies(const phasor_spec* spec, double* out, size_t count,
                               phasor_error* error) {
  return phasor::c::CheckSpec(spec, error, [&](const CanonicalSpec& checked) -> absl::Status {
    const absl::StatusOr<std::vector<double>> frequencies = phasor::Frequencies(checked);
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
