// The clocks of a run's ranks, from all of its calls. Pure functions, any thread.
#pragma once

#include <span>

#include "trace/analysis/steps/collective_calls.h"
#include "trace/analysis/steps/host_clocks.h"

namespace shardlens::trace {

HostClocks rank_clocks(std::span<const RankHost> ranks, const CollectiveCalls& calls);

}  // namespace shardlens::trace
