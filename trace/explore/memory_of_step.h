// The allocations of one step of one rank, laid out. Any thread.
#pragma once

#include <cstdint>
#include <functional>

#include "trace/base/result.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/step_memory.h"

namespace shardlens::trace::explore {

// Decodes that step's chunks. A rank or step without a record is no error: then `allocations` is
// null, and `recorded` says where there is one. Of steps that end after `until_ns` nothing is told.
// `wanted` is asked in between; false gives up with kFailed.
base::Result<timeline::StepMemory> memory_of_step(const RunSnapshot& run,
                                                  const timeline::StepMemoryRequest& request,
                                                  const std::function<bool()>& wanted,
                                                  std::int64_t until_ns);

}  // namespace shardlens::trace::explore
