#ifndef PHASOR_CLIENT_CLI_ROTARY_FLAGS_H_
#define PHASOR_CLIENT_CLI_ROTARY_FLAGS_H_

#include "client/cli/arguments.h"
#include "client/cli/flag_reader.h"
#include "phasor/core/rotary.h"

namespace phasor::cli {

/// The scheme `rotary` of SpecFromFlags (spec_flags.h).
Rotary RotaryFromFlags(FlagReader& flags, const Arguments& arguments);

}  // namespace phasor::cli

#endif  // PHASOR_CLIENT_CLI_ROTARY_FLAGS_H_
