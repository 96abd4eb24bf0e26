#ifndef PHASOR_SERVER_POSITION_TABLE_SERVICE_H_
#define PHASOR_SERVER_POSITION_TABLE_SERVICE_H_

/// \file
/// The gRPC service. Each method is one line that names its handler.

#include "phasor/v1/position_table_service.grpc.pb.h"
#include "server/call.h"

namespace phasor::server {

/// All methods take and give bytes: rows leave without being copied, and a
/// request that cannot be decoded gets INVALID_ARGUMENT, where gRPC by itself
/// answers UNIMPLEMENTED.
using RawService = v1::PositionTableService::WithRawCallbackMethod_GetTable<
    v1::PositionTableService::WithRawCallbackMethod_GetFrequencies<
        v1::PositionTableService::WithRawCallbackMethod_GetRows<
            v1::PositionTableService::WithRawCallbackMethod_ReadRows<
                v1::PositionTableService::WithRawCallbackMethod_GatherRows<
                    v1::PositionTableService::WithRawCallbackMethod_ShiftRows<
                        v1::PositionTableService::WithRawCallbackMethod_ListTables<
                            v1::PositionTableService::WithRawCallbackMethod_DescribeModel<
                                v1::PositionTableService::WithRawCallbackMethod_GetServerInfo<
                                    v1::PositionTableService::Service>>>>>>>>>;

/// **Thread safety**: thread-safe. The backend has to outlive the gRPC server.
class PositionTableService final : public RawService {
 public:
  explicit PositionTableService(Backend* backend) : backend_(backend) {}

  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  using Unary = grpc::ServerUnaryReactor;

  Unary* GetTable(Context* context, const Bytes* request, Bytes* response) override;
  Unary* GetFrequencies(Context* context, const Bytes* request, Bytes* response) override;
  Unary* GetRows(Context* context, const Bytes* request, Bytes* response) override;
  grpc::ServerWriteReactor<Bytes>* ReadRows(Context* context, const Bytes* request) override;
  Unary* GatherRows(Context* context, const Bytes* request, Bytes* response) override;
  Unary* ShiftRows(Context* context, const Bytes* request, Bytes* response) override;
  Unary* ListTables(Context* context, const Bytes* request, Bytes* response) override;
  Unary* DescribeModel(Context* context, const Bytes* request, Bytes* response) override;
  Unary* GetServerInfo(Context* context, const Bytes* request, Bytes* response) override;

 private:
  // Starts a call with the handler that `make` makes.
  Unary* Start(std::unique_ptr<UnaryHandler> (*make)(Backend*), Context* context,
               const Bytes* request, Bytes* response) {
    return StartUnaryCall(backend_, make(backend_), context, request, response);
  }

  Backend* const backend_;
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_POSITION_TABLE_SERVICE_H_
