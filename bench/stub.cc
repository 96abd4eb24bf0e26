#include "bench/items.h"
namespace phasor::bench { void Kernel(){} void ElementTypes(){} void Layouts(){} void SmallReads(){} void StreamMemory(){} void NewTables(){} void Idle(){} void Peers(){} }
