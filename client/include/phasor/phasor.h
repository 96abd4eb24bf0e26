#ifndef PHASOR_PHASOR_H_
#define PHASOR_PHASOR_H_

/// \file
/// The whole client library but for phasor/grpc.h, which alone needs gRPC's
/// headers.
///
///     auto client = phasor::Client::Connect("dns:///positions:50051");
///     auto table = client->Open(phasor::Sinusoidal{.width = 512});
///     auto rows = table->Read(/*start=*/0, /*count=*/1024);
///     auto cursor = table->Decode(/*offset=*/prompt_length);
///     absl::StatusOr<absl::Span<const float>> row = cursor.Next<float>();

#include "phasor/client.h"
#include "phasor/core/element_type.h"
#include "phasor/core/errors.h"
#include "phasor/core/local_table.h"
#include "phasor/core/spec.h"
#include "phasor/cursor.h"
#include "phasor/elements.h"
#include "phasor/learned_pe.h"
#include "phasor/modules.h"
#include "phasor/rotary.h"
#include "phasor/rows.h"
#include "phasor/table.h"

#endif  // PHASOR_PHASOR_H_
