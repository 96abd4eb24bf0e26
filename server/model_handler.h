#ifndef PHASOR_SERVER_MODEL_HANDLER_H_
#define PHASOR_SERVER_MODEL_HANDLER_H_

#include <memory>

#include "server/call.h"

namespace phasor::server {

/// DescribeModel.
std::unique_ptr<UnaryHandler> NewDescribeModelHandler(Backend* backend);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_MODEL_HANDLER_H_
