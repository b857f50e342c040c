// What shardlens-rank does, apart from the process's own affairs in main.cpp. The main thread.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "trainer/rank/rank_place.h"

namespace shardlens::trainer::rank {

// Returns the exit code; after a failed training it leaves the process itself with that code, since
// threads may still wait for other ranks inside c10d. Prints to standard output and error.
int rank_main(const std::vector<std::string>& arguments, const VariableLookup& lookup,
              const std::atomic<int>& stop_signal);

}  // namespace shardlens::trainer::rank
