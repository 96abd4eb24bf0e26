#include <cstddef>
#include <memory>

#include "core/c/boundary.h"

namespace phasor::c {
namespace {

// One row for each of the positions, or for each phasor_spec_axes of them.
template <typename Position>
absl::Status Gather(const phasor_table* table, absl::string_view field, const Position* positions,
                    std::size_t count, bool axes, void* out, std::size_t out_bytes) {
  absl::Status status = CheckPointer("table", table);
  if (status.ok()) status = CheckPointer(field, positions, count);
  if (status.ok()) status = CheckPointer("out", out, out_bytes);
  if (!status.ok()) return status;
  const absl::Span<const Position> given(positions, count);
  const absl::Span<std::byte> to(static_cast<std::byte*>(out), out_bytes);
  return axes ? table->table->GatherAxesInto(given, to) : table->table->GatherInto(given, to);
}

}  // namespace
}  // namespace phasor::c

using phasor::c::CheckPointer;
using phasor::c::Guard;

extern "C" {

phasor_code phasor_open(const phasor_spec* spec, phasor_table** table, phasor_error* error) {
  return Guard(error, [&] {
    absl::Status status = CheckPointer("table", table);
    if (!status.ok()) return status;
    *table = nullptr;
    status = CheckPointer("spec", spec);
    if (!status.ok()) return status;
    auto opened = phasor::LocalTable::Open(spec->spec, phasor::NeverStop);
    if (!opened.ok()) return opened.status();
    *table = new phasor_table(*std::move(opened));
    return absl::OkStatus();
  });
}

void phasor_close(phasor_table* table) { delete table; }

const phasor_spec* phasor_table_spec(const phasor_table* table) {
  return table == nullptr ? nullptr : &table->spec;
}

int64_t phasor_table_bytes(const phasor_table* table) {
  return table == nullptr ? 0 : table->table->memory_bytes();
}

phasor_code phasor_read(const phasor_table* table, int64_t start, int64_t count, void* out,
                        size_t out_bytes, phasor_error* error) {
  return Guard(error, [&] {
    absl::Status status = CheckPointer("table", table);
    if (status.ok()) status = CheckPointer("out", out, out_bytes);
    if (!status.ok()) return status;
    return table->table->ReadInto(start, count, {static_cast<std::byte*>(out), out_bytes});
  });
}

phasor_code phasor_gather(const phasor_table* table, const int64_t* positions, size_t count,
                          void* out, size_t out_bytes, phasor_error* error) {
  return Guard(error, [&] {
    return phasor::c::Gather(table, "positions", positions, count, /*axes=*/false, out, out_bytes);
  });
}

phasor_code phasor_gather_real(const phasor_table* table, const double* positions, size_t count,
                               void* out, size_t out_bytes, phasor_error* error) {
  return Guard(error, [&] {
    return phasor::c::Gather(table, "real_positions", positions, count, /*axes=*/false, out,
                             out_bytes);
  });
}

phasor_code phasor_gather_axes(const phasor_table* table, const int64_t* positions, size_t count,
                               void* out, size_t out_bytes, phasor_error* error) {
  return Guard(error, [&] {
    return phasor::c::Gather(table, "positions", positions, count, /*axes=*/true, out, out_bytes);
  });
}

phasor_code phasor_gather_axes_real(const phasor_table* table, const double* positions,
                                    size_t count, void* out, size_t out_bytes,
                                    phasor_error* error) {
  return Guard(error, [&] {
    return phasor::c::Gather(table, "real_positions", positions, count, /*axes=*/true, out,
                             out_bytes);
  });
}

}  // extern "C"
