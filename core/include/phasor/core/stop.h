#ifndef PHASOR_CORE_STOP_H_
#define PHASOR_CORE_STOP_H_

/// \file
/// How a caller ends a long call of core early.

#include "absl/functional/function_ref.h"

namespace phasor {

/// Asked by a call every 50 us or so of its work, on the thread that works,
/// never for every element. Once it says true the call returns CANCELLED as
/// soon as it can, a few tens of microseconds later. It must not call core.
using StopRequest = absl::FunctionRef<bool()>;

/// The StopRequest of callers that want the result, however long it takes.
inline bool NeverStop() { return false; }

}  // namespace phasor

#endif  // PHASOR_CORE_STOP_H_
