#ifndef PHASOR_PROTO_ROTARY_CODEC_H_
#define PHASOR_PROTO_ROTARY_CODEC_H_

#include "absl/status/statusor.h"
#include "phasor/core/rotary.h"
#include "phasor/v1/table_spec.pb.h"

namespace phasor {

/// The scheme `rotary` of SpecFromProto (spec_codec.h).
absl::StatusOr<Rotary> RotaryFromProto(const v1::Rotary& proto);

/// Writes into `proto`, which is empty; with the defaults filled in if `fill`.
/// An attention factor that follows from the scaling is not filled in: it need
/// not be a binary64.
void RotaryToProto(const Rotary& rotary, bool fill, v1::Rotary* proto);

}  // namespace phasor

#endif  // PHASOR_PROTO_ROTARY_CODEC_H_
