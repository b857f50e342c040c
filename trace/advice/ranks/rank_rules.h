// What the times of ranks and their phases tell. Each rule speaks or is silent; any thread.
#pragma once

#include <optional>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

// The others wait for one rank, beyond chance; and in which phase it takes longer than they do.
std::optional<Advice> straggler(const RunFacts& run);
// Most ranks wait for their batch.
std::optional<Advice> late_data(const RunFacts& run);

}  // namespace shardlens::trace::advice
