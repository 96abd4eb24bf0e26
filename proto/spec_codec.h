#ifndef PHASOR_PROTO_SPEC_CODEC_H_
#define PHASOR_PROTO_SPEC_CODEC_H_

/// \file
/// Specs between the wire and core. Server and client share these, so that
/// both read and write them alike.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "phasor/core/element_type.h"
#include "phasor/core/spec.h"
#include "phasor/v1/table_spec.pb.h"

namespace phasor {

/// Reads a spec. An absent field takes its default, a zero that was written
/// stays a zero. Ranges are left to CanonicalSpec::Create; fields not
/// known here to the server's CheckFields, once for the whole request.
///
/// **Errors**: INVALID_ARGUMENT for no scheme (spec), a required field that is
/// absent, and an enumeration value that is not known here. Paths start with
/// "spec". A LearnedTable may be unresolved.
absl::StatusOr<TableSpec> SpecFromProto(const v1::TableSpec& proto);

/// Asks for the rows that a server holds under the name of `table` now.
v1::TableSpec NameToProto(const LearnedTable& table, ElementType type);

/// Writes a spec with every field that stands at its default left out. The
/// same fields as in CanonicalSpec::text().
v1::TableSpec CanonicalToProto(const CanonicalSpec& spec);

/// Writes a spec with every default filled in, for people.
v1::TableSpec EffectiveToProto(const CanonicalSpec& spec);

v1::ElementType ElementTypeToProto(ElementType type);

/// Unspecified is FLOAT32.
/// **Errors**: INVALID_ARGUMENT (`field`) for a value not known here.
absl::StatusOr<ElementType> ElementTypeFromProto(v1::ElementType type, absl::string_view field);

}  // namespace phasor

#endif  // PHASOR_PROTO_SPEC_CODEC_H_
