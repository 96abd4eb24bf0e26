#ifndef PHASOR_BENCH_ITEMS_H_
#define PHASOR_BENCH_ITEMS_H_

/// \file
/// What can be measured. Each item prints its lines and takes less than two
/// minutes.

#include <string>

namespace phasor::bench {

// core, on one thread.
void Kernel();        ///< float32 beside memset and NumPy's recipe
void ElementTypes();  ///< beside memset of the same bytes
void Layouts();       ///< beside interleaved float32
void SmallReads();    ///< learned_init; a cold block; opening a table
void Hostile();       ///< blocks of tables chosen to be hard to round

// phasord beside bare servers.
void CallsTcp();           ///< hot GetRows
void CallsUnix();          ///< the same over a UNIX socket
void ColdCalls();          ///< GetRows of blocks never asked for before
void Streams();            ///< ReadRows, and ReadInto by the client library
void StreamMemory();       ///< resident memory beside 256 streams
void NewTables();          ///< 10 000 tables beside hot calls
void Idle();               ///< a minute of nothing
void DeadlockDetection();  ///< what Abseil's costs a bare server

// The process of its own that opens them, as many as each line of its input says:
// phasor_bench open_tables ADDRESS.
inline constexpr char kOpenTables[] = "open_tables";
int OpenTables(const std::string& address);

// The client library.
void Decoding();  ///< steps from memory, waits, calls, cold gathers
void Rotary();    ///< ApplyRotary

// Others that hand out rows.
void Peers();  ///< Redis, a mapped file, NumPy

}  // namespace phasor::bench

#endif  // PHASOR_BENCH_ITEMS_H_
