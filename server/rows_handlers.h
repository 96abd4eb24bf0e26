#ifndef PHASOR_SERVER_ROWS_HANDLERS_H_
#define PHASOR_SERVER_ROWS_HANDLERS_H_

/// \file
/// The unary methods that give rows: GetRows and GatherRows.

#include <memory>

#include "server/call.h"

namespace phasor::server {

std::unique_ptr<UnaryHandler> NewGetRowsHandler(Backend* backend);
std::unique_ptr<UnaryHandler> NewGatherRowsHandler(Backend* backend);

/// Checks that the row at `start` fits one message, head included.
///
/// **Errors**: RESOURCE_EXHAUSTED (spec).
absl::Status CheckRowSize(const CanonicalSpec& spec, std::int64_t start,
                          std::int64_t max_message_bytes);

/// Checks that `count` rows at `start` fit one message of at most
/// `max_message_bytes`, head included.
///
/// **Errors**: those of CheckRowSize if there are rows; RESOURCE_EXHAUSTED
/// (`field`), naming limit, size and `way_out`.
absl::Status CheckMessageSize(const CanonicalSpec& spec, std::int64_t start, std::int64_t count,
                              std::int64_t max_message_bytes, absl::string_view field,
                              absl::string_view way_out);

}  // namespace phasor::server

#endif  // PHASOR_SERVER_ROWS_HANDLERS_H_
