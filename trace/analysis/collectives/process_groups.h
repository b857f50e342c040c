// The process groups that ranks have announced: who waits for whom. One owner.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/model/strings.h"

namespace shardlens::trace::analysis {

class ProcessGroups {
 public:
  bool add(const model::ProcessGroup& group,
           const model::StringTable& strings);  // false: contradictory
  // The ranks of the group that `rank` calls `id`, ascending, as far as `rank` knows them (see
  // model::ProcessGroup); all of the world where the group was not announced; none of one that is
  // not known (id −1).
  const std::vector<int>& members(int id, int rank, int world_size);
  // Each once, although every rank announces it, with all members that any rank told of.
  std::vector<ProcessGroupFigures> figures() const;

 private:
  std::map<std::pair<int, int>, ProcessGroupFigures> by_rank_and_id_;
  std::vector<int> world_;
  const std::vector<int> nobody_;
};

}  // namespace shardlens::trace::analysis
