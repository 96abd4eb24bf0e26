#ifndef PHASOR_CORE_C_WANTED_H_
#define PHASOR_CORE_C_WANTED_H_

/// \file
/// The structs that describe a table, as callers of any version give them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/c/boundary.h"
#include "core/c/phasor.h"
#include "phasor/core/spec.h"

namespace phasor::c {

/// No struct of any version is larger: a size beyond is not one.
inline constexpr std::size_t kMaxStructBytes = 4096;

/// Its sizeof in the first version that had it.
template <typename Struct>
inline constexpr std::size_t kFirstSize = sizeof(Struct);
template <>
inline constexpr std::size_t kFirstSize<phasor_sinusoidal> = offsetof(phasor_sinusoidal,
                                                                      odd_column);

/// `wanted` as this library knows it: what the caller's version does not have
/// is zero, and what only that has has to be zero.
template <typename Struct>
absl::StatusOr<Struct> Take(const Struct* wanted, absl::string_view name = "wanted") {
  absl::Status given = CheckPointer(name, wanted);
  if (!given.ok()) return given;
  const std::size_t size = wanted->size;
  if (size < kFirstSize<Struct> || size > kMaxStructBytes) {
    return Invalid("size", absl::StrCat(size, " is not the struct's sizeof, ", sizeof(Struct)));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(wanted);
  const std::size_t known = std::min(size, sizeof(Struct));
  if (std::any_of(bytes + known, bytes + size, [](auto byte) { return byte != 0; })) {
    return Invalid("size", absl::StrCat(size,
                                        " bytes hold fields that are set and that this "
                                        "version, ",
                                        phasor_version(), ", does not know"));
  }
  Struct taken{};
  std::memcpy(&taken, wanted, known);
  return taken;
}

template <typename T>
std::optional<T> Optional(const T* value) {
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

/// A list of at most one number a pair.
template <typename T>
absl::StatusOr<std::vector<T>> TakeList(absl::string_view path, const T* values,
                                        std::size_t count) {
  absl::Status given = CheckPointer(path, values, count);
  if (!given.ok()) return given;
  // Before they are copied: a wrong count may be any number.
  if (count > static_cast<std::size_t>(kMaxWidth / 2)) {
    return Invalid(
        path, absl::StrCat(count, " of them; the largest width has ", kMaxWidth / 2, " pairs"));
  }
  return std::vector<T>(values, values + count);
}

/// PHASOR_DEFAULT_ELEMENT_TYPE is `standard`; `path` is the field named in the error.
absl::StatusOr<ElementType> TakeElementType(absl::string_view path, std::int32_t type,
                                            ElementType standard);
absl::StatusOr<Numerics> TakeNumerics(std::int32_t numerics);
/// PHASOR_DEFAULT_LAYOUT is `standard`, and `path` as above.
absl::StatusOr<Layout> TakeLayout(absl::string_view path, std::int32_t layout, Layout standard);
/// 0 or 1.
absl::StatusOr<bool> TakeBool(absl::string_view path, std::int32_t value);

/// Checks what `given` describes and gives it in `*spec`. `take_scheme` makes a
/// StatusOr<Scheme> of the struct as this version knows it.
template <typename Struct, typename TakeScheme>
absl::Status Check(const Struct* given, phasor_spec** spec, TakeScheme take_scheme) {
  absl::Status status = CheckPointer("spec", spec);
  if (!status.ok()) return status;
  *spec = nullptr;
  const absl::StatusOr<Struct> wanted = Take(given);
  if (!wanted.ok()) return wanted.status();
  absl::StatusOr<Scheme> scheme = take_scheme(*wanted);
  if (!scheme.ok()) return scheme.status();
  const absl::StatusOr<ElementType> type =
      TakeElementType("spec.element_type", wanted->element_type, DefaultElementType(*scheme));
  if (!type.ok()) return type.status();
  const absl::StatusOr<Numerics> numerics = TakeNumerics(wanted->numerics);
  if (!numerics.ok()) return numerics.status();
  absl::StatusOr<CanonicalSpec> checked =
      CanonicalSpec::Create(TableSpec(*std::move(scheme), *type, *numerics));
  if (!checked.ok()) return checked.status();
  *spec = new phasor_spec(*std::move(checked));
  return absl::OkStatus();
}

}  // namespace phasor::c

#endif  // PHASOR_CORE_C_WANTED_H_
