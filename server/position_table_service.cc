#include "server/position_table_service.h"

#include "server/model_handler.h"
#include "server/rows_handlers.h"
#include "server/shift_handler.h"
#include "server/stream_call.h"
#include "server/table_handlers.h"

namespace phasor::server {

using Service = PositionTableService;

Service::Unary* Service::GetTable(Context* context, const Bytes* request, Bytes* response) {
  return Start(&NewGetTableHandler, context, request, response);
}

Service::Unary* Service::GetFrequencies(Context* context, const Bytes* request, Bytes* response) {
  return Start(&NewGetFrequenciesHandler, context, request, response);
}

Service::Unary* Service::GetRows(Context* context, const Bytes* request, Bytes* response) {
  return Start(&NewGetRowsHandler, context, request, response);
}

grpc::ServerWriteReactor<Service::Bytes>* Service::ReadRows(Context* context,
                                                            const Bytes* request) {
  return StartReadRowsCall(backend_, context, request);
}

Service::Unary* Service::GatherRows(Context* context, const Bytes* request, Bytes* response) {
  return Start(&NewGatherRowsHandler, context, request, response);
}

Service::Unary* Service::ShiftRows(Context* context, const Bytes* request, Bytes* response) {
  return Start(&NewShiftRowsHandler, context, request, response);
}

Service::Unary* Service::ListTables(Context* context, const Bytes* request, Bytes* response) {
  return Start(&NewListTablesHandler, context, request, response);
}

Service::Unary* Service::DescribeModel(Context* context, const Bytes* request, Bytes* response) {
  return Start(&NewDescribeModelHandler, context, request, response);
}

Service::Unary* Service::GetServerInfo(Context* context, const Bytes* request, Bytes* response) {
  return Start(&NewGetServerInfoHandler, context, request, response);
}

}  // namespace phasor::server
