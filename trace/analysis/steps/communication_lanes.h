// Which lanes a rank's collectives are drawn in. Any thread.
#pragma once

#include <vector>

#include "trace/analysis/steps/step_timeline.h"

namespace shardlens::trace {

// One per process group that `rank` used in the step, by number.
std::vector<CommunicationLane> communication_lanes(const RankTimeline& rank,
                                                   const std::vector<ProcessGroupFigures>& groups);

}  // namespace shardlens::trace
