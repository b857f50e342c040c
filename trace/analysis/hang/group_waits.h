// Who waits for whom: of every process group the calls that not all members have entered. Any
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/analysis/hang/group_calls.h"

namespace shardlens::trace::analysis {

struct GroupWait {
  const GroupCalls* group = nullptr;
  const GroupCall* call = nullptr;  // as one of those that wait has entered it
  std::vector<int> waiting, absent;
};

// Whether a member has completed the call. A rank that was stopped leaves calls pending for ever
// that the others have completed since.
bool was_completed(const GroupCalls& group, std::int64_t sequence);

// What somebody waits in: pending calls; after a failure, which ends them, the last that each rank
// had entered. `groups` outlives the result. Entered by all: `absent` is empty.
std::vector<GroupWait> group_waits(const std::vector<GroupCalls>& groups, bool has_failed);

// Those of wait's absent ranks that do not wait for others in another group: the ends of chains of
// waits.
std::vector<int> absent_without_wait(const GroupWait& wait, const std::vector<GroupWait>& waits);

}  // namespace shardlens::trace::analysis
