#ifndef PHASOR_SERVER_TABLE_HANDLERS_H_
#define PHASOR_SERVER_TABLE_HANDLERS_H_

/// \file
/// The methods that tell about tables and the server: GetTable,
/// GetFrequencies, ListTables and GetServerInfo.

#include <memory>

#include "server/call.h"

namespace phasor::server {

std::unique_ptr<UnaryHandler> NewGetTableHandler(Backend* backend);
std::unique_ptr<UnaryHandler> NewGetFrequenciesHandler(Backend* backend);
std::unique_ptr<UnaryHandler> NewListTablesHandler(Backend* backend);
std::unique_ptr<UnaryHandler> NewGetServerInfoHandler(Backend* backend);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_TABLE_HANDLERS_H_
