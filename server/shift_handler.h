#ifndef PHASOR_SERVER_SHIFT_HANDLER_H_
#define PHASOR_SERVER_SHIFT_HANDLER_H_

/// \file
/// ShiftRows.

#include <memory>

#include "server/call.h"

namespace phasor::server {

std::unique_ptr<UnaryHandler> NewShiftRowsHandler(Backend* backend);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_SHIFT_HANDLER_H_
