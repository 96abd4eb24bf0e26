#include "server/failure.h"

#include <exception>
#include <new>

namespace phasor::server {

absl::Status CurrentExceptionStatus() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return absl::UnavailableError("out of memory; try again later");
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  } catch (...) {
    return absl::InternalError("unknown exception");
  }
}

}  // namespace phasor::server
