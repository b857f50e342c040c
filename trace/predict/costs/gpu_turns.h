// What collectives take between ranks that share one GPU: it gives each of them a slice of time in
// turn, so that one moves on by about as much in every round and ends with one. Any thread.
#pragma once

#include <optional>

#include "trace/predict/costs/collective_costs.h"

namespace shardlens::trace::predict {

class GpuTurns {
 public:
  // From what a run's transfers took. None: there are fewer than three sizes whose times hardly
  // vary, their times are no multiples of one time, or none of them takes several.
  static std::optional<GpuTurns> find(const MeasuredCollectives& measured);

  // In nanoseconds, of `bytes` (S of nccl-tests). Where the run's sizes leave open how many rounds
  // it takes, the middle, with what it may be less or more. None: a rank sends less than a
  // megabyte, which may get by with a part of one.
  std::optional<TransferCosts::Cost> of(CollectiveKind kind, double bytes) const;

 private:
  double round_ns_ = 0;
  // What a rank sends in one round is at least the first, and less than the second.
  double least_bytes_ = 0, most_bytes_ = 0;
};

}  // namespace shardlens::trace::predict
