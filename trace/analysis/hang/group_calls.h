// What the ranks of one process group have entered lately, by sequence number: the evidence that a
// hang is diagnosed from. Any thread.
#pragma once

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

}  // namespace shardlens::trace::analysis
