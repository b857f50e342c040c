// Where the GPU or the ranks wait for the host. Each rule speaks or is silent; any thread.
#pragma once

#include <optional>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

// The GPU has nothing to do as the next kernel was not launched yet.
std::optional<Advice> host_bound(const RunFacts& run);
// The same, and most kernels are over before the host could launch another.
std::optional<Advice> tiny_kernels(const RunFacts& run);
// Sharing the loss with the other ranks, for which the host waits, is exposed.
std::optional<Advice> loss_reading(const RunFacts& run);

}  // namespace shardlens::trace::advice
