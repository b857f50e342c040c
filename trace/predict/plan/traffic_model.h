// How many bytes a rank sends in one step, from settings and shape alone. The few hundred bytes of
// losses and norms are left out. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/events.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

struct TrafficTerm {
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  std::string what;  // "forward gathers", "gradients", …
  // Per rank and optimizer step, the mean over ranks; of a ring of n ranks (nccl-tests): all-reduce
  // 2(n−1)/n of the size, all-gather, reduce-scatter and broadcast (n−1)/n.
  std::int64_t bytes = 0;
  // The part of `bytes` that leaves a machine: in a ring over machines one link of each machine
  // does.
  std::int64_t between_nodes = 0;
  // As the backend runs it: Gloo runs a reduce-scatter as an all-reduce, which sends twice as much.
  std::int64_t executed_bytes = 0;
  std::string formula;  // of `bytes`, with the numbers put in
};

struct TrafficPrediction {
  std::vector<TrafficTerm> terms;  // none with a single rank

  std::int64_t bytes() const;
  std::int64_t between_nodes() const;
  std::int64_t executed_bytes() const;  // what a report of the run will say
};

TrafficPrediction predict_traffic(const PlannedJob& job);

}  // namespace shardlens::trace::predict
