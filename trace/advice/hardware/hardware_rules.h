// What the link between ranks and the clocks of GPUs tell. Each rule speaks or is silent; any
// thread.
#pragma once

#include <optional>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

// Large collectives stay below half of the link's peak.
std::optional<Advice> slow_link(const RunFacts& run);
// The same, and the algorithm or protocol was chosen by the settings, or is not made for large
// ones.
std::optional<Advice> nccl_choice(const RunFacts& run);
// Heat held clocks down.
std::optional<Advice> heat(const RunFacts& run);
// The power limit did.
std::optional<Advice> power(const RunFacts& run);

}  // namespace shardlens::trace::advice
