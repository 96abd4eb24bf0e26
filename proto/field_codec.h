#ifndef PHASOR_PROTO_FIELD_CODEC_H_
#define PHASOR_PROTO_FIELD_CODEC_H_

/// \file
/// What the codecs of several schemes read and write alike.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "phasor/core/sinusoidal.h"
#include "phasor/v1/table_spec.pb.h"

namespace phasor {

/// INVALID_ARGUMENT about a field that is absent and has no default.
absl::Status Required(absl::string_view field);

v1::Layout LayoutToProto(Layout layout);

/// **Errors**: INVALID_ARGUMENT (`field`) for a value not known here.
absl::StatusOr<Layout> LayoutFromProto(v1::Layout layout, Layout unspecified,
                                       absl::string_view field);

/// The values of a repeated field.
template <typename Repeated>
auto VectorOf(const Repeated& values) {
  return std::vector<typename Repeated::value_type>(values.begin(), values.end());
}

}  // namespace phasor

#endif  // PHASOR_PROTO_FIELD_CODEC_H_
