#ifndef PHASOR_TESTS_CLIENT_FAULTY_SERVER_H_
#define PHASOR_TESTS_CLIENT_FAULTY_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/server.h"
#include "phasor/core/local_table.h"
#include "phasor/v1/position_table_service.grpc.pb.h"

namespace phasor {

/// A server that can be told to go wrong. Its rows are right until then. Set
/// the hooks while no call is on the way.
class FaultyServer final : public v1::PositionTableService::Service {
 public:
  struct Call {
    std::string method;
    std::string fingerprint;     // expected_fingerprint
    std::string table_metadata;  // x-phasor-table
    std::int64_t start = 0;
    std::int64_t rows = 0;
    std::int64_t request_bytes = 0;
  };

  /// Serves on a UNIX socket of its own.
  explicit FaultyServer(std::int64_t max_message_bytes = 4 << 20);
  ~FaultyServer() override;

  const std::string& address() const { return address_; }
  /// Ends all calls and the connection at once.
  void Stop();
  /// Serves again, at the same address.
  void Start();

  /// Asked before every call is answered.
  std::function<grpc::Status(grpc::ServerContext*)> before;
  std::function<grpc::Status(const Call&)> before_call;
  /// Changes rows before they are sent.
  std::function<void(v1::Rows*)> tamper;
  std::function<void(v1::GetTableResponse*)> tamper_table;
  std::function<void(v1::GetFrequenciesResponse*)> tamper_frequencies;
  /// Streams: rows in a message; message number and what comes before it.
  std::int64_t rows_per_message = 100;
  std::function<grpc::Status(int)> before_message;
  std::function<grpc::Status(grpc::ServerContext*)> before_stream;
  /// Messages sent after the last one.
  int messages_too_many = 0;
  /// How a stream ends whose rows are all sent.
  std::function<grpc::Status()> after_stream;
  /// What it says that it holds, two tables a page.
  std::vector<v1::TableInfo> tables;

  std::vector<Call> calls() const;
  std::vector<Call> calls(const std::string& method) const;

 private:
  grpc::Status GetTable(grpc::ServerContext* context, const v1::GetTableRequest* request,
                        v1::GetTableResponse* response) override;
  grpc::Status GetFrequencies(grpc::ServerContext* context,
                              const v1::GetFrequenciesRequest* request,
                              v1::GetFrequenciesResponse* response) override;
  grpc::Status GetRows(grpc::ServerContext* context, const v1::GetRowsRequest* request,
                       v1::GetRowsResponse* response) override;
  grpc::Status ReadRows(grpc::ServerContext* context, const v1::ReadRowsRequest* request,
                        grpc::ServerWriter<v1::ReadRowsResponse>* writer) override;
  grpc::Status GatherRows(grpc::ServerContext* context, const v1::GatherRowsRequest* request,
                          v1::GatherRowsResponse* response) override;
  grpc::Status ShiftRows(grpc::ServerContext* context, const v1::ShiftRowsRequest* request,
                         v1::ShiftRowsResponse* response) override;
  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override;
  grpc::Status ListTables(grpc::ServerContext* context, const v1::ListTablesRequest* request,
                          v1::ListTablesResponse* response) override;

  template <typename Request>
  grpc::Status Begin(grpc::ServerContext* context, const char* method, const Request& request,
                     std::int64_t start, std::int64_t rows);
  void SetHead(const CanonicalSpec& spec, std::int64_t rows, v1::Rows* out);
  void Finish(v1::Rows* rows) const;

  const std::int64_t max_message_bytes_;
  std::string directory_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  mutable absl::Mutex mutex_;
  std::vector<Call> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace phasor

#endif  // PHASOR_TESTS_CLIENT_FAULTY_SERVER_H_
