// What the ranks of one process group have entered lately, by sequence number, and who waits for
// whom: the evidence that a hang is diagnosed from. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/hang/hang_diagnosis.h"
#include "trace/model/strings.h"

namespace shardlens::trace::analysis {

struct GroupCall : CollectiveCallFigures {
  bool pending = false;

  bool matches(const GroupCall& other) const {
    const bool may_be_equal =
        bytes == other.bytes || !model::has_bytes(*this) || !model::has_bytes(other);
    return function == other.function && may_be_equal && tag == other.tag;
  }
};

struct GroupCalls {
  int group = 0;
  std::string name;
  // By member rank, then sequence. Calls without a sequence number cannot be compared: left out.
  std::map<int, std::map<std::int64_t, GroupCall>> by_rank;
  int untold = 0;  // members besides those, of which nobody told

  const GroupCall* find(int rank, std::int64_t sequence) const;
};

// One per process group that any rank used or announced.
std::vector<GroupCalls> calls_by_group(const RunFigures& figures,
                                       const model::StringTable& strings);

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
