// A rank's place among the others, as torchrun, srun wrappers and our launcher hand it over in the
// environment. Plain values; the environment is read by main alone.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "trace/base/result.h"
#include "trainer/comm/meeting_place.h"

namespace shardlens::trainer::rank {

using VariableLookup = std::function<const char*(const char* name)>;

struct RankPlace : comm::MeetingPlace {
  int local_rank = 0;
  int local_world_size = 1;
  std::optional<pid_t> launcher_process;  // ours; none under another launcher
  int outcome_descriptor = -1;            // where our launcher reads a RankOutcome; -1: nowhere
  // The process's environment as it is now, for what libraries read of it.
  VariableLookup lookup;
};

// Error kUsage: a variable is missing, not a number, or contradicts another.
trace::base::Result<RankPlace> parse_rank_place(const VariableLookup& lookup);

}  // namespace shardlens::trainer::rank
