// The clocks of a run's ranks, from all of its calls. Pure functions, any thread.
#pragma once

#include <span>

#include "trace/analysis/steps/collective_calls.h"
#include "trace/analysis/steps/host_clocks.h"

namespace shardlens::trace::timeline {

analysis::HostClocks rank_clocks(std::span<const analysis::RankHost> ranks,
                                 const analysis::CollectiveCalls& calls);

}  // namespace shardlens::trace::timeline
