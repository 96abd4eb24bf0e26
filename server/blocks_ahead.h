#ifndef PHASOR_SERVER_BLOCKS_AHEAD_H_
#define PHASOR_SERVER_BLOCKS_AHEAD_H_

/// \file
/// Blocks made while what stands before them is being sent.

#include <cstdint>

#include "server/call.h"

namespace phasor::server {

/// Has the pool make blocks `first` ... `last` of `table` into the cache, the
/// last ones first: who reads them meets it halfway. Does nothing if the first
/// one is held, as then the others are as a rule, or if calls are waiting for
/// the pool. Nothing is held for the caller: what the cache cannot keep is
/// made again when it is asked for.
void MakeBlocksAhead(Backend* backend, const TablePtr& table, std::int64_t first,
                     std::int64_t last);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_BLOCKS_AHEAD_H_
