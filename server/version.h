#ifndef PHASOR_SERVER_VERSION_H_
#define PHASOR_SERVER_VERSION_H_

/// \file
/// Versions that the server tells.

#include <cstdint>

namespace phasor::server {

/// MAJOR.MINOR.PATCH of the project.
inline constexpr char kVersion[] = PHASOR_VERSION;
/// Counts up when tables that are not EXACT change their bits.
inline constexpr std::int64_t kNumericsVersion = 1;

}  // namespace phasor::server

#endif  // PHASOR_SERVER_VERSION_H_
