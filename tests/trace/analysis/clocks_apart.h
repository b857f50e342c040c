// Two hosts whose clocks are known to be no further apart than that, of ranks 0 and 1. For tests.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/analysis/steps/host_clocks.h"

namespace shardlens::trace::analysis {

inline HostClocks clocks_apart(std::int64_t error_ns) {
  ClockMeetings meetings;
  meetings.add(model::CollectiveFunction::kBarrier, {0, 0, error_ns}, {1, 0, error_ns});
  return meetings.clocks(std::vector<RankHost>{{0, "a"}, {1, "b"}});
}

// Two of which nothing tells.
inline HostClocks unknown_clocks() {
  return ClockMeetings{}.clocks(std::vector<RankHost>{{0, "a"}, {1, "b"}});
}

}  // namespace shardlens::trace::analysis
