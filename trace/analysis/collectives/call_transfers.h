// What the collectives of a run took to transfer, as costs: fed with what a reader polls, in any
// order. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/model/batch.h"
#include "trace/predict/costs/collective_costs.h"

namespace shardlens::trace::analysis {

class CallTransfers {
 public:
  // Of a run of `ranks` ranks; collectives of steps before `first_step`, or of none, do not count.
  CallTransfers(int ranks, std::int64_t first_step) : ranks_(ranks), first_step_(first_step) {}

  void add(const model::Batch& batch);

  // Of each call whose ranks all told of it: from the last one's start to the last one's end.
  // Calls between hosts are left out, since nothing here tells how far their clocks are apart; so
  // are barriers, sends and receives, and calls of unknown size.
  predict::MeasuredCollectives measured() const;

 private:
  const int ranks_;
  const std::int64_t first_step_;
  std::vector<model::ProcessGroup> groups_;
  std::map<int, std::string> hosts_;  // by rank
  std::vector<model::Collective> calls_;
};

}  // namespace shardlens::trace::analysis
